"""Texts of other programs that took seconds, gigabytes or the whole stack to import.

Every importer gets, one after the other, texts that repeat 30,000 times a mark that it looks for and that never ends.
Each takes less than `SECONDS` of the processor.
"""

from __future__ import annotations

import datetime as dt
import os
import resource
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sitegen.importing.counts import counted
from sitegen.importing.folders.convert import Dialect, import_folder
from sitegen.importing.folders.hugo import HUGO
from sitegen.importing.folders.myst import MYST
from sitegen.importing.folders.obsidian import OBSIDIAN
from sitegen.importing.folders.quarto import QUARTO
from sitegen.importing.included import MOST_CHARACTERS, MOST_FILES
from sitegen.importing.jekyll.anchors import without_anchors
from sitegen.importing.jekyll.convert import import_jekyll
from sitegen.importing.plan import ImportPlan
from sitegen.importing.worklog import import_worklog, understood
from sitegen.read.yaml_nodes import parse_yaml
from tests.processor_time import within

SECONDS = 4.0
TIMES = 30_000
DAY = dt.date(2024, 1, 1)
FRONT = "---\ntitle: A\ndate: 2024-01-01\n---\n"
EVERYWHERE = ("[", "![", "[a](", "[a]: ", "](a ", '<a b="', "<!--", "<script ", "`", "```{note}\n", "~", "$", "$$a")
EVERYWHERE += (
    "\\(",
    "\\label{",
    "{",
    "# a\n",
    ">",
    "> [!note]\n",
    ":::{note}\n",
    " ",
    "a\n",
    "https://",
    "| a ",
    "{{<",
)
KNOWN = {
    "jekyll": (
        "[^",
        "<div>$$x$$<pre>",
        "<div>$$x$$ \\[",
        "*[a]: ",
        "{::comment}",
        "{: .a",
        "{%",
        "{% raw %}",
        '{% include a x="',
        "{{ a | ",
        "<pre>",
        "$a\\",
    ),
    "hugo": ("{{< a ", "{{% a", "{{</*", "{{< tab >}}", '{{< figure src="', "{.a", "\\\\["),
    "myst": ("{ref}`a <", "(a)=\n", "```{toctree}\n", "{math}`", "<project:", "[](", "%\n", "+++\n", "{{ a"),
    "quarto": ("{{< include a ", "[a]{.", "![](a){", "@fig-", "::: {.a}\n", "# a {", "```{python}\n", 'fig-alt="'),
    "obsidian": ("[[", "![[", "[[a#", "[[a|", "![a|", "%%", "==a", "#a", " ^a", "```ad-note\n"),
    "worklog": ("[a](http://", "[http://a](", "2024-01-01 ", "- [ ] ", "TODO ", "<http://", "("),
}
FOLDERS = {"hugo": HUGO, "myst": MYST, "quarto": QUARTO, "obsidian": OBSIDIAN}
PATHS = {
    "jekyll": "_posts/2024-01-01-a.md",
    "hugo": "content/posts/a.md",
    "myst": "a.md",
    "quarto": "a.qmd",
    "obsidian": "a.md",
    "worklog": "a.md",
}


def write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def imported(importer: str, folder: Path, body: str) -> ImportPlan:
    if importer == "worklog":
        text = f"2024-01-01\n\n{body}\n"
        write(folder, PATHS[importer], text)
        assert list(understood(text))
        return import_worklog(folder / PATHS[importer])
    write(folder, PATHS[importer], f"{FRONT}{body}\n")
    return import_jekyll(folder) if importer == "jekyll" else import_folder(folder, FOLDERS[importer], DAY)


def slow(work: Callable[[str], object], marks: tuple[str, ...]) -> dict[str, float]:
    """Return the seconds of each text that took too long, by its mark."""
    found = {}
    for mark in marks:
        start = time.process_time()
        work(mark * TIMES)
        if not within(seconds := time.process_time() - start, SECONDS):
            found[mark] = seconds
    return found


@pytest.mark.parametrize("importer", KNOWN)
def test_marks_that_never_end(tmp_path: Path, importer: str) -> None:
    assert not slow(lambda body: imported(importer, tmp_path, body), (*EVERYWHERE, *KNOWN[importer]))


def test_the_report_of_an_import() -> None:
    assert not slow(counted, (*EVERYWHERE, *(mark for marks in KNOWN.values() for mark in marks)))


def test_spaces_before_a_word(tmp_path: Path) -> None:
    texts = ("a" + " " * 100_000 + "b", "# a" + " " * 100_000 + "b", "](" + " " * 100_000 + "b")
    for importer in KNOWN:
        start = time.process_time()
        imported(importer, tmp_path / importer, "\n\n".join(texts))
        assert within(time.process_time() - start, SECONDS), importer


@pytest.mark.parametrize(
    ("dialect", "ending", "include"),
    [(MYST, "md", "```{{include}} {}\n```\n"), (QUARTO, "qmd", "{{{{< include {} >}}}}\n")],
)
def test_includes_that_grow_tenfold(tmp_path: Path, dialect: Dialect, ending: str, include: str) -> None:
    for level in range(10):
        name = f"{'' if ending == 'md' or not level else '_'}{level}.{ending}"
        below = f"{'' if ending == 'md' else '_'}{level + 1}.{ending}"
        write(tmp_path, name, (FRONT if not level else "") + f"Level {level}.\n" + include.format(below) * 10)
    start = time.process_time()
    plan = import_folder(tmp_path, dialect, DAY)
    assert within(time.process_time() - start, 5)
    assert all(len(str(text)) < 2 * MOST_CHARACTERS for text in plan.files.values())
    assert any(f"an include beyond {MOST_FILES} files" in one.message for one in plan.diagnostics)


@pytest.mark.parametrize("key", ["a" + ".a" * 20_000, '"="' + '."\\"="' * 20_000, "[" + "a." * 20_000 + "a]"])
def test_a_key_of_toml_with_20000_parts(tmp_path: Path, key: str) -> None:
    write(tmp_path, "hugo.toml", f"title = 'A'\n{key}" + ("\n" if key.startswith("[") else " = 1\n"))
    write(tmp_path, "content/posts/a.md", FRONT + "A.\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    plan = import_folder(tmp_path, HUGO, DAY)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000
    assert "the key on line 2 has more than 100 parts between points" in plan.diagnostics[0].message


def test_aliases_that_grow_tenfold(tmp_path: Path) -> None:
    pairs = zip("abcdefgh", "bcdefghi", strict=True)
    bomb = "a: &a [x]\n" + "".join(f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n" for old, new in pairs)
    write(tmp_path, "a.md", f"---\n{bomb}title: *i\n---\nA.\n")
    plan = import_folder(tmp_path, OBSIDIAN, DAY)
    assert "its aliases stand for more than 100,000 values" in plan.diagnostics[0].message
    assert without_anchors(bomb) == bomb


def test_anchors_and_aliases_are_written_out() -> None:
    text = 'logo: &logo "/a.png"\nplain: 1\nbase: &base\n  day: 2024-01-05\n  image: *logo\nown: {<<: *base, day: no}\n'
    written = without_anchors(text)
    node, mistakes = parse_yaml(written, "")
    assert not mistakes and node
    assert [line.split(":")[0].strip('"') for line in written.split("\n")] == [
        *("logo", "plain", "base", "", "", "own", "")
    ]
    assert written.split("\n")[5] == '"own": {"day": no, "image": "/a.png"}'
    assert without_anchors("a: &a [*a]\n") == "a: &a [*a]\n"
    assert without_anchors("a: this & that\nb: 2 * 3\n") == "a: this & that\nb: 2 * 3\n"


@pytest.mark.parametrize(
    "body",
    [
        ">" * 5000 + " the words",
        '<div markdown="1">' * 3000 + "the words",
        '<div markdown="1">\n' * 3000 + "the words" + "\n</div>" * 3000,
        "{% details a %}\n" * 3000 + "the words\n" + "{% enddetails %}\n" * 3000,
    ],
    ids=("quotes", "elements", "closed elements", "details"),
)
def test_deep_blocks_of_jekyll(tmp_path: Path, body: str) -> None:
    plan = imported("jekyll", tmp_path, body)
    assert "the words" in str(plan.files["content/posts/a.md"])


@pytest.mark.parametrize(
    ("importer", "body"),
    [
        ("myst", ":::{note}\n" * 3000 + "the words\n" + ":::\n" * 3000),
        ("myst", "".join(f"{'`' * (700 - at)}{{note}}\n" for at in range(600)) + "the words\n"),
        ("quarto", "::: {.callout-note}\n" * 3000 + "the words\n" + ":::\n" * 3000),
        ("obsidian", "".join(f"{'`' * (700 - at)}ad-note\n" for at in range(600)) + "the words\n"),
        ("obsidian", "\n".join("> " * at + "[!note]" for at in range(1, 600)) + "\n" + "> " * 600 + "the words\n"),
        ("hugo", "{{< tab >}}" * 3000 + "the words" + "{{< /tab >}}" * 3000),
    ],
)
def test_deep_blocks_of_other_programs(tmp_path: Path, importer: str, body: str) -> None:
    plan = imported(importer, tmp_path, body)
    assert "the words" in "".join(map(str, plan.files.values()))


def test_deep_folders(tmp_path: Path) -> None:
    write(tmp_path, "_posts/2024-01-01-a.md", FRONT + "A.\n")
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    plan = import_jekyll(tmp_path)
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)  # deeper than pytest itself can clean up
    assert "content/posts/a.md" in plan.files


def test_letters_that_importers_use_as_marks(tmp_path: Path) -> None:
    body = "```\n\ue0000\ue001 \ufdd00\ufdd1\n```\n\ue0009\ue001 \ufdd09\ufdd1\n"
    for importer in KNOWN:
        imported(importer, tmp_path / importer, body)
