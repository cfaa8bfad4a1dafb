"""The commands as an author types them, on a site with two kernels of this project and their records."""

import base64
import datetime as dt
import gzip
import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sitegen.cli import common, main, records, try_
from sitegen.cli.goals import goal_lines, goal_rows
from sitegen.execute.archive import read
from sitegen.execute.bundle import Results, read_bundle, write_results
from sitegen.execute.plan import DueTools
from sitegen.model.job import JobResult, KernelJob
from sitegen.model.kernel import Goal
from sitegen.model.record import SCHEMA, Evaluation, Record
from sitegen.read.distribution import install_command
from sitegen.results.figures import Figures
from sitegen.results.goals import DramUse, GoalResult, GoalState
from sitegen.results.shape import parse
from sitegen.write.scaffold import create, new_site_files

ROOT = Path(__file__).parent.parent
AS_OF = "2026-11-30"
DTYPES = ("float32", "bfloat16")
FILES = {
    "content/site.yaml": "title: Kernels\nbase_url: https://example.org/\ngpus: [nvidia-h200]\n",
    "content/posts/softmax/index.md": (
        "---\ntitle: Softmax\ndate: 2026-11-21\n---\n```{benchmark} softmax\n```\n\n"
        "```{code-cell} triton\n#| label: two-pass\n#| implements: softmax/two_pass\n"
        "def softmax(x, *, out=None): ...\n```\n"
    ),
}
"""A post with the table of softmax, and with the implementation that the record has from a cell."""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with the kernels softmax and sum and their records of one GPU.

    To read all kernels of this project takes three times as long, and the records of a second GPU double the rest.
    """
    create(tmp_path, FILES)
    for kernel in ("kernels/softmax", "kernels/sum"):
        shutil.copytree(ROOT / kernel, tmp_path / kernel, ignore=shutil.ignore_patterns("__pycache__", "nvidia-h100-*"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def new_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site as `sitegen new site` makes it, in the working folder, for tests of properties that every site has."""
    create(tmp_path, new_site_files("Kernels", dt.date(2026, 11, 21)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sitegen(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


def built(site: Path) -> dict[str, bytes]:
    public = site / "public"
    return {path.relative_to(public).as_posix(): path.read_bytes() for path in public.rglob("*") if path.is_file()}


def states() -> dict[str, tuple[str, ...]]:
    """Return state and reasons on the H200, by name."""
    rows = json.loads(sitegen("status", "--json").stdout)["nvidia-h200"]
    return {row["name"]: (row["state"], *row["reasons"]) for row in rows}


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.mark.parametrize("words", [("build",), ("--help",), ("explain", "SG205")])
def test_a_platform_on_which_nothing_works_is_refused_in_one_sentence(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    result = sitegen(*words)
    assert result.exit_code == 1
    assert result.stderr == "sitegen: it runs on Linux and macOS, not on win32; on Windows use WSL\n"


def test_outside_of_a_site_the_author_hears_how_to_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = sitegen("build")
    assert result.exit_code == 2
    assert "sitegen new site" in result.stderr


@pytest.mark.parametrize("command", ["check", "build", "serve", "status"])
def test_a_command_for_the_whole_site_says_so_when_it_gets_a_file(site: Path, command: str) -> None:
    done = sitegen(command, "content/posts/softmax/index.md")
    assert done.exit_code == 2
    assert done.output.startswith(f"Error: `{command}` takes no file and no name: it "), "without the usage"
    assert "leave the name out" in done.output


def test_a_site_with_a_mistake_leaves_the_previous_output_as_it_was(site: Path) -> None:
    assert sitegen("build", "--as-of", AS_OF).exit_code == 0
    before = built(site)
    append(site / "content/posts/softmax/index.md", "\n\nA sentence more, and [a link](../nowhere/).\n")
    result = sitegen("build", "--as-of", AS_OF)
    assert result.exit_code == 1
    assert "error[SG201]" in result.stderr and "content/posts/softmax/index.md:" in result.stderr
    assert built(site) == before


def later_post(day: str, head: str = "") -> str:
    return f"---\ntitle: Later\ndate: {day}\n{head}---\nWords.\n"


def waiting(*words: str) -> list[str]:
    """Build, and return the last lines, about posts of later days, which an empty line sets apart."""
    return sitegen("build", *words).stderr.partition("\n\n")[2].splitlines()


def test_build_names_the_posts_that_wait_for_their_day(new_site: Path) -> None:
    posts = {"b": later_post("2026-12-24"), "a": later_post("2026-12-01")}
    posts["draft"] = later_post("2026-12-02", "draft: true\n")
    create(new_site, {f"content/posts/{name}.md": text for name, text in posts.items()})
    both = waiting("--as-of", "2026-11-30")
    assert both[0] == "2 posts are on no page yet: their `date` is later than the day of this build"
    assert both[1:-1] == ["  content/posts/a.md:3: 2026-12-01", "  content/posts/b.md:3: 2026-12-24"]
    assert waiting("--as-of", "2026-11-30") == both, "also when nothing changed"
    assert waiting("--as-of", "2026-12-01") == [
        "1 post is on no page yet: its `date` is later than the day of this build",
        "  content/posts/b.md:3: 2026-12-24",
        "correct a `date` that is wrong, and build again; `sitegen serve` shows the post before its day",
    ]
    assert waiting("--as-of", "2026-12-24") == []
    assert waiting("--as-of", "2026-11-30", "--quiet") == []
    told = json.loads(sitegen("build", "--as-of", "2026-12-23", "--json").stdout)
    assert told["waiting"] == {"content/posts/b.md": "2026-12-24"}


def test_edit_of_a_text_keeps_the_posts_that_wait(new_site: Path) -> None:
    create(new_site, {f"content/posts/l{number}.md": later_post(f"2026-12-0{number}") for number in range(1, 6)})
    first = waiting("--as-of", "2026-11-30")
    assert first[3:5] == ["  content/posts/l3.md:3: 2026-12-03", "  and 2 more"]
    post = new_site / "content/posts/first-kernel.md"
    post.write_text(post.read_text() + "\nMore words.\n")
    assert waiting("--as-of", "2026-11-30") == first


def test_one_statement_of_a_kernel_makes_its_records_stale_and_nothing_else(site: Path) -> None:
    before = states()
    append(site / "kernels/softmax/fused.py", "\nUNUSED = 1\n")
    changed = {name: state for name, state in states().items() if state != before[name]}
    assert len(changed) >= 6 and all(name.startswith("softmax/fused@") for name in changed)
    assert all(state == "stale" and "fused.py changed" in reasons for state, *reasons in changed.values())


def test_one_comment_of_a_kernel_makes_nothing_stale(site: Path) -> None:
    before = states()
    append(site / "kernels/softmax/fused.py", "# one more comment\n")
    assert states() == before


def test_a_stale_record_is_marked_on_the_page_and_refused_on_demand(site: Path) -> None:
    append(site / "kernels/softmax/fused.py", "\nUNUSED = 1\n")
    assert sitegen("build", "--as-of", AS_OF).exit_code == 0
    page = (site / "public/posts/softmax/index.html").read_text(encoding="utf-8")
    assert 'class="state stale"' in page and "fused.py changed" in page
    refused = sitegen("build", "--as-of", AS_OF, "--require-fresh")
    assert refused.exit_code == 1
    assert re.search(r"softmax/fused@8192x8192:float32 on nvidia-h200: stale: .*fused\.py changed", refused.stderr)


def test_a_word_of_prose_makes_nothing_stale(site: Path) -> None:
    before = states()
    append(site / "content/posts/softmax/index.md", "\n\nOne more sentence.\n")
    assert states() == before


def test_a_prediction_and_a_summary_make_nothing_stale(site: Path) -> None:
    before = states()
    text = (site / "kernels/softmax/kernel.yaml").read_text(encoding="utf-8")
    changed = re.sub(r"(summary|predicts): \"?", r"\g<0>Once more, ", text)
    assert changed.count("Once more") > 2
    (site / "kernels/softmax/kernel.yaml").write_text(changed, encoding="utf-8")
    assert states() == before


def test_a_bundle_holds_only_what_is_due(site: Path) -> None:
    def due() -> set[str]:
        assert sitegen("bundle", "-o", "b.zip").exit_code == 0
        if not Path("b.zip").exists():
            return set()
        return (
            {spec["id"] for spec in read(Path("b.zip"), "jobs").entries.values()} if Path("b.zip").exists() else set()
        )

    before = due()
    append(site / "kernels/sum/shared.cu", "constexpr int UNUSED = 1;\n")
    assert due() - before <= {"ceilings", "sum/tools"} | {
        f"sum@{w}:{d}" for w in ("64Mi", "256Mi", "1Gi") for d in DTYPES
    }
    assert due() >= {"sum@256Mi:float32", "ceilings"}


def test_a_bundle_for_a_named_gpu_holds_what_is_due_there(site: Path) -> None:
    def due(*gpu: str) -> set[str]:
        assert sitegen("bundle", "sum", *gpu, "-o", "b.zip").exit_code == 0
        found = read(Path("b.zip"), "jobs").entries.values() if Path("b.zip").exists() else ()
        Path("b.zip").unlink(missing_ok=True)
        return {spec["id"] for spec in found}

    softmax_elsewhere = "kernels/softmax/results/nvidia-h100-80gb-hbm3.json"
    shutil.copy(ROOT / softmax_elsewhere, site / softmax_elsewhere)
    every = due("--gpu", "nvidia-h100-80gb-hbm3")
    assert {f"sum@{w}:{d}" for w in ("64Mi", "256Mi", "1Gi") for d in DTYPES} <= every
    (site / "kernels/sum/results/nvidia-h200.json").unlink()
    append(site / "content/site.yaml", "gpu_aliases: {hopper: nvidia-h200}\n")
    assert due() == due("--gpu", "nvidia-h200") == due("--gpu", "hopper") == every
    result = sitegen("bundle", "sum", "--gpu", "nvdia-h200", "-o", "b.zip")
    assert result.exit_code == 2
    assert "no record of a GPU `nvdia-h200`; did you mean `nvidia-h200`?" in result.stderr
    assert "--try stores none" in sitegen("bundle", "--try", "sum/vec4", "--gpu", "hopper", "-o", "b.zip").stderr


def test_an_unknown_name_is_a_mistake_of_usage_with_a_suggestion(site: Path) -> None:
    result = sitegen("bundle", "softmx", "-o", "b.zip")
    assert result.exit_code == 2
    assert "did you mean `softmax`?" in result.stderr


def test_check_writes_nothing(new_site: Path) -> None:
    assert sitegen("check", "--as-of", AS_OF).exit_code == 0
    assert not (new_site / "public").exists()


@pytest.mark.parametrize("waits", ["date: 2026-11-01\ndraft: true", "date: 2027-11-01"])
def test_check_reads_what_is_not_published_yet(new_site: Path, waits: str) -> None:
    text = f"---\ntitle: Later\n{waits}\n---\n[nowhere](../nowhere/)\n"
    (new_site / "content/posts/later.md").write_text(text, encoding="utf-8")
    result = sitegen("check", "--as-of", AS_OF)
    assert result.exit_code == 1
    assert "leads nowhere\n  content/posts/later.md:" in result.stderr and "1 error, " in result.stderr


def test_check_prints_errors_without_the_warnings_and_counts_both(new_site: Path) -> None:
    text = "---\ntitle: Both\ndate: 2026-11-01\n---\nOf $2N numbers.\n\n[nowhere](../nowhere/)\n"
    (new_site / "content/posts/both.md").write_text(text, encoding="utf-8")
    result = sitegen("check", "--errors", "--as-of", AS_OF)
    assert result.exit_code == 1
    assert "never closed" not in result.stderr and "leads nowhere" in result.stderr
    assert result.stderr.endswith("\n\n1 error, 1 warning\n")
    rows = json.loads(sitegen("check", "--errors", "--json", "--as-of", AS_OF).stdout)
    assert [(row["code"], row["line"]) for row in rows] == [("SG201", 7)]


def test_check_without_warnings_ends_as_it_does_with_them(new_site: Path) -> None:
    text = "---\ntitle: One\ndate: 2026-11-01\n---\nOf $2N numbers.\n"
    (new_site / "content/posts/one.md").write_text(text, encoding="utf-8")
    result = sitegen("check", "--errors", "--as-of", AS_OF)
    assert (result.exit_code, result.stderr) == (0, "0 errors, 1 warning\nwarnings only: exit 0\n")


def test_a_new_post_is_a_draft_that_no_page_shows(new_site: Path) -> None:
    made = sitegen("new", "post", "An unfinished thought")
    assert made.exit_code == 0
    path = new_site / made.stdout.strip()
    assert "draft: true" in path.read_text(encoding="utf-8")
    assert sitegen("build", "--as-of", AS_OF).exit_code == 0
    assert not any(b"unfinished thought" in content for content in built(new_site).values())


def test_a_new_post_is_named_from_where_the_author_stands(new_site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(new_site / "kernels")
    assert sitegen("new", "post", "From below").stdout == "../content/posts/from-below/index.md\n"


def test_a_second_post_of_the_same_title_is_refused(new_site: Path) -> None:
    assert sitegen("new", "post", "Twice").exit_code == 0
    again = sitegen("new", "post", "Twice")
    assert again.exit_code == 1 and "exists already" in again.stderr


def planted_slower(record: Path) -> Path:
    """Write the record with `fused` a tenth slower at the first workload, and its samples, beside the site's own."""
    data = json.loads(record.read_text(encoding="utf-8"))
    one = next(e for e in data["evaluations"] if e["name"] == "fused" and e.get("performance"))
    slow = one["performance"]
    slow |= {name: slow[name] * 1.1 for name in ("median_us", "low_us", "high_us", "min_us", "p20_us", "p80_us")}
    slow |= {name: [us * 1.1 for us in slow[name]] for name in ("by_process_us", "rounds_us")}
    slow |= {"cycles": slow["cycles"] * 1.1} if slow["cycles"] else {}
    slow["ratios"] = [
        {**r, **{n: r[n] / 1.1 for n in ("value", "low", "high")}, "by_process": [v / 1.1 for v in r["by_process"]]}
        for r in slow["ratios"]
    ]
    artefacts = record.parent / "artefacts"
    raw = json.loads(gzip.decompress((artefacts / f"{one['samples']}.samples.gz").read_bytes()))
    content = json.dumps({**raw, "rounds_us": [[us * 1.1 for us in r] for r in raw["rounds_us"]]}).encode()
    one["samples"] = hashlib.sha256(content).hexdigest()
    (artefacts / f"{one['samples']}.samples.gz").write_bytes(gzip.compress(content, mtime=0))
    planted = record.parent.parent / "planted.json"
    planted.write_text(json.dumps(data), encoding="utf-8")
    return planted


def test_goals_are_listed_with_what_decides_them_and_by_how_much_one_is_missed(site: Path) -> None:
    yaml = site / "kernels/softmax/kernel.yaml"
    goals = ("best >= 99x torch @ 8192x8192:float32", "best >= 0.5x torch @ 8192x8192:float32")
    before, rest = yaml.read_text(encoding="utf-8").split("goals:\n")
    behind = "".join(line for line in rest.splitlines(keepends=True) if not line.startswith('  - "'))
    yaml.write_text(before + "goals:\n" + "".join(f'  - "{goal}"\n' for goal in goals) + behind, encoding="utf-8")
    lines = [
        line for line in sitegen("status", "--goals").stdout.splitlines() if re.match("softmax +nvidia-h200", line)
    ]
    shares = r"(0\.\d{3} +){2}(not counted|(not )?DRAM: .*) +\d\.\d\d torch"
    assert re.search(r"99x torch @ 8192x8192:float32 +\w+ +[\d.]+  missed by 9\d\.\d% +" + shares, lines[0])
    assert re.search("  met +" + shares, lines[1]) and len(lines) == 2
    rows = json.loads(sitegen("status", "--goals", "--json").stdout)
    missed, met = (r for r in rows if (r["kernel"], r["gpu"]) == ("softmax", "nvidia-h200"))
    assert (missed["state"], met["state"], met["missed_by"]) == ("missed", "met", None)
    assert missed["missed_by"] == pytest.approx(1 - missed["value"] / 99)
    assert missed["ratios"]["torch"] == missed["value"]
    assert sitegen("status", "--goals", "--claims").exit_code == 2


@pytest.mark.parametrize(
    ("dram", "limit"),
    [
        (None, "not counted"),
        (DramUse(1.0, 0.87), "not DRAM: 1.00x the bytes at 87%"),
        (DramUse(1.3, 0.95), "DRAM: 1.30x the bytes at 95%"),
    ],
)
def test_a_goal_says_whether_dram_is_the_limit(dram: DramUse | None, limit: str) -> None:
    text = "best >= 0.99 of-copy @ 8x8:float32"
    goal = Goal(text, "best", 0.99, "of-copy", "8x8", "float32")
    of_best = Figures(1e12, 0.0, 0.97, 0.98, None, {"torch": 2.0, "copy": 0.98})
    result = GoalResult("softmax", goal, GoalState.MISSED, 0.98, "fused", of_best, dram)
    _, line = goal_lines({"nvidia-h200": [result]})
    cells = ("0.980", "missed by 1.0%", "0.970".ljust(10), "0.980".ljust(7), limit.ljust(15), "2.00 torch")
    assert line == "  ".join(("softmax", "nvidia-h200", text, "fused", *cells))
    assert goal_rows({"nvidia-h200": [result]})[0]["dram_of_ceiling"] == (dram.of_ceiling if dram else None)


def test_the_contents_of_a_site_are_counted(site: Path) -> None:
    before = json.loads(sitegen("status", "--contents", "--json").stdout)
    post = site / "content/posts/softmax/index.md"
    added = "\n\nThree words more: {value}`softmax/fused@8192x8192:float32 time`.\n"
    post.write_text(post.read_text(encoding="utf-8") + added, encoding="utf-8")
    after = json.loads(sitegen("status", "--contents", "--json").stdout)
    changed = {name: after[name] - before[name] for name in after if after[name] != before[name]}
    assert changed.pop("words of all texts") in (3, 4) and changed == {"measured numbers in sentences": 1}
    lines = sitegen("status", "--contents").stdout.splitlines()
    assert [line.split(maxsplit=1)[1] for line in lines] == list(after)
    assert sitegen("status", "--contents", "--claims").exit_code == 2


def test_status_names_the_tools_that_are_due_and_counts_nothing_as_missing(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sitegen.execute.plan.due_tools", lambda inventory, gpu: {})
    before = sitegen("status").stdout.splitlines()
    tools = DueTools(("softmax/fused@8x8:float32", "softmax/fused@9x9:float32"), ("softmax/naive@8x8:float32",))
    due = {"nvidia-h200": {"softmax/tools": tools}}
    monkeypatch.setattr("sitegen.execute.plan.due_tools", lambda inventory, gpu: due.get(gpu, {}))
    after = sitegen("status").stdout.splitlines()
    assert [line for line in after if line not in before] == [
        "nvidia-h200: softmax/tools is due: no counters of softmax/fused@8x8:float32 and 1 more",
        "nvidia-h200: softmax/tools is due: no findings about softmax/naive@8x8:float32",
    ]


def test_a_planted_slow_down_fails_only_who_asked_for_it(site: Path) -> None:
    record = site / "kernels/softmax/results/nvidia-h200.json"
    both = (str(record), str(planted_slower(record)))
    assert sitegen("compare", *both).exit_code == 0
    assert sitegen("compare", *both, "--fail-on", "failed").exit_code == 0
    refused = sitegen("compare", *both, "--json", "--fail-on", "failed", "--fail-on", "slower")
    assert refused.exit_code == 1
    slower = [row for row in json.loads(refused.stdout) if row["verdict"] == "slower"]
    assert len(slower) == 1 and slower[0]["evaluation"].startswith("softmax/fused@")
    assert refused.stderr == f"sitegen: {slower[0]['evaluation']} is slower\n"
    assert sitegen("compare", str(record), str(record), "--fail-on", "slower").exit_code == 0


def made_today(evaluation: Evaluation, job: KernelJob) -> Evaluation:
    """Return the evaluation as if today's code had made it, so that this test holds while the record is stale."""
    kernel, key = job.kernel, job.keys.get(evaluation.name)
    checked = evaluation.correctness and replace(
        evaluation.correctness,
        tolerance=kernel.tolerance[job.dtype],
        input_sets=tuple(dict.fromkeys((*evaluation.correctness.input_sets, *kernel.extra_inputs))),
    )
    made = replace(evaluation, correctness=checked)
    return replace(made, key=key.digest, key_parts=key.parts) if key and evaluation.key else made


def as_result(record: Path, path: Path) -> Path:
    """Return the results that a GPU machine would send if it had measured that record in a run of the next day."""
    known, mistakes = parse(Record, record.read_text(encoding="utf-8"), record.name)
    assert known is not None and not mistakes
    bundle_path = path.with_suffix(".bundle")
    assert sitegen("bundle", "--all", "softmax", "-o", str(bundle_path)).exit_code == 0
    sent = read_bundle(bundle_path)
    run = known.runs[-1]
    results = [JobResult(SCHEMA, "ceilings", "ceilings", run.environment, ceilings=run.ceilings)]
    for job in (job for job in sent.jobs if isinstance(job, KernelJob)):
        here = (e for e in known.evaluations if (e.workload, e.dtype) == (job.workload.name, job.dtype))
        found = tuple(made_today(evaluation, job) for evaluation in here)
        folder = path.parent / "kernels/softmax/results/artefacts"
        names = [f"{e.samples}.samples" for e in found if e.samples]
        packed = {name: base64.b64encode((folder / f"{name}.gz").read_bytes()).decode() for name in names}
        results.append(JobResult(SCHEMA, job.id, "kernel", run.environment, found, artefacts=packed))
    next_day = dt.datetime.fromisoformat(run.id) + dt.timedelta(days=1)
    answer = Results(next_day.strftime("%Y-%m-%dT%H:%M:%SZ"), sent.commit, tuple(results), answers=sent.id)
    write_results(answer, path)
    return path


def test_who_accepts_a_run_hears_what_is_not_the_same_any_more(site: Path) -> None:
    record = site / "kernels/softmax/results/nvidia-h200.json"
    again, slower = as_result(record, site / "again.zip"), as_result(planted_slower(record), site / "slower.zip")
    same = sitegen("accept", str(again))
    assert same.exit_code == 0 and "compared with the records before" in same.stderr
    assert not re.search("^(faster|slower) ", same.stderr, re.MULTILINE)
    heard = sitegen("accept", str(slower))
    assert heard.exit_code == 0 and "records before: 1 evaluation of" in heard.stderr
    last = heard.stderr.splitlines()[-1]
    assert last.startswith("slower    softmax/fused@") and "beyond the threshold" in last


def committed(site: Path, message: str) -> None:
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "--quiet"), ("add", "kernels"), (*author, "commit", "--quiet", "--message", message)):
        subprocess.run(["git", "-C", str(site), *words], check=True, capture_output=True)


def test_revisions_are_compared_with_each_other_and_with_the_files_as_they_stand(site: Path) -> None:
    record = site / "kernels/softmax/results/nvidia-h200.json"
    committed(site, "before")
    record.write_text(planted_slower(record).read_text(encoding="utf-8"), encoding="utf-8")

    def slower(*words: str) -> list[str]:
        rows = json.loads(sitegen("compare", "--json", *words).stdout)
        return [row["evaluation"].partition("@")[0] for row in rows if row["verdict"] == "slower"]

    assert slower("HEAD") == slower("HEAD", str(record)) == ["softmax/fused"]
    committed(site, "after")
    assert slower("HEAD~1", "HEAD") == ["softmax/fused"] and slower("HEAD") == []
    everything = json.loads(sitegen("compare", "--json", "HEAD~1", "HEAD").stdout)
    assert {row["evaluation"].partition("/")[0] for row in everything} > {"softmax"}
    one = json.loads(sitegen("compare", "--json", "HEAD~1", str(record)).stdout)
    assert {row["evaluation"].partition("/")[0] for row in one} == {"softmax"}


def test_a_record_that_a_revision_does_not_have_is_new(site: Path) -> None:
    record = site / "kernels/softmax/results/nvidia-h200.json"
    aside = record.read_text(encoding="utf-8")
    record.unlink()
    committed(site, "without")
    record.write_text(aside, encoding="utf-8")
    rows = json.loads(sitegen("compare", "HEAD", str(record), "--json").stdout)
    assert {row["verdict"] for row in rows} == {"new"}
    assert {row["verdict"] for row in json.loads(sitegen("compare", str(record), "HEAD", "--json").stdout)} == {"gone"}


def test_a_record_with_mistakes_in_a_revision_is_shown_with_its_revision(site: Path) -> None:
    record = site / "kernels/softmax/results/nvidia-h200.json"
    whole = record.read_text(encoding="utf-8")
    record.write_text("{", encoding="utf-8")
    committed(site, "broken")
    record.write_text(whole, encoding="utf-8")
    refused = sitegen("compare", "HEAD")
    assert refused.exit_code == 1 and "HEAD:kernels/softmax/results/nvidia-h200.json" in refused.stderr


@pytest.mark.parametrize("word", ["nowhere", "--all", "kernels"])
def test_a_word_that_is_neither_file_nor_revision_is_a_mistake_of_usage(site: Path, word: str) -> None:
    committed(site, "one")
    refused = sitegen("compare", "--", word)
    assert refused.exit_code == 2 and f"`{word}` is no file, and no revision" in refused.stderr


def test_outside_of_a_repository_only_files_are_compared(site: Path) -> None:
    assert sitegen("compare", "HEAD").exit_code == 2
    assert sitegen("compare", "kernels/softmax/results/nvidia-h200.json").exit_code == 0


def test_a_comparison_has_one_form_and_fails_on_what_can_be_refused(site: Path) -> None:
    record = str(site / "kernels/softmax/results/nvidia-h200.json")
    assert sitegen("compare", record, record, "--json", "--markdown").exit_code == 2
    assert sitegen("compare", record, record, "--fail-on", "same").exit_code == 2


def test_a_bundle_for_a_folder_that_is_not_there_is_refused_before_the_work(site: Path) -> None:
    assert sitegen("bundle", "-o", "b.zip", "--all").exit_code == 0
    for words in (("bundle",), ("run", "--bundle", "b.zip")):
        refused = sitegen(*words, "-o", "no/where.zip")
        assert refused.exit_code == 2 and "there is no folder 'no'" in refused.stderr


def test_a_bundle_is_no_result_and_accept_says_what_makes_one(site: Path) -> None:
    assert sitegen("bundle", "-o", "b.zip", "--all").exit_code == 0
    refused = sitegen("accept", "b.zip")
    assert refused.exit_code == 1
    assert (
        "it holds jobs, not results" in refused.stderr and "`sitegen run --bundle BUNDLE -o RESULT`" in refused.stderr
    )


def test_a_run_without_its_packages_says_what_to_install(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = {"psutil", "torch"}
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name in absent else found(name, *a))
    assert sitegen("bundle", "-o", "b.zip", "--all").exit_code == 0
    for words in (("--all",), ("--bundle", "b.zip", "-o", "r.zip")):
        refused = sitegen("run", *words)
        assert refused.exit_code == 1
        assert f"psutil, torch; `{install_command('cluster', 'gpu')}`" in refused.stderr


def test_a_machine_that_does_not_list_its_processes_is_told_to_mount_them(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sitegen("bundle", "-o", "b.zip", "--all").exit_code == 0
    monkeypatch.setattr(common, "PROCESS", site / "no/self")
    monkeypatch.setattr(records, "TO_RUN", {})
    monkeypatch.setattr(try_, "TO_TRY", {})
    for words in (("run", "--all"), ("run", "--bundle", "b.zip", "-o", "r.zip"), ("try", "softmax/fused")):
        refused = sitegen(*words)
        assert refused.exit_code == 1 and refused.stderr.startswith(f"sitegen: there is no {site}/no/self: Linux lists")
        assert refused.stderr.endswith("or start the container with a /proc of its own\n")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "base.html",
            "<html>\n{% if %}",
            "Expected an expression, got 'end of statement block'\n  templates/base.html:2:1",
        ),
        ("base.html", "{{ pge.title }}", "'pge' is undefined\n  templates/base.html:1:1"),
        (
            "home.html",
            '{% extends "bse.html" %}',
            "no template `bse.html`\n  templates:1:1\n    hint: did you mean `base.html`?",
        ),
    ],
)
def test_a_mistake_in_a_template_of_the_site_is_the_authors(new_site: Path, name: str, text: str, said: str) -> None:
    (new_site / "templates").mkdir()
    (new_site / "templates" / name).write_text(text, encoding="utf-8")
    result = sitegen("check", "--as-of", AS_OF)
    assert result.exit_code == 1
    assert "error[SG502]" in result.stderr and said in result.stderr
