"""An entry of the worklog mentions what it links to, shows or names, and each of these pages knows the day."""

import datetime as dt

from sitegen.linking.link import link_site
from sitegen.markup.documents import parse_documents
from sitegen.model.linked import Linked
from sitegen.read.load import parse_site

KERNEL = "kernel: {0}\nsummary: Text.\ndims: [N]\ninputs: {{x: {{shape: [N]}}}}\noutputs: {{y: {{shape: [N]}}}}\n"
FILES = {
    "content/site.yaml": "title: Notes\nbase_url: https://example.org/\n",
    "content/posts/softmax.md": "---\ntitle: A softmax that reads once\ndate: 2026-11-20\n---\nText.\n",
    "content/posts/warps.md": "---\ntitle: Warps\ndate: 2026-11-20\n---\nText.\n",
    "content/exercises/tile/index.md": "---\ntitle: Add in tiles\nkernel: vector_add\nsolution: tile\n"
    "counted_at: {N: 8}\n---\nText.\n",
    "content/terms/bank.md": "---\ntitle: Bank conflict\naliases: [conflicts of banks]\n---\nText.\n",
    "kernels/softmax/kernel.yaml": KERNEL.format("softmax"),
    "kernels/copy/kernel.yaml": KERNEL.format("copy"),
    "kernels/vector_add/kernel.yaml": KERNEL.format("vector_add"),
}
DAY = dt.date(2026, 11, 21)


def linked(text: str, more: dict[str, str] | None = None) -> Linked:
    site, _ = parse_site(
        {
            **FILES,
            **(more or {}),
            "content/worklog/diary.md": text if text.startswith("2026") else f"2026-11-21\n\n{text}",
        }
    )
    documents, _ = parse_documents(site)
    return link_site(site, documents, as_of=DAY, files=frozenset(FILES))[0]


def mentioned(text: str) -> list[str]:
    return [f"{one.kind} {one.title}" for one in linked(text).mentions[DAY]]


def test_names_in_full_links_and_shown_kernels_are_mentions() -> None:
    assert mentioned("I copy a softmaxed copy; the bank has conflicts, and warps are lanes.") == []
    assert mentioned("Again: A SOFTMAX that reads\nonce.") == ["post A softmax that reads once", "kernel softmax"]
    assert mentioned("[it](../posts/warps.md), [it](/kernels/copy/)") == ["kernel copy", "post Warps"]
    assert mentioned("`copy` and copy/vectorised, vector_add") == ["kernel copy", "kernel vector_add"]
    assert mentioned("Conflicts of banks; a bank conflict; {term}`bank`") == ["term Bank conflict"]
    assert mentioned("```{benchmark} copy\n```\n") == ["kernel copy"]
    assert mentioned("a tile is no exercise") == []
    for text in ("Add in tiles", "exercise `tile`", "the tile exercise", "[it](/exercises/tile/)"):
        assert mentioned(text) == ["exercise Add in tiles"]


def test_pages_of_one_name_are_always_in_one_order() -> None:
    term = {"content/terms/vectors.md": "---\ntitle: Vector_add\n---\nText.\n"}
    for text in ("{term}`Vector_add` and vector_add", "`vector_add`, a {term}`Vector_add`"):
        assert [one.url for one in linked(text, term).mentions[DAY]] == ["kernels/vector_add/", "terms/vectors/"]


def test_ten_mentions_link_both_ways() -> None:
    days = [DAY - dt.timedelta(days=n) for n in range(10)]
    found = linked("".join(f"{day}\n\n- softmax again, with {{term}}`bank`\n\n" for day in days))
    assert found.worked_on["kernels/softmax/"] == found.worked_on["terms/bank/"] == tuple(days)
    assert all("softmax" in [one.title for one in found.mentions[day]] for day in days)
    assert "kernels/copy/" not in found.worked_on
