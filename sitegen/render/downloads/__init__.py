"""Turn kernels and posts into files that a reader downloads and runs without sitegen."""
