"""The interface of a text holds all that other pages, links and mistakes use of it, and nothing else."""

import datetime as dt
import marshal
from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.diagnostics import Diagnostic
from sitegen.linking.link import link_site
from sitegen.markup.documents import documents_of
from sitegen.model.linked import Linked
from sitegen.model.site import Page, Post, Term
from sitegen.model.vocabulary import ENGLISH
from sitegen.pipeline.parsed_part import ParsedPart
from sitegen.pipeline.text_interface import interface_of_part
from sitegen.read.load import assemble, parse_part, parts_of
from sitegen.render.inputs.evidence import Evidence
from sitegen.render.inputs.sources import Sources
from sitegen.render.rules.dependencies import key_of
from sitegen.render.rules.sheet import Sheet
from sitegen.render.rules.site_rules import sheets
from sitegen.write.cache import pack

KERNEL = Path(__file__).parents[2] / "kernels/vector_add"
POST, PAGE, TERM = "content/posts/edited/index.md", "content/pages/about.md", "content/terms/warp.md"
FRONT = {POST: "title: Edited\ndate: 2026-11-20\n", PAGE: "title: About\n", TERM: "title: Warp\n"}
FILES = {
    "content/site.yaml": "title: Notes\nbase_url: https://example.org/\nentry_points: [{post: edited, because: x}]",
    "content/posts/other.md": "---\ntitle: Other\ndate: 2026-11-19\ntags: [a]\n---\nTo [it](edited/index.md#a-part).\n",
    "content/posts/edited/plot.png": "",
    "content/worklog/2026-11-20.md": "See [it](../posts/edited/index.md#a-part).\n",
    "series/all.yaml": "title: All\nposts: [edited, other]\n",
    **{PAGE: "---\ntitle: About\n---\n", TERM: "---\ntitle: Warp\n---\n", POST: f"---\n{FRONT[POST]}---\n"},
    **{f"kernels/vector_add/{f.name}": f.read_text("utf-8") for f in KERNEL.iterdir() if f.suffix in (".py", ".yaml")},
}
ASSETS = {name: name for name in ("icon.svg", "kernel.css", "series.css", "series.js", "worklog.css")}
CELL = "```{code-cell} python\n#| label: first\n1 + 1\n```"
BLOCKS = [
    "Text.",
    "More text, of more words, on one line.",
    "word " * 150,
    "See [other](../other.md).",
    "Before [other](../other.md), and after.",
    "See [a part](../other.md#nowhere).",
    "See [nothing](nowhere.md).",
    "![A plot](plot.png)",
    "![No plot](missing.png)",
    "## A part",
    "## A Part!",
    "[here](#a-part)",
    "```python\nx = 1\n```",
    "```nonsense\nx = 1\n```",
    "{unknown}`role`",
    "```{benchmark} vector_add\n```",
    "```{roofline} vector_ad\n```",
    CELL,
    CELL.replace("1 + 1", "2 + 2"),
    "```{code-cell} triton\n#| label: second\n#| implements: vector_add/in_cell\ndef vector_add(): ...\n```",
]
MORE_FRONT = [
    "",
    "tags: [a]\n",
    "tags: [b]\n",
    "description: Short.\n",
    "aliases: [/old/]\n",
    "kernels: [vector_add]\n",
]
bodies = st.lists(st.sampled_from(BLOCKS), max_size=5)


def parsed_of(path: str, files: Mapping[str, str]) -> ParsedPart:
    part, found = parse_part(path, files, dt.UTC)
    made = dict(documents_of(part, lambda tag: ENGLISH))
    if isinstance(part, Post | Page | Term):
        part = replace(part, body=replace(part.body, text=""))
    documents = {key: replace(document, html="") for key, (document, _) in made.items()}
    return ParsedPart(
        part, packed=pack((documents, {})), diagnostics=(*found, *(d for _, ds in made.values() for d in ds))
    )


def everything_else(path: str, text: str) -> tuple[Linked, dict[str, bytes], list[Diagnostic]]:
    """Return the linked site, the key of each sheet without the text of `path`, and the mistakes elsewhere."""
    files = {**FILES, path: text}
    parsed = {name: parsed_of(name, files) for name in parts_of(files)}
    site, of_site = assemble({name: one.part for name, one in parsed.items() if one.part is not None}, files)
    documents = {key: document for one in parsed.values() for key, document in one.documents.items()}
    linked, of_names = link_site(site, documents, as_of=dt.date(2026, 12, 1), files=frozenset(files))
    digests = {name: blake2b(content.encode()).digest() for name, content in files.items()}
    sources = Sources(linked, documents, {}, dt.date(2026, 12, 1), ASSETS, Evidence, dict, digests)
    keys = {sheet.name: key_of(sheet.dependencies())[0] for sheet in sheets(sources) if not holds(sheet, digests[path])}
    found = [*of_site, *of_names, *(d for one in parsed.values() for d in one.diagnostics)]
    bare = replace(linked, site=replace(linked.site, files={}))
    return bare, keys, [d for d in found if d.span.path != path]


def holds(sheet: Sheet, digest: bytes) -> bool:
    """Return whether a sheet holds the text of that digest as a whole: its own page or a feed."""
    return any(digest in marshal.dumps(part.value) for part in sheet.dependencies())


def text_of(path: str, blocks: list[str], more: str = "") -> str:
    return f"---\n{FRONT[path]}{more}---\n" + "\n\n".join(blocks) + "\n"


def interface(path: str, text: str) -> bytes | None:
    return interface_of_part(parsed_of(path, {path: text}))


@given(st.sampled_from([POST, POST, PAGE, TERM]), bodies, st.data())
def test_texts_of_equal_interfaces_leave_all_else_as_it_is(path: str, blocks: list[str], data: st.DataObject) -> None:
    after = list(blocks)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(after)))
        after[at : at + data.draw(st.integers(0, 1))] = data.draw(st.lists(st.sampled_from(BLOCKS[:5]), max_size=1))
    more = [data.draw(st.sampled_from([*[""] * 10, *(MORE_FRONT if path == POST else [])])) for _ in range(2)]
    texts = text_of(path, blocks, more[0]), text_of(path, after, more[1])
    if interface(path, texts[0]) == interface(path, texts[1]):
        assert everything_else(path, texts[0]) == everything_else(path, texts[1])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["Text."], ["Other text, and more of it."]),
        (["See [other](../other.md)."], ["A line more.", "So see [other](../other.md)."]),
        (["See [nothing](nowhere.md)."], ["A line more.", "See [nothing](nowhere.md)."]),
        ([CELL, "Text."], [CELL, "Other."]),
        (["```python\nx = 1\n```"], ["```python\nx = 2\n```"]),
        (["Text."], ["```nonsense\nx\n```"]),
    ],
)
def test_prose_code_and_moved_links_leave_the_interface(before: list[str], after: list[str]) -> None:
    assert interface(POST, text_of(POST, before)) == interface(POST, text_of(POST, after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Text.", "word " * 500),
        ("## A part", "## Another part"),
        ("[other](../other.md)", "[other](../other.md#top)"),
        ("![A plot](plot.png)", "![A plot](other.png)"),
        (CELL, CELL.replace("1 + 1", "1 + 2")),
        (CELL, f"A line more.\n\n{CELL}"),
        ("", "```{benchmark} vector_add\n```"),
    ],
)
def test_whatever_another_page_shows_is_in_the_interface(before: str, after: str) -> None:
    assert interface(POST, text_of(POST, [before])) != interface(POST, text_of(POST, [after]))


@pytest.mark.parametrize("more", MORE_FRONT[1:])
def test_front_matter_is_in_the_interface(more: str) -> None:
    assert interface(POST, text_of(POST, ["Text."])) != interface(POST, text_of(POST, ["Text."], more))


@pytest.mark.parametrize("path", ["content/site.yaml", "series/all.yaml", "content/worklog/"])
def test_what_any_page_may_show_has_no_interface(path: str) -> None:
    assert interface_of_part(parsed_of(path, FILES)) is None


def test_a_file_that_is_no_text_has_no_interface() -> None:
    assert interface_of_part(ParsedPart(None)) is None
