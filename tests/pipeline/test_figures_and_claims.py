"""Figures and claims of a site on a disk: a record that says something else changes the pages or fails the build."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sitegen.cli import main
from sitegen.model.kernel import Status
from sitegen.model.record import Ceiling, Correctness, Environment, Evaluation, Performance, Ratio, Record, Role, Run
from sitegen.pipeline.build import update
from sitegen.pipeline.in_memory import build_in_memory, load
from sitegen.pipeline.preview import PreviewSite
from sitegen.results import verify
from sitegen.results.keys import implementation_key
from sitegen.results.store import save_record

POST, PAGE = "content/posts/fast.md", "posts/fast/index.html"
KERNEL = """\
kernel: softmax
summary: Row-wise softmax, at best {value}`softmax/best of-copy` of a copy.
dims: [M, N]
inputs: {x: {shape: [M, N]}}
outputs: {y: {shape: [M, N]}}
dtypes: [float32]
flops: 5 * M * N
reads: M * N * itemsize
writes: M * N * itemsize
tolerance: {float32: 1e-6}
checks: [{M: 1, N: 1}]
workloads: [{M: 8192, N: 8192}]
baselines: [torch]
implementations:
  - {name: naive, file: naive.py}
  - {name: fused, file: fused.py, predicts: "one read and one write: 95 %"}
"""
FRONT = """\
---
title: A softmax at {value}`softmax/fused of-copy` of a copy
date: 2026-11-20
description: It takes {value}`softmax/fused time`, and {given}`150 µs; the year before` before.
---
"""
BODY = """\
It moves {value}`softmax/fused bandwidth`.

```{claim} softmax/fused >= 2x torch
The fused kernel is *twice* as fast as torch.
```
"""
FILES = {
    "content/site.yaml": "title: Kernels\nbase_url: https://example.org/\ngpus: [nvidia-h200]\ncards: false\n",
    POST: FRONT + BODY,
    "content/posts/other.md": "---\ntitle: Other\ndate: 2026-11-19\n---\nNo figure.\n",
    "kernels/softmax/kernel.yaml": KERNEL,
    "kernels/softmax/reference.py": "def make_inputs(): ...\n",
    "kernels/softmax/naive.py": "def softmax(x, *, out=None):\n    return x\n",
    "kernels/softmax/fused.py": "def softmax(x, *, out=None):\n    return x.softmax()\n",
}
MACHINE = Environment(
    gpu="NVIDIA H200",
    arch="sm_90",
    sm_count=132,
    l2_bytes=60_000_000,
    memory_bytes=150_000_000_000,
    driver="580.1",
    cuda="13.0",
    torch="2.11.0",
    triton="3.6.0",
    python="3.12",
    sm_clock_max_mhz=1980.0,
    power_limit_w=700.0,
    ecc=True,
)
CEILINGS = (Ceiling("memory 1:0", 4.6e12, {"read": 4.6e12}), Ceiling("memory 1:1", 4.3e12, {"copy": 4.3e12}))
RUN = Run("2026-11-21T06:00:00Z", "2026-11-21", "abc1234", MACHINE, CEILINGS)
CHECKED = Correctness(1e-8, 1e-8, 1e-8, 1e-8, 1e-6, 1, 3, ("normal",))


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def timed(name: str, us: float, role: Role = Role.IMPLEMENTATION, *, spread: float = 0.001) -> Evaluation:
    low, high = us * (1 - spread), us * (1 + spread)
    ratios = tuple(
        Ratio(other, t / us, t / us * (1 - spread), t / us * (1 + spread))
        for other, t in (("torch", 276.0), ("copy", 129.0))
    )
    times = Performance(us, us * 0.99, us * 1.01, us * 0.98, low, high, 220, (us,) * 4, ratios)
    checked = None if role is Role.PROBE else CHECKED
    return Evaluation(role, name, "8192x8192", "float32", RUN.id, Status.PASSED, correctness=checked, performance=times)


def measure(root: Path, fused_us: float, *, spread: float = 0.001) -> Record:
    """Store a record of today's code, in which the fused kernel takes so long."""
    site = load(root).site
    [kernel] = site.kernels
    evaluations = [timed("torch", 276.0, Role.BASELINE), timed("copy", 129.0, Role.PROBE)]
    for made, us in zip(kernel.implementations, (170.0, fused_us), strict=True):
        key = implementation_key(kernel, made, kernel.workloads[0], "float32", {}, site.files)
        evaluations.append(replace(timed(made.name, us, spread=spread), key=key.digest, key_parts=key.parts))
    record = Record(1, "softmax", "nvidia-h200", (RUN,), tuple(evaluations))
    save_record(root, record, RUN)
    return record


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(verify, "verify_records", lambda *_: ())  # these records have no samples
    for path, text in FILES.items():
        write(tmp_path, path, text)
    measure(tmp_path, 132.0)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sitegen(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


def built(root: Path) -> dict[str, str]:
    """Return the text of every page after an incremental build, which must be that of a clean one."""
    result = update(root, root / "public", processes=1)
    assert not result.failed, result.report
    clean = build_in_memory(root).files
    public = root / "public"
    found = {path.relative_to(public).as_posix(): path.read_bytes() for path in public.rglob("*") if path.is_file()}
    for path, content in clean.items():
        assert found[path] == (content if isinstance(content, bytes) else content.encode()), path
    return {path: data.decode("utf-8", "replace") for path, data in found.items()}


def broken() -> str:
    result = sitegen("build")
    assert result.exit_code == 1
    return result.stderr


def test_a_figure_stands_in_the_text_the_title_the_description_lists_and_feeds(root: Path) -> None:
    pages = built(root)
    title, summary = "A softmax at 97.7\u00a0% of a copy", "It takes 132\u00a0µs, and 150 µs before."
    for path in (PAGE, "index.html", "posts/index.html", "feed.xml", "feed.json"):
        assert title in pages[path], path
    for path in (PAGE, "posts/index.html", "feed.xml"):
        assert summary in pages[path], path
    assert "at best 97.7\u00a0% of a copy" in pages["kernels/softmax/index.html"]
    assert "4.07\u00a0TB/s" in pages[PAGE]


def test_another_record_changes_each_page_that_shows_its_figures_and_no_other(root: Path) -> None:
    write(root, "content/pages/about.md", "---\ntitle: About\n---\nAt {value}`softmax/fused of-copy` of a copy.\n")
    write(root, "content/terms/fast.md", "---\ntitle: Fast\n---\nAt {value}`softmax/fused of-copy` of a copy.\n")
    write(root, "series/all.yaml", "title: All\ntagline: At {value}`softmax/fused of-copy` of a copy.\nposts: [fast]\n")
    shown = ("about/index.html", "terms/fast/index.html", "terms/index.html", "series/all/index.html")
    before = built(root)
    assert all("97.7\u00a0%" in before[path] for path in shown)
    measure(root, 134.0)
    result = update(root, root / "public", processes=1)
    assert PAGE in result.printed and "404.html" not in result.printed
    after = built(root)
    assert "96.3\u00a0%" in after["index.html"] and "4.01\u00a0TB/s" in after[PAGE]
    assert all("96.3\u00a0%" in after[path] and "97.7\u00a0%" not in after[path] for path in shown)
    assert "97.7\u00a0%" not in after["index.html"] + after[PAGE] + after["feed.xml"]


def test_a_record_that_breaks_a_claim_fails_the_build_at_its_line(root: Path) -> None:
    before = built(root)
    measure(root, 150.0)
    said = broken()
    assert "error[SG309]: the record does not support this claim" in said
    assert "on nvidia-h200 at 8192x8192:float32 it says 1.840\u00a0× torch (95 %: 1.838\u00a0× to 1.842\u00a0×)" in said
    assert "; the claim asks for at least 2\u00a0×" in said
    assert (
        "lower the claim, and see that its sentence still holds: “The fused kernel is twice as fast as torch.”" in said
    )
    assert f"{POST}:8:12" in said and "The fused kernel is twice as fast as torch." in said
    public = root / "public"
    assert (public / PAGE).read_text(encoding="utf-8") == before[PAGE], "the previous output stays"
    assert sitegen("check").exit_code == 1


def test_a_broken_claim_moves_with_its_line(root: Path) -> None:
    measure(root, 150.0)
    at = [int(line) for line in re.findall(rf"{POST}:(\d+):", broken())]
    write(root, POST, FRONT + "A new line.\n" + BODY)
    assert [int(line) for line in re.findall(rf"{POST}:(\d+):", broken())] == [line + 1 for line in at] != []


def test_an_interval_that_crosses_the_bound_fails_the_build_and_says_so(root: Path) -> None:
    measure(root, 137.0, spread=0.01)
    assert "error[SG309]: the record cannot decide this claim, its interval crosses the bound" in broken()


@pytest.mark.parametrize(
    ("predicate", "says", "asks", "hint"),
    [
        (
            "between 1.9 and 2 x torch",
            "it says 1.840\u00a0× torch (95",
            "between 1.9\u00a0× and 2\u00a0×",
            "move the bounds",
        ),
        (
            "time < 140 µs",
            "it says 150.0\u00a0µs (95 %: 149.8",
            "less than 140\u00a0µs",
            "raise the bound of the claim",
        ),
    ],
)
def test_a_broken_claim_says_what_the_record_says_and_what_the_claim_asks_for(
    root: Path, predicate: str, says: str, asks: str, hint: str
) -> None:
    measure(root, 150.0)
    write(root, POST, FRONT + BODY.replace(">= 2x torch", predicate))
    said = broken()
    assert says in said and f"the claim asks for {asks}" in said and hint in said


def test_a_stale_record_neither_breaks_a_claim_nor_hides_itself(root: Path) -> None:
    measure(root, 150.0)
    write(root, "kernels/softmax/fused.py", "# other code\ndef softmax(x, *, out=None): ...\n")
    page = built(root)[PAGE]
    assert "the record of this sentence is stale" in page and "stale: fused.py changed" in page
    assert "(stale)" in built(root)["index.html"]
    assert f"{POST}:8: stale: softmax/fused &gt;= 2x torch".replace("&gt;", ">") in sitegen("status", "--claims").stdout


def test_without_a_record_the_page_says_that_nothing_was_measured(root: Path) -> None:
    (root / "kernels/softmax/results/nvidia-h200.json").unlink()
    pages = built(root)
    assert "[not measured yet]" in pages[PAGE] and "A softmax at [not measured yet] of a copy" in pages["index.html"]
    assert "this sentence is not measured yet" in pages[PAGE]


def test_a_broken_claim_is_shown_in_the_preview_and_stops_no_measurement(root: Path) -> None:
    measure(root, 150.0)
    site = PreviewSite(root)
    site.follow()
    assert "the record does not support this sentence" in str(site.file(PAGE))
    assert "SG309" in site.report and not site.failed
    write(root, POST, FRONT + BODY.replace("2x torch", "1.5x torch"))
    site.follow([POST])
    assert "the record supports this sentence" in str(site.file(PAGE))
    assert "SG309" not in site.report
    assert sitegen("status").exit_code == 0


def test_a_claim_of_the_worklog_is_a_warning(root: Path) -> None:
    write(root, POST, FRONT + "Text.\n")
    write(root, "content/worklog/2026-11-21.md", "```{claim} softmax/fused >= 9x torch\nIt is fast.\n```\n")
    result = sitegen("build")
    assert result.exit_code == 0 and "warning[SG309]" in result.stderr


def test_status_lists_every_claim_with_its_margin(root: Path) -> None:
    text = sitegen("status", "--claims").stdout
    assert f"{POST}:8: holds: softmax/fused >= 2x torch" in text
    assert "nvidia-h200: 8192x8192:float32: 2.091 × torch, 95 % interval 2.089 × to 2.093 ×, margin 4.4 %" in text
    assert "claims: 1 holds" in sitegen("status").stdout
    [row] = json.loads(sitegen("status", "--claims", "--json").stdout)
    [check] = row["checks"]
    assert (row["state"], row["place"], check["gpu"], check["supported"]) == ("holds", f"{POST}:8", "nvidia-h200", True)
    assert check["margin"] == pytest.approx(276 / 132 * 0.999 / 2 - 1, rel=1e-3)


def records(root: Path) -> Iterator[Path]:
    """Yield the files of two records, before and after the fused kernel became slower."""
    for name, us in (("before", 132.0), ("after", 150.0)):
        measure(root, us)
        path = root / f"{name}.json"
        path.write_bytes((root / "kernels/softmax/results/nvidia-h200.json").read_bytes())
        yield path


def test_compare_names_the_sentences_that_the_new_record_makes_false(root: Path) -> None:
    before, after = map(str, records(root))
    named = f"{POST}:8: “The fused kernel is twice as fast as torch.” is false now"
    assert named in sitegen("compare", before, after).stdout
    assert "1.840 × torch" in sitegen("compare", before, after).stdout
    assert f"- {named}" in sitegen("compare", "--markdown", before, after).stdout
    assert named not in sitegen("compare", after, before).stdout
    as_json = sitegen("compare", "--json", before, after)
    assert json.loads(as_json.stdout) and named in as_json.stderr


def test_an_unknown_name_in_a_title_is_a_mistake_at_its_place(root: Path) -> None:
    write(root, POST, FRONT.replace("softmax/fused of-copy", "softmax/fusd of-copy") + BODY)
    said = broken()
    assert "error[SG205]: unknown implementation of softmax `fusd`" in said and f"{POST}:2:37" in said


def test_check_warns_of_a_typed_figure_and_offers_the_value_that_fits(root: Path) -> None:
    write(root, POST, FRONT + BODY + "\nThe fused kernel takes 132 µs, and 77 % is wrong.\n")
    write(root, "content/worklog/2026-11-21.md", "It took 132 µs and 133 µs.\n")
    result = sitegen("check")
    assert result.exit_code == 1
    assert f"{POST}:12:24" in result.stderr
    assert "write {value}`softmax/fused@8192x8192:float32 time`" in result.stderr
    assert (
        "the figure `77 %` is typed" in result.stderr and "no record of a kernel of this text has it" in result.stderr
    )
    assert sitegen("build").exit_code == 0 and "SG137" not in sitegen("build").stderr


@pytest.mark.parametrize(
    ("shown", "warned"), [("", ["2 %", "12 %", "4.5 TB/s"]), ("softmax", ["2 %", "12 %", "1 ms", "4.5 TB/s"])]
)
def test_a_limit_may_be_typed_in_a_text_without_kernels(root: Path, shown: str, warned: list[str]) -> None:
    words = "It is 2 % of all, about 12 %, takes less than 1 ms and reads at most 4.5 TB/s.\n"
    fence = f"\n```{{benchmark}} {shown}\n```\n" if shown else ""
    write(root, "content/posts/limits.md", f"---\ntitle: Limits\ndate: 2026-11-20\n---\n{words}{fence}")
    said = sitegen("check").stderr
    assert re.findall(r"the figure `(.*)` is typed\n  content/posts/limits", said) == warned


def test_a_typed_figure_of_the_worklog_is_one_of_its_day(root: Path) -> None:
    write(root, "content/worklog/2026-11-21.md", "It took 132 µs and 133 µs.\n")
    result = sitegen("check")
    assert result.exit_code == 0
    assert "SG137" not in result.stderr


def test_a_wrong_figure_of_a_given_kind_is_found_wherever_it_stands(root: Path) -> None:
    write(
        root,
        POST,
        FRONT.replace("date:", "description: At 4.07 TB/s.\ndate:", 1).replace("description: It", "#") + "Text.\n",
    )
    assert "the figure `4.07 TB/s` is typed" in sitegen("check").stderr


def test_a_site_without_kernels_has_no_typed_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "content/site.yaml", FILES["content/site.yaml"])
    write(tmp_path, "content/posts/fast.md", "---\ntitle: Fast\ndate: 2026-11-20\n---\nIt moves 4.04 TB/s.\n")
    monkeypatch.chdir(tmp_path)
    assert sitegen("check").stderr == "no mistakes\n"


def test_a_twin_and_a_feed_have_the_figures_and_the_evidence_as_text(root: Path) -> None:
    write(root, "content/site.yaml", FILES["content/site.yaml"] + "twins: true\n")
    write(root, "kernels/softmax/fused.py", "# other code\ndef softmax(x, *, out=None): ...\n")
    pages = built(root)
    twin = pages["posts/fast/index.md"]
    assert "It moves 4.07\u00a0TB/s (stale)." in twin and "{value}" not in twin
    assert "The fused kernel is *twice* as fast as torch." in twin and "the record of this sentence is stale" in twin
    assert "4.07\u00a0TB/s (stale)" in pages["feed.xml"] and "data-from" not in pages["feed.xml"]


def test_verify_traces_every_figure_and_finds_one_changed_digit_with_its_place(root: Path) -> None:
    built(root)
    whole = sitegen("verify", "--strict")
    assert whole.exit_code == 0, whole.stderr
    assert re.search(r"figures: (\d+) found on \d+ pages, \1 traced, 0 untraced", whole.stdout)
    page = root / "public" / PAGE
    text = page.read_text()
    line = text[: text.index(">4.07\u00a0TB/s<")].count("\n") + 1
    page.write_text(text.replace(">4.07\u00a0TB/s<", ">4.17\u00a0TB/s<", 1))
    changed = sitegen("verify")
    assert changed.exit_code == 1
    assert f"{PAGE}:{line}:" in changed.stderr and "the page says `4.17`, and softmax gives `4.07`" in changed.stderr


def test_verify_reports_a_figure_of_no_record_a_page_of_no_text_and_a_record_of_no_kernel(root: Path) -> None:
    built(root)
    write(root, "templates/404.html", "<p id='here'>2.5 times as fast</p>\n<p data-record='gather'>7 %</p>\n")
    (root / "public/old.html").write_text("<p>An old page.</p>")
    assert sitegen("verify").exit_code == 1, "the folder is older than the template"
    built(root)
    (root / "public/old.html").unlink(missing_ok=True)
    assert sitegen("verify").exit_code == 0
    strict = sitegen("verify", "--strict")
    assert strict.exit_code == 1
    assert "404.html:1:14 (#here): no record is named for `2.5 times`" in strict.stderr
    assert "names a record that the site does not have: gather" in strict.stderr
    assert sitegen("verify", "--out", "nowhere").exit_code == 2


def test_verify_names_an_evaluation_that_kernel_yaml_does_not_have(root: Path) -> None:
    record = measure(root, 132.0)
    gone = replace(record.evaluations[-1], name="gone")
    forged = replace(record.evaluations[-2], key="0" * 64)
    save_record(root, replace(record, evaluations=(*record.evaluations[:-2], forged, gone)), RUN)
    built(root)
    result = sitegen("verify")
    assert result.exit_code == 1
    assert "softmax/gone@8192x8192:float32 on nvidia-h200: kernel.yaml has no such implementation" in result.stderr
    assert (
        "softmax/naive@8192x8192:float32 on nvidia-h200: its key and the parts of its key contradict" in result.stderr
    )
