"""A site of which something changed → its output: read what is new, and print what shows it."""

from __future__ import annotations

from importlib import import_module

from sitegen.build.index import Index, known_digests
from sitegen.build.texts import Reader
from sitegen.build.update import Job, Outcome
from sitegen.write.fragments import FragmentFiles

_PRINTING = "sitegen.build.printing"


def build_anew(job: Job) -> Outcome:
    shelf = FragmentFiles(job.cache / "fragments")
    index, reader = Index(job, shelf), Reader(job.root, job.seen, shelf)
    with job.stages.stage("read", len(reader.wanted)) as tick:
        digests, load = known_digests(job), lambda: import_module(_PRINTING)
        read = reader.read(digests, index.entries, job.processes, tick, meanwhile=load)
    from sitegen.build.printing import print_site

    return print_site(job, read, reader, index)
