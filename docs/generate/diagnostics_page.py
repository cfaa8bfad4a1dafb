"""Write the page *Diagnostics* from the registry of codes in `sitegen/codes/`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from prose import prose

from sitegen.codes import GROUPS, REGISTRY, Code

NAME = "diagnostics.md"
FRONT = """\
---
title: Diagnostics
date: 2026-11-22
permalink: /diagnostics/
description: Every code of a mistake that sitegen reports, with an example and what to do.
---
<!-- Written by docs/generate from sitegen/codes/: change the entries there. -->

A mistake in a site is reported with a code, the place and a hint:

```text
error[SG012]: unknown front matter key `dificulty`
  content/posts/softmax/index.md:4:1
    4 | dificulty: 2
      | ^^^^^^^^^ did you mean `difficulty`?
```

An error fails the build, and the previous output stays as it was. A warning is printed and the build goes on. In the
worklog every mistake is a warning. The code is permanent: a code that is not used any more is not given to another
mistake. `sitegen explain SG205` prints an entry of this page. There are {count} codes.
"""


def page() -> str:
    """Return the Markdown of the page."""
    return "\n".join([FRONT.format(count=len(REGISTRY)), *_groups()])


def _groups() -> Iterator[str]:
    for group in GROUPS:
        yield f"## {group.title}\n\n{group.intro}\n"
        yield from map(_entry, group.codes)


def _entry(code: Code) -> str:
    head = f"### {code.id} {prose(code.title)} {{#{code.id.lower()}}}\n"
    kind = "A warning. " if code.warning else ""
    return f"{head}\n{kind}{prose(code.explanation)}\n\n{_examples(code)}\n"


def _examples(code: Code) -> str:
    if not code.file:
        return f"- Wrong: {_in_words(code.wrong)}\n- Right: {_in_words(code.right)}\n"
    return f"{_fence(code.wrong, f'wrong, in {code.file}', code)}\n\n{_fence(code.right, 'right', code)}\n"


def _in_words(example: str) -> str:
    return f"`{example}`" if example.startswith(("sitegen ", "pip ")) else prose(example)


def _fence(example: str, title: str, code: Code) -> str:
    """Return the example as a listing, with a fence that is longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", example)), default=0))
    language = {".yaml": "yaml", ".py": "python", ".css": "css"}.get(Path(code.file).suffix, "text")
    return f'{fence}{language} filename="{title}" annotate=false\n{example.rstrip()}\n{fence}'
