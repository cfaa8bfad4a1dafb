"""Kernels and records → what pages show of them: tables, charts, ladders, and what made each number."""
