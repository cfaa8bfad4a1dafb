"""Damaged input of every format that sitegen reads: no exception, less than two seconds, no file outside of its folder.

Each input is a seed of the format after up to eight mutations, by a generator whose seed is fixed, so that a failure
comes again.  `make soak` reads a million inputs in all.  A text in which a mistake was found goes into
`corpus/<format>/`: it is a seed from then on, and is always read first as it is.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import runpy
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from sitegen.execute.archive import BadArchive
from sitegen.execute.bundle import read_bundle, read_results
from sitegen.importing.jekyll.convert import import_jekyll
from sitegen.importing.notebook import import_notebook
from sitegen.importing.worklog import import_worklog
from sitegen.markup.parse import parse_document
from sitegen.model.markdown import Markdown
from sitegen.model.record import CellRecord, Record
from sitegen.read.bibliography import parse_bibliography
from sitegen.read.config import parse_config
from sitegen.read.exercises import parse_exercise
from sitegen.read.images import read_image
from sitegen.read.kernel import parse_kernel
from sitegen.read.pages import parse_page, parse_post, parse_term
from sitegen.read.series import parse_series
from sitegen.read.worklog import parse_worklog
from sitegen.results.history import parse_history
from sitegen.results.shape import parse
from tests.processor_time import within

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).parent / "corpus"
SECONDS = 2.0
SHARES = {"jekyll": 20_000, "bundle": 60_000, "post": 40_000, "directives": 40_000, "yaml": 60_000}
"""Inputs of formats that take longest, in `make soak`; the others share the rest of a million."""
MILLION = 1_000_000
WORDS = [
    *("---\n", "```", "````{warning}\n", ":::", "{claim}", "{value}`", "`", "[", "](", "$$", "|", "# ", "- ", "> "),
    *("<!--", "-->", "<svg>", "<![CDATA[", "&#9;", "{%", "%}", "{{", "}}", "{:", "\\begin{", "&a ", "*a ", "!!python/"),
    *(
        "\0",
        "\r",
        "\r\n",
        "\t",
        "\ufeff",
        "\u2028",
        "\u202e",
        "\x1b[31m",
        "é",
        "한",
        "\U0001f600",
        "%s",
        "../",
    ),
    *("null", "true", "NaN", "1e999", "-1", "0", "9" * 40, "2026-13-45", "{", "}", "[]", '""', ":", ": ", ",", "\n\n"),
]
"""What the formats give a meaning to, and what terminals, browsers and file systems do."""


@dataclass(frozen=True)
class Format:
    """A format: its texts that are right, and the function that reads bytes of it in a folder."""

    seeds: tuple[bytes, ...]
    read: Callable[[bytes, Path], object]


def of_text(read: Callable[[str], object]) -> Callable[[bytes, Path], object]:
    """Return the reader of bytes that are decoded as a file of a site is: the bytes that are no UTF-8 are replaced."""
    return lambda data, _: read(data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n"))


def of_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    """Return the reader of bytes that are first written into a file of this name."""

    def written(data: bytes, folder: Path) -> object:
        (folder / name).write_bytes(data)
        return read(folder / name)

    return written


def read_archive(path: Path) -> object:
    try:
        return read_bundle(path), read_results(path)
    except (BadArchive, OSError) as refused:
        return refused


def read_post(text: str) -> object:
    post, _ = parse_post(text, "content/posts/a/index.md")
    return parse_document(post.body)


def read_yaml(text: str) -> object:
    return (
        parse_config(text, "content/site.yaml"),
        parse_series(text, "series/a.yaml"),
        parse_kernel(text, "kernels/a/kernel.yaml", {}),
    )


def read_record(text: str) -> object:
    return [
        parse(Record, text, "kernels/a/results/g.json"),
        parse(CellRecord, text, "content/posts/a/results/g/c.json"),
        parse_history(text, "kernels/a/results/g.history.jsonl"),
    ]


def read_front_matter(text: str) -> object:
    return [
        parse_page(text, "content/pages/a.md"),
        parse_term(text, "content/terms/a.md"),
        parse_exercise(text, "content/exercises/a/index.md"),
    ]


def read_jekyll(path: Path) -> object:
    """Import a Jekyll site of which the mutated text is each kind of file once."""
    text = path.read_bytes()
    for name in ("_config.yml", "_posts/2024-01-05-a.md", "_includes/a.html", "_data/a.yml", "about.md"):
        (path.parent / "old" / name).parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "old" / name).write_bytes(text)
    return import_jekyll(path.parent / "old")


def directive_texts() -> tuple[bytes, ...]:
    """Return every directive and role of the manual: its reference page, and the pages on writing, in pieces."""
    pages = texts_of("docs/content/posts/reference-markup.md", "docs/content/posts/write*.md", most_bytes=60_000)
    return tuple(page[start : start + 2000] for page in pages for start in range(0, len(page), 2000))


def texts_of(*patterns: str, most_bytes: int = 2000) -> tuple[bytes, ...]:
    """Return the files of this repository that match, cut to a size at which an input takes a millisecond."""
    found = (path for pattern in patterns for path in sorted(ROOT.glob(pattern)))
    return tuple(path.read_bytes()[:most_bytes] for path in found if path.is_file())[:40]


def small_records() -> tuple[bytes, ...]:
    machine = SimpleNamespace(**runpy.run_path(str(ROOT / "tests" / "attacks" / "gpu_machine.py")))
    run = {"id": machine.RUN, "date": machine.RUN[:10], "commit": "a", "environment": machine.ENVIRONMENT}
    one = machine.evaluation("right", {"keys": {}}, machine.TIMES) | {"run": machine.RUN}
    record = {"schema": 1, "kernel": "a", "gpu": "nvidia-h200", "runs": [run], "evaluations": [one]}
    output = {"kind": "stream", "text": "42\n"}
    cell = {"schema": 1, "label": "c", "gpu": "g", "key": "k", "run": run, "status": "passed", "outputs": [output]}
    return json.dumps(record).encode(), json.dumps(cell).encode(), *texts_of("kernels/*/results/*.history.jsonl")


def small_archives() -> tuple[bytes, ...]:
    from sitegen.execute import archive

    head = {"kind": "jobs", "commit": "a", "sitegen": "0", "nonce": "n"}
    jobs = {"jobs/ceilings.json": {"schema": 1, "id": "ceilings", "kind": "ceilings"}}
    results = {"results/ceilings.json": {"schema": 1, "id": "ceilings", "kind": "ceilings", "error": "none"}}
    return archive.pack(head, jobs), archive.pack({**head, "kind": "results", "run": "r", "complete": True}, results)


NOTEBOOK = (
    b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {"language_info": {"name": "python"}}, "cells": [{"cell_type": '
    b'"markdown", "id": "a", "metadata": {}, "source": "# T\\n![x](attachment:a.png)", "attachments": {"a.png": '
    b'{"image/png": "iVBORw0KGgo="}}}, {"cell_type": "code", "id": "b", "metadata": {}, "execution_count": 1, '
    b'"outputs": [], "source": ["1\\n", "2"]}]}'
)
JEKYLL = (
    b"---\nlayout: post\ntitle: A\ndate: 2024-01-05 10:00:00 +0900\ntags: a b\n---\n# A {#a .b}\n\n"
    b"{% include a.html x='y' %}\n{% highlight c %}\nint x;\n{% endhighlight %}\n{: .note}\n\n* TOC\n{:toc}\n\n"
    b"$$ x $$\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
)
FORMATS = {
    "post": Format(texts_of("content/posts/*/index.md", "docs/content/posts/*.md"), of_text(read_post)),
    "front matter": Format(
        texts_of("content/terms/*.md", "content/pages/*.md", "content/exercises/*/index.md", most_bytes=1500),
        of_text(read_front_matter),
    ),
    "directives": Format(
        directive_texts(),
        of_text(lambda text: parse_document(Markdown(text, "content/posts/a/index.md"))),
    ),
    "yaml": Format(texts_of("content/site.yaml", "series/*.yaml", "kernels/*/kernel.yaml"), of_text(read_yaml)),
    "record": Format(small_records(), of_text(read_record)),
    "bundle": Format(small_archives(), of_file("a.zip", read_archive)),
    "worklog": Format(
        texts_of("content/worklog/*.md", "tests/sites/*/content/worklog/*.md", most_bytes=3000),
        of_text(lambda text: parse_worklog({"content/worklog/a.md": text})),
    ),
    "diary": Format(
        texts_of("content/worklog/*.md", "tests/sites/*/content/worklog/*.md", most_bytes=1500),
        of_file("log.md", import_worklog),
    ),
    "bibliography": Format(
        texts_of("content/references.bib", "docs/content/references.bib", most_bytes=3000),
        of_text(lambda text: parse_bibliography(text, "content/references.bib")),
    ),
    "notebook": Format((NOTEBOOK,), of_file("n.ipynb", lambda path: import_notebook(path, dt.date(2026, 1, 1)))),
    "jekyll": Format((JEKYLL,), of_file("text", read_jekyll)),
    "drawing": Format(
        (b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><a href="x"><path d="M0 0"/></a></svg>',),
        lambda data, _: read_image(data, "a.svg"),
    ),
}


def inputs(seeds: tuple[bytes, ...], count: int) -> Iterator[bytes]:
    """Yield the seeds as they are, and then mutations of them."""
    chance = random.Random(len(seeds))
    yield from seeds
    for _ in range(count - len(seeds)):
        yield mutated(chance.choice(seeds), seeds, chance)


def mutated(data: bytes, seeds: tuple[bytes, ...], chance: random.Random) -> bytes:
    """Return bytes in which up to eight places were cut, doubled, replaced, or exchanged for a part of another seed."""
    for _ in range(chance.randrange(1, 9)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice([0, 0, 1, 1, 4, 30, 300]))
        other = chance.choice(seeds)
        at = chance.randrange(len(other) + 1)
        new = chance.choice(
            [
                b"",
                data[start:end] * chance.choice([2, 3, 30]),
                chance.choice(WORDS).encode(),
                bytes([chance.randrange(256)]),
                other[at : at + chance.choice([5, 50, 500])],
            ]
        )
        data = data[:start] + new + data[end:]
    return data[:20_000]


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def share_of(name: str, total: int) -> int:
    rest = -(-(MILLION - sum(SHARES.values())) // (len(FORMATS) - len(SHARES)))
    return max(20, SHARES.get(name, rest) * total // MILLION)


@pytest.mark.parametrize("total", [1500, pytest.param(MILLION, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_input(name: str, total: int, tmp_path: Path) -> None:
    """Each input is read; the message of a failure ends with the input, to be kept in the corpus."""
    room, kind = tmp_path / "room", FORMATS[name]
    room.mkdir()
    found = tuple(path.read_bytes() for path in sorted((CORPUS / name).glob("*")))
    slowest, count = 0.0, 0
    for data in inputs((*found, *kind.seeds), share_of(name, int(os.environ.get("SITEGEN_FUZZ", total)))):
        began = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                kind.read(data, room)
        except Exception as error:
            raise AssertionError(f"{name}: {type(error).__name__}: {error}\n{data!r}") from error
        seconds = time.process_time() - began
        assert within(seconds, SECONDS), f"{name}: {seconds:.1f} s\n{data!r}"
        slowest, count = max(slowest, seconds), count + 1
    assert files_of(tmp_path) - {f"room/{inner}" for inner in files_of(room)} == {"room"}
    print(f"{name}: {count} inputs, the slowest took {slowest:.2f} s")
