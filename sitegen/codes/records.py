"""SG301 to SG409: mistakes in stored records and in results of a GPU machine."""

from __future__ import annotations

from sitegen.codes.entry import Code, CodeGroup

_RECORD = "kernels/softmax/results/nvidia-h200.json"

GROUP = CodeGroup(
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
            "A measurement names a run or a GPU that its record does not have",
            "Each evaluation points to the run that made it, and the run holds the machine, the versions and the "
            "ceilings. In a run on several GPUs each evaluation also names its GPU, because each GPU has its own "
            "ceilings. Without them a number has no source. Restore the file, or run the kernel again.",
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
        Code(
            "SG307",
            "A record has a value that no measurement gives",
            "A time of zero, a negative or endless number, a ceiling without a kind, a name of a GPU that is no "
            "name, or a text with a control character stands in the record. "
            "sitegen never writes such a value, so the file was edited or damaged. Restore the file, or run the "
            "kernel again.",
            '"performance": {"median_us": -1, …}',
            '"performance": {"median_us": 98.2, …}',
            _RECORD,
        ),
        Code(
            "SG308",
            "A record is contradicted by its own samples or by the kernel",
            "sitegen judges a stored record again. Its medians must be those of its samples, its errors must be within "
            "the tolerance of `kernel.yaml`, and its times must be possible on the GPU. This record fails, so somebody "
            "edited it or exchanged its samples. Restore the file, or run the kernel again.",
            '"median_us": 9.8, and samples with a median of 98 µs',
            '"median_us": 98.2, and samples with this median',
            _RECORD,
        ),
        Code(
            "SG309",
            "The record does not support a claim",
            "A `{claim}` binds a sentence to records. A record that today's code made says something else, or its 95 % "
            "interval crosses the bound. The build fails so that no page states what was not measured. Rewrite the "
            "sentence and its claim. `sitegen status --claims` lists all claims with their margins.",
            "`{claim} softmax/fused >= 2x torch`, where the record has less",
            "`{claim} softmax/fused >= 1.4x torch`",
        ),
        Code(
            "SG310",
            "A sentence names one GPU beside a figure of another",
            "Without a GPU, `{value}` and `{claim}` take the first GPU of `gpus` in site.yaml that has the figure. The "
            "sentence names another GPU, and readers would take the figure for one of that GPU. Add `on` and the GPU "
            "to the figure, or name both GPUs in the sentence. A figure with `on` is one of the wrong GPU where its "
            "sentence begins with `On an H100` and does not compare. A build does not look for such sentences.",
            "On an H100, it takes {value}`softmax/fused time`, where the first GPU of site.yaml is nvidia-h200",
            "On an H100, it takes {value}`softmax/fused time on nvidia-h100-80gb-hbm3`",
            warning=True,
        ),
    ),
)

RUNS = CodeGroup(
    "Running",
    "The room `execute` reports these when results come back from a GPU machine, before they are stored. `check` and "
    "`build` find SG403, SG404 and SG409 in stored records too.",
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
            "PTX, SASS, samples and the logs of failures are stored under the hash of their content, and this one has "
            "another hash, another kind or too many bytes. Storing it would break the link between a number and its "
            "evidence. Copy the result again, or run the bundle again.",
            "an artefact whose content was changed after it was named",
            "the artefact as the GPU machine wrote it",
        ),
        Code(
            "SG403",
            "A result is faster than the GPU can be",
            "The figure is above the ceiling that the probes of the same run measured on the same GPU, for the same "
            "mix of reads and writes or for the same arithmetic. The cause is an error of ours: a wrong `reads`, "
            "`writes` or `flops` in `kernel.yaml`, or data that came from a cache. Nothing is stored. Correct the "
            "formula and run again.",
            "reads: 3 * M * N * itemsize\n",
            "reads: M * N * itemsize\n",
            "kernels/softmax/kernel.yaml",
        ),
        Code(
            "SG404",
            "The GPU's counters contradict the bytes of `kernel.yaml`",
            "At large workloads the implementation that moves the fewest bytes must move what `reads + writes` says, "
            "within -2 % and +5 %; for matrix products and gathers only the lower bound counts. Bandwidth and "
            "of-ceiling are computed from these formulas. Correct them, or add an implementation that comes near the "
            "least.",
            "reads: 2 * M * N * itemsize\n",
            "reads: M * N * itemsize\n",
            "kernels/softmax/kernel.yaml",
        ),
        Code(
            "SG405",
            "A result does not belong to a bundle that is known here",
            "`sitegen accept` takes the results of a bundle that this machine wrote, or of the bundle that you "
            "give it. "
            "Without the bundle nobody can tell which code was measured. Give the bundle from which the result "
            "was made: "
            "`sitegen accept RESULT --bundle BUNDLE`.",
            "sitegen accept result.zip, where another machine wrote the bundle",
            "sitegen accept result.zip --bundle bundle.zip",
        ),
        Code(
            "SG406",
            "A result is not the answer to the jobs of its bundle",
            "A job, an implementation, a cell or an artefact in the result was not asked for, was not checked as the "
            "job asked, or carries a value that no measurement gives. Nothing is stored. Run the bundle again.",
            "a result with a cell that the post does not have",
            "a result with the cells of its bundle",
        ),
        Code(
            "SG407",
            "A result is older than the records that it would replace",
            "Each of its measurements is older than the stored one. An older run never replaces a newer one, so "
            "nothing "
            "is stored. Run the bundle again if you want newer records.",
            "a result of 21 November, and records of 23 November",
            "a result of 24 November, and records of 23 November",
        ),
        Code(
            "SG408",
            "A record cannot be stored where it belongs",
            "The path of the record leads through a link, and sitegen writes through no link. Or the disk is full, or "
            "the folder is read-only. Put the folder itself in the place of the link, or free some space, and accept "
            "the result again.",
            "kernels/softmax/results is a link to another folder",
            "kernels/softmax/results is a folder",
        ),
        Code(
            "SG409",
            "The gates of a kernel reject nothing at a shape",
            "A run offers zeros, and the right output for other inputs, to the gates of each shape. At this shape "
            "every gate lets them pass, so the checks prove nothing about a result there. The usual cause is an "
            "output whose error is measured over a large scale, such as a sum of many numbers. An exact set, or a "
            "smaller tolerance, rejects them. This is a warning, because the record is right and the remedy needs "
            "another run, and it goes when the gates or reference.py change.",
            "extra_inputs: []\ntolerance: {bfloat16: 8e-3}\n",
            "extra_inputs: [exact]\ntolerance: {bfloat16: 8e-3}\n",
            "kernels/sum/kernel.yaml",
            warning=True,
        ),
        Code(
            "SG410",
            "The signature of a result cannot be verified",
            "`sitegen accept --attestation` asks `gh attestation verify` whether the workflow kernels.yml of the given "
            "repository signed the file, and whether it measured the commit that the result names. The message gives "
            "the reason. Nothing is stored. Download the file and its signature again, or accept the result without "
            "a signature; its records then say that they were measured by hand.",
            "sitegen accept result.zip --attestation attestation.json --repo somebody/else",
            "sitegen accept result.zip --attestation attestation.json --repo owner/name",
        ),
    ),
)
