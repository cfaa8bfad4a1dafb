"""Make the files of a new kernel, series, exercise or worklog day of a site, as text by path; `scaffold.create` writes
them.
"""

from __future__ import annotations

import datetime as dt
import json
import keyword
import re
from collections.abc import Mapping

from sitegen.model.kernel import Kernel
from sitegen.write import starter
from sitegen.write.output import OutputError
from sitegen.write.scaffold import slug_of

_EXAMPLE = "axpy"
EXERCISE = """\
---
title: {title}
description: One sentence for lists.
kernel: {kernel}
solution: {solution}
counted_at: {counted_at}
minutes: 30
---
Say what the kernel computes, what the starter has already, and what is missing.

## Hints

:::{{dropdown}} Where to begin
One hint in each fold, from the first step to the last.
:::
"""
STARTER = '''\
"""Write the kernel, and run `python check.py`."""

import torch
import triton
import triton.language as tl


@triton.jit
def {name}_block(BLOCK: tl.constexpr):
    pass


def {name}({arguments}):
    """Launch the kernel; the check gives `out`, into which it must write."""
    raise NotImplementedError
'''


def new_kernel_files(name: str) -> Mapping[str, str]:
    """Return the files of a kernel that is checked and measured at once: a vector times a number, plus a vector.

    Raises OutputError for a name that is no name of a function.
    """
    if not name.isidentifier() or keyword.iskeyword(name) or not name.isascii():
        raise OutputError(f"kernels/{name}", f"`{name}` is no name of a kernel", "use letters, digits and `_`")
    texts = {
        "kernel.yaml": starter.KERNEL.replace("$$", "$"),
        "reference.py": starter.REFERENCE,
        "tile.py": starter.TILE,
        "wrong/no_mask.py": starter.NO_MASK,
    }
    return {f"kernels/{name}/{path}": text.replace(_EXAMPLE, name) for path, text in texts.items()}


def new_series_file(title: str) -> Mapping[str, str]:
    """Return the file of a series with one phase and one planned post.  Raises OutputError when no id can be made."""
    lines = [
        "# yaml-language-server: $schema=../schemas/series.json",
        f"title: {json.dumps(title, ensure_ascii=False)}",
        "tagline: One line below the title",
        "audience: The readers for whom it is written",
        "outcomes: [what a reader can do at the end]",
        "phases:",
        "  - title: The first phase",
        "    goal: What the reader is able to do afterwards",
        "    posts: []",
        '    planned: ["A post that is not written yet"]',
    ]
    return {f"series/{_slug(title, 'series')}.yaml": "\n".join(lines) + "\n"}


def new_exercise_files(title: str, kernel: Kernel, files: Mapping[str, str]) -> Mapping[str, str]:
    """Return the text and the starter of an exercise on a kernel of the site, whose texts are `files`.

    Raises OutputError when the kernel has no Triton implementation, which an exercise needs as its solution.
    """
    solution = next((one for one in kernel.implementations if one.file.endswith(".py")), None)
    if solution is None:
        message = f"the kernel `{kernel.name}` has no implementation in Triton"
        raise OutputError(f"{kernel.folder}/kernel.yaml", message, "an exercise needs one as its solution")
    shape = max(kernel.checks, key=lambda dims: sum(dims.values()))
    folder = f"content/exercises/{_slug(title, 'content/exercises')}"
    text = EXERCISE.format(
        title=json.dumps(title, ensure_ascii=False),
        kernel=kernel.name,
        solution=solution.name,
        counted_at=json.dumps(dict(shape)).replace('"', ""),
    )
    code = STARTER.format(name=kernel.name, arguments=_arguments(kernel.name, files[solution.file]))
    return {f"{folder}/index.md": text, f"{folder}/starter.py": code}


def new_worklog_file(day: dt.date) -> Mapping[str, str]:
    """Return the entry of a day that shows the forms of a worklog."""
    return {f"content/worklog/{day.isoformat()}.md": starter.WORKLOG}


def _slug(title: str, folder: str) -> str:
    if slug := slug_of(title):
        return slug
    raise OutputError(folder, f"no address can be made of the title `{title}`", "use a letter or a digit")


def _arguments(name: str, solution: str) -> str:
    """Return the arguments of the function that launches the solution, as its file has them."""
    match = re.search(rf"^def {re.escape(name)}\((.*?)\)(?: *->[^\n]*)?:$", solution, re.MULTILINE | re.DOTALL)
    return match[1] if match else "*inputs, out=None"
