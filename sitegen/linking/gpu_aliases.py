"""Check the short names of GPUs in site.yaml against the GPUs of the site, and return the mistakes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sitegen.diagnostics import Diagnostic, Span
from sitegen.linking.kernel_refs import place_of
from sitegen.linking.value_refs import recorded_gpus
from sitegen.model.site import Site
from sitegen.read.root import SITE_FILE


def alias_mistakes(site: Site, files: Iterable[str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each entry of `gpu_aliases` whose short name and id are swapped.

    A name that `gpus` or a record has is an id.  A site may name a GPU of which it has no record yet.
    """
    config = site.config
    shortened = {name: short for name, short in config.gpu_aliases.items() if len(short) < len(name)}
    known = {*config.gpus, *recorded_gpus(files)} if shortened else set()
    for name, short in shortened.items():
        if name in known and short not in known:
            span = place_of(site, place_of(site, Span(SITE_FILE), "gpu_aliases"), short)
            message = f"unknown GPU `{short}`: the short name and the id are swapped"
            yield Diagnostic("SG214", message, span, f"write `{short}: {name}`")
