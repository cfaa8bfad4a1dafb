"""Return the mistake for a GPU that a site does not know: the known id that was meant, or the GPUs with records.

The ids of two GPUs often differ in one or two letters: `nvidia-b200` and `nvidia-a100` are no slips for `nvidia-h200`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import SequenceMatcher

from sitegen.diagnostics import Diagnostic, Span

_MOST_LETTERS = 2
"""The most letters that a slip of the keyboard adds, leaves out or changes."""


def near_gpu(name: str, known: Collection[str]) -> str:
    """Return the known id or alias that was meant by a name: it begins with the name, has it as a part, or differs by a
    slip that replaces no letter of a part with digits.  Return an empty string when there is none.
    """
    low = name.lower()
    parts = (one for one in known if one.startswith(f"{low}-") or f"-{low}-" in f"-{one}-")
    return next(parts, "") or next((one for one in known if _is_slip(low, one)), "")


def unknown_gpu(name: str, known: Collection[str], recorded: Sequence[str], span: Span) -> Diagnostic:
    """Return the diagnostic for a GPU that is none of the known ones; `recorded` are those with records."""
    listed = ", ".join(f"`{one}`" for one in recorded[:8])
    if near := near_gpu(name, known):
        hint = f"did you mean `{near}`?"
    elif listed:
        hint = f"no record is of `{name}`: measure there, or name a GPU that has records: {listed}"
    else:
        hint = "name it under `gpus` in content/site.yaml"
    return Diagnostic("SG214", f"unknown GPU `{name}`", span, hint)


def _is_slip(word: str, known: str) -> bool:
    letters = 0
    for kind, begin, end, at, to in SequenceMatcher(None, word, known, autojunk=False).get_opcodes():
        if kind == "replace" and any(one.isdigit() for one in _part(known, at)):
            return False
        letters += max(end - begin, to - at) if kind != "equal" else 0
    return letters <= _MOST_LETTERS


def _part(name: str, at: int) -> str:
    """Return the part of an id, such as `h200`, that has the letter at a place."""
    return name[name.rfind("-", 0, at) + 1 :].partition("-")[0] if name[at] != "-" else ""
