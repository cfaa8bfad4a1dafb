"""Records on disk: what is written and read, and the message for a file of the wrong shape."""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import json
from dataclasses import replace

import pytest

from sitegen.diagnostics import Span
from sitegen.model.plain import to_plain
from sitegen.model.record import CellRecord, Counters, Evaluation, Output, Performance, Record, Role, Run, Status
from sitegen.model.site import Markdown, Post, Site, SiteConfig
from sitegen.results.json_text import dump, position, to_stored
from sitegen.results.records import Records
from sitegen.results.shape import parse
from sitegen.results.store import drop_unreferenced, load_records, save_artefacts, save_cell, save_record
from sitegen.results.verify import verify_records

PATH = "kernels/softmax/results/nvidia-h200.json"


@pytest.fixture
def record(made) -> Record:
    return Record(1, "softmax", "nvidia-h200", (made.run,), made.evaluations)


def test_a_record_survives_the_disk(made, record, tmp_path):
    save_record(tmp_path, record, made.run)
    loaded, mistakes = load_records(tmp_path, made.site)
    assert not mistakes
    again = loaded.kernels[("softmax", "nvidia-h200")]
    assert dump(to_plain(again)) == dump(to_plain(record))
    assert (again.runs, type(again.evaluations[0].performance)) == (record.runs, Performance)


def test_what_says_nothing_is_not_written_and_comes_back_as_it_was(made, record):
    data = json.loads(dump(to_stored(record)))
    (naive, *_) = data["evaluations"]
    assert not {"message", "compilation", "params", "sanitizer", "counters"} & set(naive)
    assert naive["performance"]["graph"] is False and naive["correctness"]["deterministic"] is True
    assert data["runs"][0]["commit"] == "abc1234" and "throttle" not in naive["performance"]
    again, mistakes = parse(Record, dump(data), PATH)
    assert not mistakes and to_plain(again) == json.loads(dump(to_plain(record)))


def test_an_empty_text_that_the_class_asks_for_is_written(made):
    outside_of_git = replace(made.run, commit="")
    assert to_stored(outside_of_git)["commit"] == ""


def test_a_ratio_is_one_line_with_what_each_process_saw(record):
    lines = dump(to_stored(record)).splitlines()
    (first, *_) = [line.strip() for line in lines if '"baseline": "torch"' in line]
    assert json.loads(first.rstrip(","))["by_process"] == [1.33333, 1.33333]
    assert max(map(len, lines)) <= 150


def test_a_record_of_before_the_new_fields_reads_as_it_did(made, record):
    """The record has every field that was written then, and none of the later ones."""
    data = json.loads(dump(to_plain(record)))
    for evaluation in data["evaluations"]:
        del evaluation["counters"], evaluation["sanitizer"]
        for name in ("by_process_us", "cycle_ratios", "throttle", "sustained"):
            del evaluation["performance"][name]
        for one in evaluation["performance"]["ratios"]:
            del one["by_process"]
    old, mistakes = parse(Record, dump(data), PATH)
    assert not mistakes
    assert old.evaluations[0].performance.ratios[0].value == pytest.approx(4.0 / 3.0, rel=1e-5)
    assert {e.performance.by_process_us for e in old.evaluations} == {()}


def test_the_same_record_gives_the_same_bytes_with_lf_and_sorted_keys(record):
    text = dump(to_plain(record))
    assert text == dump(json.loads(text))
    assert "\r" not in text and text.endswith("}\n")
    assert list(json.loads(text)) == sorted(json.loads(text))


def test_floats_have_six_digits_whatever_the_machine_computed():
    assert dump({"a": 0.1 + 0.2, "b": 4_371_234_567_890.123}) == dump({"a": 0.3, "b": 4.37123e12})


def test_a_param_is_what_its_author_wrote():
    assert json.loads(dump({"params": {"eps": 0.12345678}})) == {"params": {"eps": 0.12345678}}


def test_a_changed_figure_is_one_changed_line(made, record):
    changed = replace(record, evaluations=(made.timed("naive", 3.3), *record.evaluations[1:]))
    before, after = dump(to_stored(record)).splitlines(), dump(to_stored(changed)).splitlines()
    differing = [new for old, new in zip(before, after, strict=True) if old != new]
    assert any('"median_us": 3.3' in line for line in differing)
    assert len(differing) < 12


def test_nan_is_stored_as_a_word_and_read_as_nan(made, record, tmp_path):
    worse = replace(made.evaluations[0].correctness, relative_error=float("nan"))
    failed = replace(made.evaluations[0], status=Status.INCORRECT, performance=None, correctness=worse)
    save_record(tmp_path, replace(record, evaluations=(failed,)), made.run)
    loaded, mistakes = load_records(tmp_path, made.site)
    error = loaded.kernels[("softmax", "nvidia-h200")].evaluations[0].correctness.relative_error
    assert not mistakes and error != error


def broken(record: Record, change) -> list[tuple[str, str, str]]:
    """Return (code, message, the marked text) of each mistake in the record after `change`."""
    data = json.loads(dump(to_plain(record)))
    change(data)
    text = dump(data)
    found, mistakes = parse(Record, text, PATH)
    assert found is None
    lines = text.splitlines()
    return [(d.code, d.message, lines[d.span.line - 1][d.span.col - 1 :]) for d in mistakes]


def test_every_mistake_of_a_record_is_reported_where_it_stands(record):
    def change(data):
        data["evaluations"][1]["status"] = "great"
        data["evaluations"][2]["performance"]["median_us"] = "fast"
        del data["runs"][0]["commit"]

    found = broken(record, change)
    assert len(found) == 3
    texts = [text for _, _, text in found]
    assert texts[0].startswith("{")  # the run that lacks its commit
    assert texts[1].startswith('"status": "great"')
    assert texts[2].startswith('"median_us": "fast"')
    assert "runs.0.commit" in found[0][1]


def test_speed_without_a_check_is_a_mistake(record):
    def change(data):
        data["evaluations"][0]["status"] = "incorrect"

    ((code, message, _),) = broken(record, change)
    assert code == "SG302" and "performance is recorded only with status passed" in message


def test_an_unknown_field_is_a_mistake_with_a_suggestion(record):
    def change(data):
        data["evaluations"][0]["performance"]["medain_us"] = 1.0

    ((_, message, text),) = broken(record, change)
    assert message == "unknown field `medain_us`" and text.startswith('"medain_us"')


def test_a_newer_schema_is_named(record):
    ((code, message, _),) = broken(record, lambda data: data.update(schema=99))
    assert code == "SG303" and "99" in message


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '{"schema": 1}', "[" * 100_000, '{"schema": [[[}'])
def test_what_is_no_record_is_a_diagnostic_and_no_exception(text):
    found, mistakes = parse(Record, text, PATH)
    assert found is None and mistakes and all(d.code.startswith("SG3") for d in mistakes)


def test_bytes_that_are_no_utf8_are_a_diagnostic(made, tmp_path):
    file = tmp_path / PATH
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"schema": \xff}')
    records, mistakes = load_records(tmp_path, made.site)
    assert records == Records(files={PATH: ""})
    assert [(d.code, d.span.path) for d in mistakes] == [("SG301", PATH)]


def test_a_record_in_the_place_of_another_gpu_is_a_mistake(made, record, tmp_path):
    save_record(tmp_path, replace(record, gpu="nvidia-a100"), made.run)
    (tmp_path / PATH).write_text((tmp_path / PATH.replace("h200", "a100")).read_text())
    _, mistakes = load_records(tmp_path, made.site)
    message = "the gpu of the record is `nvidia-a100`, and that of its path is `nvidia-h200`"
    assert [(d.code, d.message) for d in mistakes] == [("SG304", message)]


def test_a_time_without_a_check_is_a_mistake_of_ours_but_not_of_a_baseline(made, record, tmp_path):
    save_record(
        tmp_path,
        replace(record, evaluations=tuple(replace(e, correctness=None) for e in made.evaluations)),
        made.run,
    )
    _, mistakes = load_records(tmp_path, made.site)
    assert [d.message for d in mistakes] == [
        "naive has a time but no correctness check",
        "fused has a time but no correctness check",
    ]


def test_an_evaluation_of_a_run_that_is_not_there_is_a_mistake(made, record, tmp_path):
    save_record(tmp_path, replace(record, runs=()), made.run)
    _, mistakes = load_records(tmp_path, made.site)
    assert {d.code for d in mistakes} == {"SG305"} and len(mistakes) == 4


def test_an_evaluation_of_a_gpu_that_its_run_does_not_have_is_a_mistake(made, record, tmp_path):
    """Its run has no ceilings for its times, so no page can show a share."""
    stranger = replace(record.evaluations[0], gpu_hash="ab" * 8)
    save_record(tmp_path, replace(record, evaluations=(stranger,)), made.run)
    records, (mistake,) = load_records(tmp_path, made.site)
    assert mistake.code == "SG305" and "no GPU `abababababababab` in the run" in mistake.message
    assert not records.kernels


def test_the_place_of_a_value_is_found_through_strings_that_look_like_structure():
    text = '{"a": "}]{\\"", "b": [1, {"c": 2}],\n "d": {"e": [3, 44]}}'

    def marked(*path):
        line, col, length = position(text, path)
        return text.splitlines()[line - 1][col - 1 : col - 1 + length]

    assert marked("b", 1, "c") == '"c"'
    assert marked("d", "e", 1) == "44"
    assert marked("d", "nowhere", 1) == '"d"'


def test_a_history_has_one_line_per_run_also_when_a_run_is_stored_twice(made, record, tmp_path):
    later = Run("2026-11-22T06:00:00Z", "2026-11-22", "def5678", made.environment)
    save_record(tmp_path, record, made.run)
    save_record(tmp_path, record, made.run)
    save_record(tmp_path, replace(record, runs=(made.run, later)), later)
    lines = (tmp_path / PATH.replace(".json", ".history.jsonl")).read_text().splitlines()
    assert [json.loads(line)["run"] for line in lines] == [made.run.id, later.id]
    assert json.loads(lines[0])["evaluations"]["fused@1000x1000:float32"]["median_us"] == 2.1


def test_artefacts_that_no_record_names_are_removed(made, record, tmp_path):
    keeping = replace(record, evaluations=(replace(made.evaluations[0], samples="a" * 64),))
    save_artefacts(tmp_path, "softmax", {f"{'a' * 64}.samples": b"1", f"{'b' * 64}.ptx": b"2"})
    drop_unreferenced(tmp_path, "softmax", [keeping])
    left = [path.name for path in (tmp_path / "kernels/softmax/results/artefacts").iterdir()]
    assert left == [f"{'a' * 64}.samples.gz"]


def logged(made, record, content: bytes, digest: str) -> tuple[Record, dict[str, bytes]]:
    """The record with a failure and a rejection that name a log by its digest, and an artefact with the content."""
    failed = replace(made.timed("naive", 3.0), status=Status.COMPILE_ERROR, performance=None, log=digest)
    rejected = replace(made.rejected.rejections[0], run=made.run.id, log=digest)
    failing = replace(record, evaluations=(failed, *record.evaluations[1:]), rejections=(rejected,))
    return failing, {f"{digest}.log": gzip.compress(content, mtime=0)}


def test_the_log_of_a_failure_is_read_with_its_record_and_is_kept(made, record, tmp_path):
    text = "naive.cu(4): error: no\n\nall of it\n"
    digest = hashlib.sha256(text.encode()).hexdigest()
    failing, artefacts = logged(made, record, text.encode(), digest)
    save_record(tmp_path, failing, made.run)
    save_artefacts(tmp_path, "softmax", artefacts)
    drop_unreferenced(tmp_path, "softmax", [failing])
    records, mistakes = load_records(tmp_path, made.site)
    assert not mistakes and records.logs == {("softmax", digest): text}


@pytest.mark.parametrize("content", [None, b"another text"])
def test_a_log_that_is_missing_or_another_is_a_mistake_where_it_is_named(made, record, tmp_path, content):
    failing, artefacts = logged(made, record, content or b"", "c" * 64)
    save_record(tmp_path, failing, made.run)
    save_artefacts(tmp_path, "softmax", artefacts if content else {})
    records, _ = load_records(tmp_path, made.site)
    mistakes = [d for d in verify_records(tmp_path, made.site, records) if "its log is missing" in d.message]
    assert [d.code for d in mistakes] == ["SG308"] * 2 and records.logs == {}
    lines = (tmp_path / PATH).read_text().splitlines()
    assert all(lines[d.span.line - 1].strip().startswith('"log"') for d in mistakes)


@pytest.mark.parametrize(("text", "line"), [("kernel: softmax\nreads: N\nwrites: N\n", 2), ("{kernel: softmax}\n", 1)])
def test_a_formula_is_one_mistake_at_its_line_however_many_measurements_contradict_it(made, tmp_path, text, line):
    counters = Counters(12e6, 4e6, 3.0, 5000.0, calibration={"copy bytes": 1.0})
    run = replace(made.run, environment=replace(made.environment, l2_bytes=250_000))
    counted = (
        made.timed("fused", 3.0, counters=counters),
        made.timed("fused", 3.0, counters=counters, dtype="bfloat16"),
    )
    (tmp_path / "kernels/softmax").mkdir(parents=True)
    (tmp_path / "kernels/softmax/kernel.yaml").write_text(text)
    record = Record(1, "softmax", "nvidia-h200", (run,), counted)
    save_record(tmp_path, record, run)
    records = Records({("softmax", "nvidia-h200"): record})
    [found] = [d for d in verify_records(tmp_path, made.site, records) if d.code == "SG404"]
    assert found.message.startswith("softmax@1000x1000:float32: kernel.yaml says")
    assert found.message.endswith("(+100.0%); other contradictions: 1")
    assert (found.span.path, found.span.line) == ("kernels/softmax/kernel.yaml", line)


def test_a_cell_survives_the_disk(made, tmp_path):
    cell = CellRecord(1, "first-look", "nvidia-h200", "k", made.run, Status.PASSED, (Output("stream", "1 × 2\n"),))
    save_cell(tmp_path, "content/posts/softmax", cell)
    post = Post(
        "softmax",
        "T",
        dt.date(2026, 11, 21),
        Markdown("", "content/posts/softmax/index.md"),
        Span("x"),
        folder="content/posts/softmax",
    )
    records, mistakes = load_records(tmp_path, Site(SiteConfig("t", "https://x/"), posts=(post,)))
    assert not mistakes and records.cells == {("softmax", "first-look", "nvidia-h200"): cell}


def test_a_baseline_is_stored_without_a_key():
    assert Evaluation(Role.BASELINE, "torch", "w", "float32", "r", Status.NOT_RUN).key == ""


def counted_later(made, record):
    """Return the record with counters of a later run, and that run."""
    later = replace(made.run, id="2026-11-22T06:00:00Z", date="2026-11-22")
    counters = Counters(4e6, 4e6, 3.0, 5000.0, calibration={"copy bytes": 1.0}, run=later.id)
    first = replace(record.evaluations[0], counters=counters, sanitizer={"memcheck": ""}, sanitizer_run=later.id)
    return replace(record, runs=(*record.runs, later), evaluations=(first, *record.evaluations[1:])), later


def test_a_run_of_tools_alone_adds_no_line_to_the_history(made, record, tmp_path):
    save_record(tmp_path, record, made.run)
    save_record(tmp_path, *counted_later(made, record))
    loaded, mistakes = load_records(tmp_path, made.site)
    assert not mistakes
    assert [past.run for past in loaded.histories["softmax", "nvidia-h200"]] == [made.run.id]
    assert loaded.kernels["softmax", "nvidia-h200"].evaluations[0].sanitizer_run == "2026-11-22T06:00:00Z"


def test_counters_of_a_run_that_the_record_lacks_are_a_mistake(made, record, tmp_path):
    counted, later = counted_later(made, record)
    save_record(tmp_path, replace(counted, runs=record.runs), later)
    _, mistakes = load_records(tmp_path, made.site)
    assert [one.code for one in mistakes] == ["SG305", "SG305"]
    assert {one.span.line for one in mistakes if one.span} and "2026-11-22T06:00:00Z" in mistakes[0].message


def test_records_that_are_known_to_be_right_are_loaded_without_checks_and_the_same(made, record, tmp_path, monkeypatch):
    save_record(tmp_path, record, made.run)
    checked, mistakes = load_records(tmp_path, made.site)
    assert not mistakes
    monkeypatch.setattr("sitegen.results.shape.problems", lambda record: pytest.fail("checked again"))
    monkeypatch.setattr("sitegen.results.store.same_code", lambda *_: pytest.fail("compared again"))
    assert load_records(tmp_path, made.site, known=checked.same_code) == (checked, ())
