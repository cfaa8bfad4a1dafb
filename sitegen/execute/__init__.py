"""Jobs for a GPU machine: planned from a site, sent through Dask or in a bundle, their results brought home.

`bundle`, `cluster`, `notebook` and `guard` run on the GPU machine and import nothing of pydantic, YAML or Markdown.
"""
