"""The head of a post: the GPU of the figures that name none, and the stale results among those that the post shows."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from sitegen.diagnostics import Span
from sitegen.model.markdown import Markdown
from sitegen.model.record import Record
from sitegen.model.site import Ref
from sitegen.render.inputs.evidence import Evidence
from sitegen.results.freshness import Freshness, FreshnessState

H200, H100 = "nvidia-h200", "nvidia-h100"
STALE = Freshness(FreshnessState.STALE, ("fused.py changed",))
SAID = "Sentences that name no GPU are about the NVIDIA H200."


def on_h100(record: Record) -> Record:
    run = record.runs[0]
    run = replace(run, environment=replace(run.environment, gpu="NVIDIA H100"))
    return replace(record, gpu=H100, runs=(run,))


def head(make: SimpleNamespace, text: str, *records: Record, stale: tuple[tuple[str, str], ...] = ()) -> str:
    """Return the text above a post with this text."""
    site = make.site()
    first, *others = site.posts
    posts = (replace(first, body=Markdown(text, first.body.path, 6)), *others)
    site = replace(site, posts=posts, config=replace(site.config, gpus=(H200, H100)))
    evidence = Evidence(make.records(*records, make.record("copy")), dict.fromkeys(stale, STALE))
    page = Html(str(make.rendered(site, evidence)["posts/softmax/index.html"]))
    return " ".join(page.css_first("header.titles").text().split())


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        (f"It takes {{value}}`softmax/fused time on {H100}`.", False),
        (f"```{{claim}} softmax/fused >= 1.5x torch on {H100}\nIt is fast.\n```", False),
        ("```{benchmark} softmax\n```", False),
        ("Predicted: {predicted}`softmax/fused`.", False),
        (f"It takes {{value}}`softmax/fused time` and {{value}}`softmax/fused time on {H100}`.", True),
        ("```{claim} softmax/fused >= 1.5x torch\nIt is fast.\n```", True),
        ("```{claim} softmax/naive time / softmax/fused time >= 1.2\nIt is fast.\n```", True),
    ],
)
def test_a_post_names_the_gpu_of_its_figures_only_when_one_of_them_leaves_it_open(
    make: SimpleNamespace, text: str, is_said: bool
) -> None:
    record = make.record()
    assert (SAID in head(make, f"{text}\n", record, on_h100(record))) is is_said
    assert SAID not in head(make, f"{text}\n", record)


def test_the_figures_of_a_cell_leave_the_gpu_open(make: SimpleNamespace) -> None:
    text = "```{code-cell} python\n#| label: first-look\nprint(1)\n```\n\nIt is {output}`first-look:L1:latency`.\n"
    record = make.record()
    text += "\n```{benchmark} softmax\n```\n"
    both = (record, on_h100(record))
    assert SAID in head(make, text, *both)
    of_cells = "Numbers that link to code on this page are about the NVIDIA H200."
    assert of_cells not in head(make, f"{text}\nIt takes {{value}}`softmax/fused time`.\n", *both)


def test_figures_of_cells_on_another_gpu_are_named_apart(make: SimpleNamespace) -> None:
    text = "```{code-cell} python\n#| label: first-look\nprint(1)\n```\n\nIt is {output}`first-look:L1:latency`, not "
    text += "{value}`softmax/fused time`.\n"
    record = make.record()
    named = replace(record.runs[0], environment=replace(record.runs[0].environment, gpu="NVIDIA H200 NVL"))
    said = head(make, text, replace(record, runs=(named,)), on_h100(record))
    assert "Sentences that name no GPU are about the NVIDIA H200 NVL." in said
    assert "Numbers that link to code on this page are about the NVIDIA H200." in said


@pytest.mark.parametrize(
    ("gpu", "named"),
    [("", "NVIDIA H200"), (H100, "NVIDIA H100"), ("h100", "NVIDIA H100"), ("nvidia-h20", "NVIDIA H200")],
)
def test_a_post_may_be_about_the_cells_on_another_gpu(make: SimpleNamespace, gpu: str, named: str) -> None:
    records = make.records(make.record(), make.record("copy"))
    ((place, cell),) = records.cells.items()
    run = replace(cell.run, environment=replace(cell.run.environment, gpu="NVIDIA H100"))
    cells = {place: cell, (*place[:2], H100): replace(cell, gpu=H100, run=run)}
    site = make.site()
    first, *others = site.posts
    text = "```{code-cell} python\n#| label: first-look\nprint(1)\n```\n\nIt is {output}`first-look:L1:latency`.\n"
    body = Markdown(text, first.body.path, 6)
    about = replace(first, body=body, gpu=Ref(gpu, Span(body.path)) if gpu else None)
    config = replace(site.config, gpus=(H200, H100, "nvidia-h20"), gpu_aliases={"h100": H100})
    evidence = Evidence(replace(records, cells=cells))
    pages = make.rendered(replace(site, posts=(about, *others), config=config), evidence)
    page = Html(str(pages["posts/softmax/index.html"]))
    assert f"Sentences that name no GPU are about the {named}." in page.css_first("header.titles").text()
    tabs = [tab.text() for tab in page.css("main label") if tab.text().startswith("NVIDIA")]
    assert tabs[:1] in ([], [named])


def test_the_head_counts_stale_results_of_what_the_post_shows(make: SimpleNamespace) -> None:
    record = make.record()
    stale = ((H200, "softmax/fused@8192x8192:float32"), (H200, "softmax/naive@8192x8192:float32"))
    both = (record, on_h100(record))
    on_fresh = f"It takes {{value}}`softmax/fused time on {H100}`.\n"
    assert "stale" not in head(make, on_fresh, *both, stale=stale)
    on_stale = "It takes {value}`softmax/fused time`, of {value}`softmax/torch time`.\n"
    assert "1 of 1 results stale" in head(make, on_stale, *both, stale=stale)
    table = "```{benchmark} softmax\n:workloads: 8192x8192\n:dtypes: float32\n```\n"
    assert "2 of 6 results stale" in head(make, table, *both, stale=stale)
    assert "2 of 3 results stale" in head(make, table, record, stale=stale)
    plot = "```{plot} softmax\n:implementations: [naive]\n:workloads: 8192x8192\n```\n"
    assert "1 of 1 results stale" in head(make, plot, record, stale=stale)
    claim = "```{claim} softmax/fused >= 1.5x torch @ 8192x8192:float32, 2048x65536:float32\nIt is fast.\n```\n"
    assert "1 of 2 results stale" in head(make, claim, record, stale=stale)
