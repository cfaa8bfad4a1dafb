"""Records that somebody edited by hand: `check` and `build` name the file and the line."""

from __future__ import annotations

import gzip
import hashlib
import json
import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

machine = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("gpu_machine.py"))))
ROOT = Path(__file__).parents[2]
RECORD = "kernels/double/results/nvidia-h200.json"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with an honest record."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made: Path = machine.make_site(tmp_path / "site")
    monkeypatch.chdir(made)
    result = machine.answer(machine.bundled(tmp_path), tmp_path / "result.zip")
    assert machine.sitegen("accept", str(result)).exit_code == 0
    assert machine.sitegen("check").exit_code == 0
    return made


def edited(path: Path, change: Callable[[Any], object]) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def reported(site: Path, change: Callable[[Any], object]) -> str:
    """Return the output of `check` and `build` for the record after a change."""
    edited(site / RECORD, change)
    checked, built = machine.sitegen("check"), machine.sitegen("build", "--quiet")
    assert checked.exit_code == built.exit_code == 1
    assert f"  {RECORD}:" in checked.stderr and f"  {RECORD}:" in built.stderr
    assert f"  {RECORD}:1:1" not in checked.stderr, "the line is not named"
    said: str = checked.stderr
    return said


def faster(evaluation: dict[str, Any], factor: float) -> None:
    timed = evaluation["performance"]
    for name, value in timed.items():
        if name.endswith("_us"):
            timed[name] = [one / factor for one in value] if isinstance(value, list) else value / factor


def of_right(record: Any) -> Any:
    return next(one for one in record["evaluations"] if one["name"] == "right")


def test_all_times_of_softmax_are_divided_by_ten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page showed 40 TB/s, and `build --require-fresh --require-current` passed."""
    for room in ("content", "series", "kernels"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    record = "kernels/softmax/results/nvidia-h200.json"
    edited(tmp_path / record, lambda data: [faster(e, 10) for e in data["evaluations"] if e.get("performance")])
    done = machine.sitegen("build", "--quiet")
    assert done.exit_code == 1 and f"  {record}:" in done.stderr
    assert "above the memory ceiling" in done.stderr


def test_one_time_is_one_percent_better(site: Path) -> None:
    """The edit is too small for any ceiling, and the samples contradict it."""
    assert "the samples give 540" in reported(site, lambda data: faster(of_right(data), 1.01))


def test_a_ratio_is_doubled(site: Path) -> None:
    """Only `vs torch` is edited, which no ceiling limits."""

    def change(data: Any) -> None:
        for ratio in of_right(data)["performance"]["ratios"]:
            ratio |= {"value": ratio["value"] * 2, "high": ratio["high"] * 2}

    assert "the ratio to torch" in reported(site, change)


def test_the_samples_are_removed_with_the_edit(site: Path) -> None:
    """No sample is left that contradicts the edited time."""

    def change(data: Any) -> None:
        faster(of_right(data), 1.01)
        del of_right(data)["samples"]

    assert "no samples" in reported(site, change)


def test_the_artefact_is_replaced_under_its_old_name(site: Path) -> None:
    """The samples fit the edited time and replace the honest ones in their file."""

    def change(data: Any) -> None:
        artefact = site / f"kernels/double/results/artefacts/{of_right(data)['samples']}.samples.gz"
        artefact.write_bytes(gzip.compress(machine.samples(540 / 1.01), mtime=0))
        faster(of_right(data), 1.01)

    assert "another hash" in reported(site, change)


def test_the_artefact_is_a_bomb(site: Path) -> None:
    """The artefact is 2 MB that unpack to 2 GB of zeros: it is not unpacked."""

    def change(data: Any) -> None:
        artefact = site / f"kernels/double/results/artefacts/{of_right(data)['samples']}.samples.gz"
        artefact.write_bytes(gzip.compress(bytes(64 << 20), mtime=0))

    assert "larger than" in reported(site, change)


def test_the_artefact_is_a_link_out_of_the_site(site: Path) -> None:
    """`<sha256>.samples.gz → /etc/passwd` is not opened."""

    def change(data: Any) -> None:
        artefact = site / f"kernels/double/results/artefacts/{of_right(data)['samples']}.samples.gz"
        artefact.unlink()
        artefact.symlink_to("/etc/passwd")

    assert "cannot be read" in reported(site, change)


def test_samples_are_forged_with_the_time_beyond_the_ceilings(site: Path) -> None:
    """A new artefact with its own hash supports a time that the memory cannot reach."""

    def change(data: Any) -> None:
        content = machine.samples(54.0)
        digest = hashlib.sha256(content).hexdigest()
        path = site / f"kernels/double/results/artefacts/{digest}.samples.gz"
        path.write_bytes(gzip.compress(content, mtime=0))
        faster(of_right(data), 10)
        of_right(data)["samples"] = digest

    assert "above the memory ceiling" in reported(site, change)


def test_the_ceilings_are_raised_with_the_time(site: Path) -> None:
    """The datasheet of the GPU limits its ceilings: 40 TB/s under a ceiling of 42 TB/s is refused."""

    def change(data: Any) -> None:
        for ceiling in data["runs"][0]["ceilings"]:
            ceiling |= {"rate": ceiling["rate"] * 10, "probes": {name: v * 10 for name, v in ceiling["probes"].items()}}

    assert "such a GPU can do" in reported(site, change)


def test_a_ceiling_above_its_own_probes(site: Path) -> None:
    """A raised ceiling makes every bar shorter; a ceiling must be the best of its probes."""
    assert "best of its probes" in reported(site, lambda data: data["runs"][0]["ceilings"][0].update(rate=4.5e12))


def test_the_ceilings_are_removed(site: Path) -> None:
    """No time is above a memory ceiling that is missing."""
    assert "no memory ceiling" in reported(site, lambda data: data["runs"][0].pop("ceilings"))


def test_an_error_above_the_tolerance_is_called_passed(site: Path) -> None:
    """The check of the error is repeated with the tolerance of kernel.yaml if the record follows today's rules."""

    def change(data: Any) -> None:
        of_right(data)["correctness"] |= {"relative_error": 0.9, "tolerance": 1e9}

    assert "above the tolerance 1e-06" in reported(site, change)


def test_the_rules_of_the_key_are_edited_and_its_digest_is_not(site: Path) -> None:
    """The record stays fresh by its digest, so today's rules apply to it, whatever its parts say."""

    def change(data: Any) -> None:
        of_right(data)["correctness"] |= {"relative_error": 0.9, "tolerance": 1e9}
        of_right(data)["key_parts"]["tolerance"] = "0" * 16

    assert "above the tolerance 1e-06" in reported(site, change)


def test_a_stale_record_is_judged_by_its_own_tolerance(site: Path) -> None:
    """Not an attack: kernel.yaml became stricter, so the record is stale, which is no mistake of the site."""
    kernel = site / "kernels/double/kernel.yaml"
    kernel.write_text(kernel.read_text().replace("float32: 1e-6", "float32: 1e-9"))
    done = machine.sitegen("check")
    assert done.exit_code == 0, done.stderr
    assert "stale: tolerance changed" in machine.sitegen("status").stdout


def test_a_stale_record_lacks_the_param_that_a_formula_now_names(site: Path) -> None:
    """Not an attack: a formula with a new param ended `build` with a FormulaError for every old record."""
    kernel = site / "kernels/double/kernel.yaml"
    text = kernel.read_text().replace("reads: N * itemsize", "reads: N * itemsize * k\nparams: {k: [1, 2]}")
    kernel.write_text(text)
    assert machine.sitegen("build", "--quiet").exit_code == 0


def test_the_formula_is_edited_instead_of_the_record(site: Path) -> None:
    """Ten times the bytes at the same time: the figures are above every ceiling again."""
    kernel = site / "kernels/double/kernel.yaml"
    kernel.write_text(kernel.read_text().replace("reads: N * itemsize", "reads: 10 * N * itemsize"))
    done = machine.sitegen("check")
    assert done.exit_code == 1 and "above the memory ceiling" in done.stderr


def test_the_verdict_is_found_again_by_an_incremental_build(site: Path) -> None:
    """The verdict is cached by the content of records and artefacts: a build sees an edit, and also its repair."""
    assert machine.sitegen("build", "--quiet").exit_code == 0
    honest = (site / RECORD).read_bytes()
    artefact = next((site / "kernels/double/results/artefacts").iterdir())
    packed = artefact.read_bytes()
    artefact.write_bytes(gzip.compress(b"{}", mtime=0))
    assert machine.sitegen("build", "--quiet").exit_code == 1
    assert machine.sitegen("build", "--quiet").exit_code == 1
    artefact.write_bytes(packed)
    assert machine.sitegen("build", "--quiet").exit_code == 0
    edited(site / RECORD, lambda data: faster(of_right(data), 1.01))
    assert machine.sitegen("build", "--quiet").exit_code == 1
    (site / RECORD).write_bytes(honest)
    assert machine.sitegen("build", "--quiet").exit_code == 0


def test_status_says_it_too(site: Path) -> None:
    """`status` and `build --require-fresh` called an edited record fresh."""
    edited(site / RECORD, lambda data: faster(of_right(data), 1.01))
    done = machine.sitegen("status")
    assert done.exit_code == 1 and "the samples give" in done.stderr


def test_every_record_of_this_repository_is_believed() -> None:
    """Not an attack: the samples of this repository's records confirm their times."""
    from sitegen.pipeline.in_memory import load

    loaded = load(ROOT)
    assert [d.message for d in loaded.diagnostics] == []
    assert len(loaded.records.kernels) >= 5


WORDS = "<script>f()</script> <img src=x onerror=f()> [x](javascript:f()) `"


def failed(data: Any, message: str) -> None:
    evaluation = of_right(data)
    keep = ("dtype", "name", "role", "run", "workload", "key", "key_parts")
    kept = {name: evaluation[name] for name in keep if name in evaluation}
    evaluation.clear()
    evaluation.update(kept, status="runtime_error", message=message)


def test_markup_in_a_record_is_text_in_every_markdown_file(site: Path) -> None:
    def change(data: Any) -> None:
        data["runs"][0]["environment"]["driver"] = WORDS
        failed(data, WORDS)

    edited(site / RECORD, change)
    with (site / "content/site.yaml").open("a") as settings:
        settings.write("twins: true\n")
    built = machine.sitegen("build")
    assert built.exit_code == 0, built.output
    twins = [path.read_text() for path in (site / "public").rglob("*.md")]
    assert sum("&#60;script>" in text for text in twins) >= 1
    assert not any("<script" in text or "<img" in text or "](javascript" in text for text in twins)


@pytest.mark.parametrize("odd", ["\x1b[31m", "\x07", "\u202e", "\u2066", "\x9b"])
def test_a_control_character_in_a_message_is_a_mistake(site: Path, odd: str) -> None:
    said = reported(site, lambda data: failed(data, f"a{odd}b"))
    assert "error[SG307]: message has a control character" in said and odd not in said
    said = reported(site, lambda data: data["runs"][0]["environment"].update(driver=f"a{odd}b"))
    assert "error[SG307]: driver has a control character" in said


def test_a_comparison_prints_no_control_character_and_no_markup(site: Path) -> None:
    shutil.copy(site / RECORD, site / "before.json")
    edited(site / RECORD, lambda data: failed(data, WORDS))
    said = machine.sitegen("compare", "before.json", RECORD, "--markdown").output
    assert "&#60;script>" in said and "<script>" not in said and "](javascript" not in said
    for form in ((), ("--markdown",), ("--json",)):
        edited(site / RECORD, lambda data: failed(data, "a\x1b]0;x\x07\u202eb"))
        said = machine.sitegen("compare", "before.json", RECORD, *form).output
        assert not set("\x1b\x07\u202e") & set(said)
