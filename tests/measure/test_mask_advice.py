"""What to write for a load or store outside of a tensor, in the names of the author's own kernel."""

from __future__ import annotations

from pathlib import Path
from traceback import FrameSummary

import pytest

from sitegen.measure.mask_advice import mask_advice

LONG = "tl.store(z + at, alpha * tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)"
BARE = "tl.store(z + at, tl.load(x + at))"


def said(folder: Path, line: str, access: str = "", before: str = "inside = at < N") -> str:
    """Return the advice on an access in the last line of a kernel."""
    file = folder / "tile.py"
    file.write_text(f"def kernel(x, y, z, alpha, N, BLOCK):\n    at = tl.arange(0, BLOCK)\n    {before}\n    {line}\n")
    return mask_advice(access, FrameSummary(str(file), 4, "kernel"), "load")


@pytest.mark.parametrize(
    ("line", "access", "words"),
    [
        (
            f"{LONG})",
            f"{LONG})",
            "`tl.store(z + at, …)` has no mask: give it one, as in `tl.store(z + at, …, mask=inside)`",
        ),
        (
            "tl.store(z + at, tl.load(x + at, mask=inside) + tl.load(y + at), mask=inside)",
            "tl.load(y + at)",
            "`tl.load(y + at)` has no mask: give it one, as in `tl.load(y + at, mask=inside)`",
        ),
        (BARE, "tl.load(x + at)", "`tl.load(x + at)` has no mask: give it one, as in `tl.load(x + at, mask=at < N)`"),
        (BARE, "tl.load(x)", "`tl.load(x)` has no mask: give it one, as in `tl.load(x, mask=i < N)`"),
        (BARE, "", "give this load a mask, as in `mask=i < N`"),
    ],
)
def test_a_missing_mask_is_written_with_the_names_of_the_kernel(
    tmp_path: Path, line: str, access: str, words: str
) -> None:
    assert said(tmp_path, line, access) == words


@pytest.mark.parametrize(
    ("mask", "before", "words"),
    [
        ("at <= N", "pass", "mask=at < N"),
        ("inside", "inside = at <= N", "inside = at < N"),
        ("inside", "inside = at < N + 1", "inside = at < N"),
        ("N >= at", "pass", "mask=at < N"),
        ("at < BLOCK + 1", "pass", "mask=at < BLOCK"),
        ("at >= 0", "pass", "mask=i < N"),
        ("(at < N) & (at > 0)", "pass", "mask=i < N"),
    ],
)
def test_a_mask_that_lets_too_much_through_is_made_smaller(tmp_path: Path, mask: str, before: str, words: str) -> None:
    access = f"tl.load(x + at, mask={mask})"
    assert said(tmp_path, f"a = {access}", access, before).endswith(f"make it smaller, as in `{words}`")


def test_a_long_call_is_cut_before_its_mask(tmp_path: Path) -> None:
    access = f"{LONG}, mask=at <= N)"
    assert "the mask of `tl.store(z + at, …, mask=at <= N)` lets" in said(tmp_path, access, access)
