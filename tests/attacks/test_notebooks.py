"""Notebooks that are damaged or hostile: `import notebook` gives a post or a message, and never a traceback."""

from __future__ import annotations

import copy
import datetime as dt
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from sitegen.diagnostics import has_errors
from sitegen.importing.notebook import import_notebook

DAY = dt.date(2026, 11, 22)
NOTEBOOK: dict[str, Any] = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {
        "kernelspec": {"name": "python3", "language": "python", "display_name": "Python"},
        "language_info": {"name": "python"},
    },
    "cells": [
        {
            "cell_type": "markdown",
            "id": "a",
            "metadata": {},
            "source": "# T\n![x](attachment:a.png)",
            "attachments": {"a.png": {"image/png": "iVBORw0KGgo="}},
        },
        {"cell_type": "code", "id": "b", "metadata": {}, "execution_count": 1, "outputs": [], "source": ["1\n", "2"]},
        {"cell_type": "raw", "id": "c", "metadata": {}, "source": "x"},
    ],
}
ODD: list[Any] = [None, True, 0, -1, 1.5, "", "x", [], {}, [None], {"a": None}, "\0", "\ud800", 10**400, [[]], "4"]


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of each part of a value of JSON."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(place for key, part in inner for place in places(part, (*here, key)))]


def mutated(chance: random.Random) -> bytes:
    """Return the notebook with up to three parts removed or replaced, sometimes cut short."""
    value: Any = copy.deepcopy(NOTEBOOK)
    for _ in range(chance.randrange(1, 4)):
        *above, last = chance.choice(places(value)[1:]) if places(value)[1:] else ("nbformat",)
        inner = value
        for key in above:
            inner = inner[key]
        if chance.random() < 0.3:
            del inner[last]
        else:
            inner[last] = copy.deepcopy(chance.choice(ODD))
    data = json.dumps(value).encode("utf-8", "surrogatepass")
    return data[: chance.randrange(len(data))] if chance.random() < 0.1 else data


def test_five_hundred_mutated_notebooks_end_no_import_by_a_bug(tmp_path: Path) -> None:
    """1,906 of 3,000 raised an exception before."""
    chance, outcomes = random.Random(1), set()
    for _ in range(500):
        (tmp_path / "n.ipynb").write_bytes(mutated(chance))
        plan = import_notebook(tmp_path / "n.ipynb", DAY)
        assert has_errors(plan.diagnostics) == (not plan.files)
        outcomes.add(bool(plan.files))
    assert outcomes == {True, False}


@pytest.mark.parametrize(
    "data", [b"", b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe", b"null", b'{"nbformat": ' + b"9" * 5000 + b"}"]
)
def test_file_that_is_no_notebook(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "n.ipynb").write_bytes(data)
    (mistake,) = import_notebook(tmp_path / "n.ipynb", DAY).diagnostics
    assert mistake.code == "SG606" and "this is no notebook" in mistake.message


def test_pipe_in_the_place_of_a_notebook(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "n.ipynb")
    (mistake,) = import_notebook(tmp_path / "n.ipynb", DAY).diagnostics
    assert mistake.code == "SG606"
