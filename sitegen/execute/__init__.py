"""A site and its records → jobs for a GPU machine, and their results → records.

Jobs run on this machine, through Dask, or in a bundle.  `bundle`, `local`, `worker`, `cluster`, `work`, `notebook`,
`guard`, `cores` and `needs` run on the GPU machine and import neither pydantic nor Markdown; `plan`, `schedule`,
`job_lengths` and `session` run where the site is.

Codes of this room: SG401 not an archive of results, or a forged one
SG402 an artefact that is not what its name says · SG403 a figure beyond what the GPU can do
SG404 a formula of kernel.yaml that the GPU's counters contradict
"""
