"""A result stays fresh when only comments of its sources have changed since, as the kept texts show."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from sitegen.model.record import Counters, Record
from sitegen.results.accept import RunHeader, accept_results, merge_record
from sitegen.results.freshness import kernel_freshness
from sitegen.results.keys import source_part
from sitegen.results.records import Records
from sitegen.results.same_code import source_artefacts
from sitegen.results.store import drop_unreferenced, load_records, record_path, save_artefacts, save_record
from sitegen.results.vacuous_gates import vacuous_gates
from sitegen.results.verify import current_rules_test, verify_records
from sitegen.results.verify_keys import key_contradictions

FUSED = "softmax/fused@1000x1000:float32"
NAIVE = "softmax/naive@1000x1000:float32"
WRONG = "softmax/wrong/no_max"
FILE, CUDA, REFERENCE = "kernels/softmax/fused.py", "kernels/softmax/naive.cu", "kernels/softmax/reference.py"
COMMENTED = {
    FILE: "# A comment.\n{}",
    CUDA: "// A comment.\n{}",
    REFERENCE: '"""A docstring."""\n{}',
    "kernels/common/vec.cuh": "/* Other\n   words. */\n",
    "kernels/softmax/wrong/no_max.py": "{}# The end.\n",
}


@pytest.fixture
def record(made) -> Record:
    return merge_record(made.kernel, None, "nvidia-h200", made.run, [made.result, made.rejected], {})


@pytest.fixture
def stored(made, record, tmp_path):
    """The record on disk, with the texts of its sources."""
    save_record(tmp_path, record, made.run)
    save_artefacts(tmp_path, "softmax", source_artefacts(record, made.files.values()))
    return tmp_path


def edited(made, **changes: str):
    """Return the site with other comments, or with these files."""
    files = {path: text.format(made.files[path]) for path, text in COMMENTED.items()}
    return replace(made.site, files={**made.files, **(changes or files)})


def states(root, site) -> dict[str, str]:
    records, _ = load_records(root, site)
    record = records.kernels["softmax", "nvidia-h200"]
    found = kernel_freshness(site.kernels[0], site.files, record, {}, records.same_code)
    return {title: one.sentence for title, one in found.items()}


def path_of(root, text: str):
    return root / f"kernels/softmax/results/artefacts/{source_part(text)}.source.gz"


def test_other_comments_leave_evaluations_and_rejections_fresh(made, stored):
    found = states(stored, edited(made))
    assert (found[FUSED], found[NAIVE], found[WRONG]) == ("fresh",) * 3


@pytest.mark.parametrize(
    "text",
    ["# A comment.\n{}x = 1\n", '# A comment.\nx = """A text."""\n{}'],
    ids=["a token behind a comment", "a text that is used"],
)
def test_other_code_beside_other_comments_is_stale(made, stored, text):
    found = states(stored, edited(made, **{FILE: text.format(made.files[FILE])}))
    assert (found[FUSED], found[NAIVE]) == ("stale: fused.py changed", "fresh")


def test_only_the_file_with_other_code_is_named(made, stored):
    files = dict(edited(made).files)
    site = replace(made.site, files={**files, "kernels/common/rows.py": "import torch, os\n"})
    assert states(stored, site)[FUSED] == "stale: rows.py changed"


def test_a_file_that_is_new_or_gone_is_stale_whatever_the_comments_are(made, stored):
    new = edited(made, **{FILE: "# A comment.\nimport kernels.softmax.unrelated\n" + made.files[FILE]})
    assert states(stored, new)[FUSED] == "stale: fused.py changed, unrelated.py is new"
    gone = edited(made)
    less = {path: text for path, text in gone.files.items() if path != "kernels/common/rows.py"}
    assert states(stored, replace(gone, files=less))[FUSED] == "stale: rows.py is gone"


def test_another_contract_is_stale_whatever_the_comments_are(made, stored):
    site = edited(made)
    kernel = replace(made.kernel, tolerance={"float32": 1.0, "bfloat16": 1.0})
    assert states(stored, replace(site, kernels=(kernel,)))[FUSED] == "stale: tolerance changed"


def test_line_ends_of_windows_are_no_change(made, stored):
    files = {path: text.replace("\n", "\r\n") for path, text in edited(made).files.items()}
    assert states(stored, replace(made.site, files=files))[FUSED] == "fresh"


def test_a_text_of_windows_is_kept_under_the_name_that_the_key_has(made, record, tmp_path):
    save_record(tmp_path, record, made.run)
    texts = [text.replace("\n", "\r\n") for text in made.files.values()]
    save_artefacts(tmp_path, "softmax", source_artefacts(record, texts))
    assert states(tmp_path, edited(made))[FUSED] == "fresh"


def test_without_the_text_the_result_is_stale(made, stored):
    path_of(stored, made.files[FILE]).unlink()
    site = edited(made)
    assert states(stored, site)[FUSED] == "stale: fused.py changed"
    records, mistakes = load_records(stored, site)
    assert not [d for d in (*mistakes, *verify_records(stored, site, records)) if "source" in d.message]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b"import torch\n"), "another hash"),
        (gzip.compress(b"\xff"), "not UTF-8"),
        (b"no gzip", "not a gzip"),
        (gzip.compress(b"x" * 100)[:-9], "not one whole gzip"),
    ],
    ids=["the text of another file", "no text", "no gzip", "half a gzip"],
)
def test_a_damaged_text_shows_nothing_and_is_a_mistake(made, stored, content, said):
    path_of(stored, made.files[FILE]).write_bytes(content)
    site = edited(made)
    assert states(stored, site)[FUSED] == "stale: fused.py changed"
    records, _ = load_records(stored, site)
    (mistake,) = [d for d in verify_records(stored, site, records) if ".source" in d.message]
    assert mistake.code == "SG308" and said in mistake.message and FILE in mistake.message
    line = (stored / record_path("softmax", "nvidia-h200")).read_text().splitlines()[mistake.span.line - 1]
    assert line.strip().startswith(f'"{FILE}"')


def test_where_nothing_changed_no_text_is_read(made, stored):
    for path in (stored / "kernels/softmax/results/artefacts").iterdir():
        path.write_bytes(b"no gzip")
    records, _ = load_records(stored, made.site)
    assert records.same_code == {}
    assert not [d for d in verify_records(stored, made.site, records) if ".source" in d.message]


def test_the_rules_and_the_keys_of_a_record_with_other_comments_are_today_s(made, stored):
    site = edited(made)
    records, _ = load_records(stored, site)
    record = records.kernels["softmax", "nvidia-h200"]
    one = next(e for e in record.evaluations if e.name == "fused")
    of_older_rules = replace(one, key_parts={n: p for n, p in one.key_parts.items() if n != "checks"})
    assert current_rules_test(made.kernel, site.files, records.same_code)(one)
    assert not current_rules_test(made.kernel, site.files, records.same_code)(of_older_rules)
    assert not list(key_contradictions(made.kernel, record, site.files))


def test_gates_that_reject_nothing_are_said_of_a_reference_with_other_comments(made, record, stored):
    said = ("y: zeros pass at M=1000, N=1000 (error 0.1 of 1)",)
    ones = tuple(
        replace(e, correctness=replace(e.correctness, vacuous=said)) if e.name == "fused" else e
        for e in record.evaluations
    )
    judged = replace(record, evaluations=ones)
    site = edited(made)
    same = load_records(stored, site)[0].same_code
    assert vacuous_gates(made.kernel, [judged], site.files, same)
    assert not vacuous_gates(made.kernel, [judged], site.files, {})


def test_a_new_run_keeps_counters_across_other_comments(made, record, stored):
    counters = Counters(4e6, 4e6, 3.0, 5000.0, calibration={"copy bytes": 1.0})
    counted = replace(
        record,
        evaluations=tuple(replace(e, counters=counters if e.name == "fused" else None) for e in record.evaluations),
    )
    site = edited(made)
    same = load_records(stored, site)[0].same_code
    now = made.key("fused", files=site.files)
    again = replace(
        made.result,
        evaluations=tuple(
            replace(e, key=now.digest, key_parts=now.parts) if e.name == "fused" else e for e in made.result.evaluations
        ),
    )
    for known, kept in ((same, replace(counters, run=made.run.id)), ({}, None)):
        before = Records({("softmax", "nvidia-h200"): counted}, same_code=known)
        header = RunHeader("2026-11-22T06:00:00Z", "abc1234")
        new = accept_results(site, before, header, [made.measured_ceilings, again])
        assert next(e for e in new.records[0].evaluations if e.name == "fused").counters == kept


def test_the_texts_that_a_record_names_are_kept_and_no_others(made, record, stored):
    folder = stored / "kernels/softmax/results/artefacts"
    unused = made.files["kernels/softmax/unrelated.py"]
    assert not path_of(stored, unused).exists()
    save_artefacts(stored, "softmax", {f"{source_part(unused)}.source": b"1"})
    drop_unreferenced(stored, "softmax", [record])
    left = {path.name for path in folder.iterdir()}
    assert left == {f"{source_part(text)}.source.gz" for path, text in made.files.items() if "unrelated" not in path}
    drop_unreferenced(stored, "softmax", [replace(record, evaluations=(), rejections=())])
    assert not list(folder.iterdir())
