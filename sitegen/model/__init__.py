"""Frozen dataclasses for everything that sitegen knows: sites, kernels, jobs, records.

The modules import the standard library and `Span`, and nothing else.
"""
