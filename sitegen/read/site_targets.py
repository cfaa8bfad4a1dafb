"""Read `targets` of site.yaml: the settings of the machines with GPUs, by name, each with its mistakes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sitegen.diagnostics import Diagnostic, near_words
from sitegen.model.site import TargetSettings
from sitegen.read.shape import Diagnostics, entries_of, items_of, missing_key, read_as
from sitegen.read.yaml_nodes import Node

KINDS = ("hosts", "slurm", "scheduler")
"""The keys of which a target has one, because it says where the workers are."""
_OPTION = re.compile(r"--[a-z][a-z-]*(=[^\x00-\x1f\x7f]+)?")
_NOUN = "key of a target"


def read_targets(node: Node, diagnostics: Diagnostics) -> Mapping[str, TargetSettings]:
    """Return the settings of each target."""
    targets = {}
    for name, child in entries_of(node, diagnostics).items():
        targets[name] = read_as(TargetSettings, child, diagnostics, noun=_NOUN)
        if isinstance(child.value, Mapping):
            diagnostics += [*_mistakes(name, child), *_wrong_options(child)]
    return targets


def _mistakes(name: str, node: Node) -> list[Diagnostic]:
    """Return what is wrong with the keys of a target as a whole."""
    kinds = [kind for kind in KINDS if node.get(kind)]
    if not kinds and isinstance(node.value, Mapping) and any(near_words(key, KINDS) for key in node.value):
        return []  # the misspelt key has a message
    if len(kinds) != 1:
        found = " and ".join(f"`{kind}`" for kind in kinds) or "none of `hosts`, `slurm` and `scheduler`"
        hint = "write `hosts: [gpu1]`, `slurm: 1` or `scheduler: tls://login1:8786`"
        return [Diagnostic("SG014", f"the target `{name}` has {found}; it needs one of them", node.at, hint)]
    count = node.get("slurm")
    if count is not None and isinstance(count.value, int) and count.value < 1:
        return [Diagnostic("SG014", f"`{count.text}` is no number of GPUs", count.span, "write 1 or more")]
    if kinds != ["scheduler"] and node.get("bind") is None:
        return [missing_key("bind", _NOUN, node)]
    return []


def _wrong_options(node: Node) -> list[Diagnostic]:
    """Return a diagnostic for each line of `sbatch` that is no option: it would become a line of a shell script."""
    options = node.get("sbatch")
    hint = "write each option in full: `--partition=gpu`"
    return [
        Diagnostic("SG014", f"`{one.text.partition(chr(10))[0][:60]}` is no option of sbatch", one.span, hint)
        for one in (items_of(options, []) if options else ())
        if not _OPTION.fullmatch(one.text)
    ]
