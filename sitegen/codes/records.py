"""SG301 to SG404: stored records, and results that come back from a GPU machine."""

from __future__ import annotations

from sitegen.codes.entry import Code, Group

_RECORD = "kernels/softmax/results/nvidia-h200.json"

GROUP = Group(
    "Records",
    "The room `results` reports these when it loads the JSON that a GPU machine wrote. A record that is wrong is never "
    "shown.",
    (
        Code(
            "SG301",
            "A record is not JSON, or not UTF-8",
            "The file cannot be read as JSON, often because of a merge that left marks in it. Restore the file from "
            "git, or run the kernel again with `sitegen run`.",
            '{"schema": 1,\n<<<<<<< HEAD\n',
            '{"schema": 1, …}',
            _RECORD,
        ),
        Code(
            "SG302",
            "A record has a wrong shape",
            "A field is missing, unknown, or has the wrong type. Records are written by sitegen and are not meant to "
            "be edited by hand: what a page shows is only as good as its record. Restore the file, or run the kernel "
            "again.",
            '"status": "pased"',
            '"status": "passed"',
            _RECORD,
        ),
        Code(
            "SG303",
            "A record has a schema that this version does not read",
            "The record was written by another version of sitegen. Older schemas are upgraded when they are read, a "
            "newer one cannot be. Install the version that wrote it, or newer.",
            '{"schema": 99, …}',
            '{"schema": 1, …}',
            _RECORD,
        ),
        Code(
            "SG304",
            "A record stands in the file of another kernel, GPU or cell",
            "The path of a record says which kernel, GPU or cell it belongs to, and its content says something else. "
            "Somebody copied or renamed the file. Move it to where it belongs.",
            'kernels/softmax/results/nvidia-h200.json with "gpu": "nvidia-h100-80gb-hbm3"',
            'kernels/softmax/results/nvidia-h200.json with "gpu": "nvidia-h200"',
        ),
        Code(
            "SG305",
            "A measurement names a run that its record does not have",
            "Each evaluation points to the run that made it, and the run holds the machine, the versions and the "
            "ceilings. Without it a number has no source. Restore the file, or run the kernel again.",
            '"run": "2026-11-23-a", and no such id under "runs"',
            '"run": "2026-11-23-a", and a run with this id under "runs"',
            _RECORD,
        ),
        Code(
            "SG306",
            "A record has a time for code that was not checked",
            "Speed is stored only for code that passed its correctness check in the same run, and this evaluation has "
            "times without a passed check. sitegen never writes such a record, so the file was edited. Run the kernel "
            "again.",
            '"status": "incorrect", "performance": {"median_us": 98.2, …}',
            '"status": "incorrect"',
            _RECORD,
        ),
    ),
)

RUNS = Group(
    "Running",
    "The room `execute` reports these when results come back from a GPU machine, before they are stored.",
    (
        Code(
            "SG401",
            "The file is not a result of `sitegen run --bundle`",
            "`sitegen accept` takes the archive that `sitegen run --bundle` wrote, and only as it was written: each "
            "entry has the size and the hash that the manifest says. This file is damaged, is another kind of file, or "
            "comes from a machine without a GPU. Copy the file again, or run the bundle again.",
            "sitegen accept bundle.zip",
            "sitegen accept result.zip",
        ),
        Code(
            "SG402",
            "An artefact is not what its name says",
            "PTX, SASS and samples are stored under the hash of their content, and this one has another hash, another "
            "kind or too many bytes. Storing it would break the link between a number and its evidence. Copy the "
            "result again, or run the bundle again.",
            "an artefact whose content was changed after it was named",
            "the artefact as the GPU machine wrote it",
        ),
        Code(
            "SG403",
            "A result is faster than the GPU can be",
            "The figure is above the highest ceiling that the probes of the same run measured. The cause is an error "
            "of ours: a wrong `reads`, `writes` or `flops` in `kernel.yaml`, or data that came from a cache. Nothing "
            "is stored. Correct the formula and run again.",
            "reads: 3 * M * N * itemsize\n",
            "reads: M * N * itemsize\n",
            "kernels/softmax/kernel.yaml",
        ),
        Code(
            "SG404",
            "The GPU's counters contradict the bytes of `kernel.yaml`",
            "At large workloads the implementation that moves the fewest bytes must move what `reads + writes` says, "
            "within -2 % and +5 %; for matrix products only the lower bound counts. Bandwidth and of-ceiling are "
            "computed from these formulas. Correct them, or add an implementation that comes near the least.",
            "reads: 2 * M * N * itemsize\n",
            "reads: M * N * itemsize\n",
            "kernels/softmax/kernel.yaml",
        ),
    ),
)
