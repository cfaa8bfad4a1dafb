"""Jobs for a GPU machine: planned from a site, run here, through Dask or in a bundle, their results brought home.

`bundle`, `local`, `worker`, `cluster`, `work`, `notebook` and `guard` run on the GPU machine and import nothing of
pydantic or Markdown; `plan` and `session` run where the site is.

Codes of this room: SG401 not an archive of results, or a forged one
SG402 an artefact that is not what its name says · SG403 a figure beyond what the GPU can do
SG404 a formula of kernel.yaml that the GPU's counters contradict
"""
