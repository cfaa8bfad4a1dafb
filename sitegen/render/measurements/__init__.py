"""Turn kernels and records into what pages show of them: tables, charts, ladders, and the provenance of each number."""
