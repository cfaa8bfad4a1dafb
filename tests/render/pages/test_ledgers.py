"""The pages of all records and of all predictions: states with reasons, dates, scores, revisions."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser as Html
from selectolax.lexbor import LexborNode as Node

from sitegen.model.record import Record
from sitegen.render.inputs.evidence import Evidence
from sitegen.results.freshness import Freshness, FreshnessState

GPU = "nvidia-h200"


def words(node: Node) -> str:
    return " ".join(node.text(separator=" ").replace("\u00a0", " ").split())


def rows(page: Html, table: str) -> list[list[str]]:
    lines = [row for row in page.css(f"#{table} tbody tr") if row.css_first("th[scope=row]")]
    return [[words(cell) for cell in row.css("th, td")] for row in lines]


def plate(page: Html) -> dict[str, str]:
    return {words(one.css("dt")[0]): words(one.css("dd")[0]) for one in page.css(".titles .plate > div")}


def states(**of: Freshness) -> dict[tuple[str, str], Freshness]:
    return {(GPU, f"softmax/{name.replace('_at_', '@').replace('__', ':')}"): one for name, one in of.items()}


def test_each_state_has_its_reason_its_day_and_its_number_of_records(make: SimpleNamespace) -> None:
    fresh, missing = Freshness(FreshnessState.FRESH), Freshness(FreshnessState.MISSING)
    stale = Freshness(FreshnessState.STALE, ("fused.py changed",))
    found = states(
        fused_at_8192x8192__float32=stale,
        fused_at_8192x8192__bfloat16=stale,
        fused_at_2048x65536__float32=fresh,
        naive_at_8192x8192__float32=fresh,
    )
    found[GPU, "softmax/sweep/threads"] = missing
    pages = make.rendered(evidence=Evidence(make.records(make.record()), evaluations=found))
    page = Html(str(pages["records/index.html"]))
    assert rows(page, f"on-{GPU}") == [
        ["fused", "stale", "2", "2026-11-21", "8192x8192:float32, 8192x8192:bfloat16: fused.py changed"],
        ["fused", "fresh", "1", "2026-11-21", "2048x65536:float32"],
        ["naive", "fresh", "1", "2026-11-21", ""],
        ["sweep/threads", "missing", "1", "", ""],
    ]
    assert plate(page)["stale"] == "2" and plate(page)["missing"] == "1"
    home = Html(str(pages["index.html"]))
    [link] = [one for one in home.css(".plate a") if one.attributes.get("href") == "records/"]
    assert words(link) == "2"


def predicted(record: Record, name: str, share: float, sentence: str) -> Record:
    def changed(one):  # type: ignore[no-untyped-def]
        return replace(one, predicts=sentence, predicted_of_ceiling=share) if one.name == name else one

    return replace(record, evaluations=tuple(map(changed, record.evaluations)))


def test_a_prediction_stands_beside_its_measurements_and_a_later_edit_is_marked(make: SimpleNamespace) -> None:
    record = predicted(make.record(), "fused", 0.95, "one read and a write: 95 %")
    record = predicted(record, "naive", 0.8, "as fast as a copy, nearly: 80 %")
    page = Html(str(make.rendered(evidence=Evidence(make.records(record)))["predictions/index.html"]))
    naive, fused, *_ = rows(page, "softmax-table")
    assert naive[:2] == ["naive", "80"] and naive[4] == "0 of 2"
    assert fused[:2] == ["fused", "95"] and fused[4] == "2 of 2"
    assert [words(row) for row in page.css("#softmax-table .below")] == [
        "Predicted: as fast as a copy, nearly: 80 %. "
        "Revised after measuring: three reads and a write: 50 % of the copy ceiling.",
        "Predicted: one read and a write: 95 %.",
    ]
    assert plate(page)["evaluations with a prediction"] == "8"
    assert plate(page)["within 5 points"] == "50.0 %"


def test_the_ledger_stands_on_the_page_of_the_kernel_and_in_posts_with_the_explanation(make: SimpleNamespace) -> None:
    site, record = make.site(), predicted(make.record(), "naive", 0.8, "three reads: 80 %")
    [softmax, *others] = site.kernels
    explained = tuple(replace(one, explains="L2 serves few re-reads.") for one in softmax.implementations)
    site = replace(site, kernels=(replace(softmax, implementations=explained), *others))
    pages = make.rendered(site, Evidence(make.records(record)))
    for path in ("kernels/softmax/index.html", "posts/softmax/index.html"):
        [below] = Html(str(pages[path])).css(".below")
        assert words(below).endswith("Explained: L2 serves few re-reads.")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We compare `naive`.", ["naive"]),
        ("See {kernel}`softmax/online`.", ["online"]),
        ("It reaches {predicted}`softmax/fused`.", ["fused"]),
        ("It is {value}`softmax/fused x naive`.", ["naive", "fused"]),
        ("```{claim} softmax/naive time / softmax/online time >= 1\nIt is fast.\n```", ["naive", "online"]),
        ("```{kernel} softmax/fused\n```", ["fused"]),
        ("```{plot} softmax\n:implementations: [online, torch]\n```", ["online"]),
        ("```{benchmark} softmax\n```", ["naive", "online", "fused"]),
    ],
)
def test_the_ledger_of_a_post_has_the_implementations_that_the_post_names(
    make: SimpleNamespace, text: str, names: list[str]
) -> None:
    page = post_with(make, f"{text}\n\nIt takes {{value}}`softmax/torch time`.\n")
    assert [row[0] for row in rows(page, f"ledger-softmax-{GPU}-table")] == names
    links = [one for one in page.css("details.numbers > p a") if words(one) == "All predictions of softmax"]
    assert [one.attributes["href"] for one in links] == ([] if len(names) == 3 else ["../../kernels/softmax/"])


def test_a_post_that_names_no_implementation_has_no_ledger(make: SimpleNamespace) -> None:
    page = post_with(make, "It takes {value}`softmax/torch time`. Softmax is naive.\n")
    assert not page.css("details.numbers")


def post_with(make: SimpleNamespace, text: str) -> Html:
    """Return the page of a post with this text, on a site whose implementations of softmax have predictions."""
    site, record = make.site(), make.record()
    for name in ("naive", "online", "fused"):
        record = predicted(record, name, 0.8, "three reads: 80 %")
    record = replace(record, evaluations=tuple(one for one in record.evaluations if one.dtype == "float32"))
    posts = tuple(replace(p, body=replace(p.body, text=text)) if p.slug == "softmax" else p for p in site.posts)
    return Html(
        str(make.rendered(replace(site, posts=posts), Evidence(make.records(record)))["posts/softmax/index.html"])
    )


def test_without_a_measured_prediction_the_page_says_so(make: SimpleNamespace) -> None:
    page = Html(str(make.rendered(evidence=Evidence(make.records(make.record())))["predictions/index.html"]))
    assert "No prediction has been measured yet." in words(page.css("main")[0])
