"""Names and archives that lead out of a folder, and results that answer another bundle."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import runpy
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sitegen.execute import archive
from sitegen.execute.archive import BadArchive
from sitegen.execute.bundle import run_bundle
from sitegen.execute.targets import Device, Target
from sitegen.measure.sources import source_file, write_sources
from sitegen.model.kernel import Implementation, Kernel, Language

machine = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("gpu_machine.py"))))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made: Path = machine.make_site(tmp_path / "site")
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "package.json").write_text("{}")
    monkeypatch.chdir(made)
    return made


def refused(site: Path, change: Any = lambda head, entries: None) -> str:
    """Return the output of `accept`, after a check that nothing in the site or beside it changed."""
    result = machine.answer(machine.bundled(site.parent), site.parent / "result.zip", change)
    return refused_file(site, result)


def refused_file(site: Path, result: Path, *words: str) -> str:
    before = machine.files_below(site.parent)
    done = machine.sitegen("accept", str(result), *words)
    assert machine.files_below(site.parent) == before, "something was written"
    assert done.exit_code == 1 and "Traceback" not in done.stderr
    said: str = done.stderr
    return said


@pytest.mark.parametrize("label", ["../../../../../../victim/package", "ABSOLUTE", "../answer", "a/b", "", ".", "new"])
def test_a_cell_whose_label_is_a_path(site: Path, label: str) -> None:
    """The label of a cell becomes the name of a file: `../../../../victim/package` overwrote that .json file."""
    label = label.replace("ABSOLUTE", str(site.parent / "victim/absolute"))
    said = refused(site, lambda head, entries: entries["notebook"]["cells"][0].update(label=label))
    assert "the label of no cell" in said


@pytest.mark.parametrize("name", ["../../victim", "/etc", "first/../../.."])
def test_a_notebook_of_a_post_that_is_a_path(site: Path, name: str) -> None:
    """The id of a result names the post in whose folder its cells are stored."""
    said = refused(site, lambda head, entries: entries["notebook"].update(id=f"posts/{name}"))
    assert "none of the jobs that were sent" in said


@pytest.mark.parametrize("name", ["../../x@1:float32", "copy@1:float32", "double"])
def test_a_kernel_that_is_a_path(site: Path, name: str) -> None:
    """The id of a result names the kernel in whose folder its record is stored."""
    said = refused(site, lambda head, entries: entries["kernel"].update(id=name))
    assert "none of the jobs that were sent" in said


@pytest.mark.parametrize("name", ["../right", "torch", "rm -rf", ""])
def test_an_implementation_that_the_kernel_does_not_have(site: Path, name: str) -> None:
    """Names of evaluations reach anchors, charts and the next bundle."""
    assert refused(site, lambda head, entries: entries["kernel"]["evaluations"][0].update(name=name))


def test_a_probe_of_any_name(site: Path) -> None:
    """The names of probes were those that the result brought: `<script>` was stored as one."""
    assert refused(site, lambda head, entries: entries["kernel"]["evaluations"][2].update(name="<script>"))


def test_a_gpu_whose_name_is_a_path(site: Path) -> None:
    """The id of a GPU is the name of its record's file: only letters, digits and `-` of the GPU's name are kept."""

    def change(head: Any, entries: Any) -> None:
        for entry in entries.values():
            entry["environment"] = {**machine.ENVIRONMENT, "gpu": "../../../victim/" + "x" * 300}

    assert refused(site, change)


@pytest.mark.parametrize("name", ["../../../../victim/package.samples", "x/y.samples", ".samples", "0" * 64 + "/.ptx"])
def test_an_artefact_whose_name_is_a_path(site: Path, name: str) -> None:
    """An artefact is a file of its own, named by the hash of its content."""
    packed = base64.b64encode(gzip.compress(b"x", mtime=0)).decode()
    assert refused(site, lambda head, entries: entries["kernel"]["artefacts"].update({name: packed}))


@pytest.mark.parametrize(
    "packed",
    [b"", b"\x1f\x8b", gzip.compress(b"x" * 99, mtime=0)[:-9], gzip.compress(b"x", mtime=0) + b"tail"],
    ids=["empty", "no more than its head", "cut short", "with a tail"],
)
def test_an_artefact_that_is_a_damaged_gzip(site: Path, packed: bytes) -> None:
    """A gzip stream ends early, holds no gzip, or continues behind its end."""
    name = f"{hashlib.sha256(b'x').hexdigest()}.samples"
    text = base64.b64encode(packed).decode()
    assert refused(site, lambda head, entries: entries["kernel"]["artefacts"].update({name: text}))


def test_an_artefact_that_is_damaged_within_its_deflate_stream(site: Path) -> None:
    """The header is intact and the compressed bytes are not: zlib raised an exception of its own."""
    packed = bytearray(gzip.compress(bytes(range(256)) * 4, mtime=0))
    packed[10] = 0b111  # the last block, of a type that does not exist
    name = f"{hashlib.sha256(b'x').hexdigest()}.samples"
    text = base64.b64encode(bytes(packed)).decode()
    assert refused(site, lambda head, entries: entries["kernel"]["artefacts"].update({name: text}))


def test_a_zip_whose_deflate_stream_is_damaged(site: Path) -> None:
    """The directory of the zip is intact, and the compressed bytes of one entry are not."""
    result = machine.answer(machine.bundled(site.parent), site.parent / "result.zip")
    with zipfile.ZipFile(result) as opened:
        (entry,) = (one for one in opened.infolist() if one.filename.endswith("0002.json"))
    data = bytearray(result.read_bytes())
    data[entry.header_offset + 60 : entry.header_offset + 90] = b"\xff" * 30
    result.write_bytes(data)
    assert "damaged" in refused_file(site, result)


def test_a_results_folder_that_is_a_link(site: Path) -> None:
    """A site has `kernels/double/results → ../../../victim`, and `accept` wrote the record there."""
    (site / "kernels/double/results").symlink_to(site.parent / "victim")
    result = machine.answer(machine.bundled(site.parent), site.parent / "result.zip")
    assert "a link" in refused_file(site, result)


def test_a_cell_record_below_a_folder_that_is_a_link(site: Path) -> None:
    """Records of cells that a post no longer has are removed; behind a link, those were files of somebody else."""
    (site / "content/posts/first/results").mkdir()
    (site / "content/posts/first/results/nvidia-h200").symlink_to(site.parent / "victim")
    result = machine.answer(machine.bundled(site.parent), site.parent / "result.zip")
    machine.sitegen("accept", str(result))
    assert [path.name for path in (site.parent / "victim").iterdir()] == ["package.json"]


def test_results_of_a_bundle_that_nobody_wrote_here(site: Path) -> None:
    """A stranger sends correct-looking results of a bundle that this site never wrote."""

    def change(head: Any, entries: Any) -> None:
        head["bundle"] = {"nonce": "0" * 32, "sha256": "0" * 64}

    assert "a bundle that this machine did not write" in refused(site, change)


def test_results_that_name_no_bundle(site: Path) -> None:
    """Results of an older sitegen, or of a stranger who knows none of our bundles."""
    assert "which bundle it answers" in refused(site, lambda head, entries: head.pop("bundle"))


def test_results_with_the_hash_of_one_bundle_and_the_nonce_of_another(site: Path) -> None:
    """A stranger who has seen the hash of a bundle has not seen the bundle."""
    said = refused(site, lambda head, entries: head["bundle"].update(nonce="0" * 32))
    assert "another bundle" in said


def test_results_of_another_commit_than_their_bundle(site: Path) -> None:
    """The record would name a commit that was not measured."""
    assert "commit" in refused(site, lambda head, entries: head.update(commit="deadbee"))


def test_another_machine_accepts_with_the_bundle_and_only_with_that_one(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CI accepts on a machine that wrote no bundle: the command line names the file, and another file is refused."""
    sent = machine.bundled(site.parent).rename(site.parent / "sent.zip")
    other = machine.bundled(site.parent)
    result = machine.answer(sent, site.parent / "result.zip")
    monkeypatch.setenv("XDG_STATE_HOME", str(site.parent / "elsewhere"))
    assert "did not write" in refused_file(site, result)
    assert "another bundle" in refused_file(site, result, "--bundle", str(other))
    assert machine.sitegen("accept", str(result), "--bundle", str(sent)).exit_code == 0


def hostile(bundle: Path, kind: str, change: Any) -> Path:
    """Return the bundle after `change` of its job of that kind."""
    manifest, jobs = machine.specs_of(bundle)
    manifest.pop("entries")
    for spec in jobs.values():
        if spec["kind"] == kind:
            change(spec)
    bundle.write_bytes(archive.pack(manifest, jobs))
    return bundle


@pytest.mark.parametrize(
    "change",
    [
        lambda spec: spec["kernel"].update(name="../../../../../victim"),
        lambda spec: spec["kernel"].update(name="/tmp/victim"),
        lambda spec: spec["kernel"]["implementations"][0].update(name="x/../../../../victim/y"),
        lambda spec: spec["kernel"]["implementations"][0].update(file="../../victim/package.json"),
        lambda spec: spec["sources"].update({"../../victim/y.py": ""}),
        lambda spec: spec["sources"].update({"/tmp/victim/y.py": ""}),
        lambda spec: spec["sources"].update({"kernels/./double//y.py": ""}),
    ],
)
def test_a_bundle_that_writes_outside_of_its_folder_on_the_gpu_machine(site: Path, change: Any) -> None:
    """A kernel called `../../victim` wrote the source of its cell there: the bundle is refused before a job begins."""
    bundle = hostile(machine.bundled(site.parent), "kernel", change)
    with pytest.raises(BadArchive):
        run_bundle(bundle, site.parent / "out.zip", Target((Device(),)))
    assert not (site.parent / "out.zip").exists()


@pytest.mark.parametrize("kernel", ["../../victim", "double/../../../victim"])
def test_a_source_that_measure_itself_would_write_elsewhere(tmp_path: Path, kernel: str) -> None:
    """A job can come without a bundle, so the room that writes the files checks the names, too."""
    cell = Implementation("x", "a.md#x", Language.TRITON, source="x = 1\n")
    of_path = Kernel(kernel, "", (), (), (), (), "0", "0", "0", {}, (), (), (), (cell,))
    with pytest.raises(OSError, match="leads out"):
        source_file(tmp_path / "job" / "site", of_path, cell)
    assert not list(tmp_path.rglob("*.py"))


def test_a_source_behind_a_link(tmp_path: Path) -> None:
    """The first source cannot be a link, but a folder can hold a link: no source is written through it."""
    (tmp_path / "site").mkdir()
    (tmp_path / "victim").mkdir()
    (tmp_path / "site/kernels").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="link"):
        write_sources(tmp_path / "site", {"kernels/x.py": "x = 1\n"})
    assert not list((tmp_path / "victim").iterdir())


def test_half_a_character_in_a_result(site: Path) -> None:
    """JSON can escape a lone surrogate, which no file can hold, so that no page with it could be written."""
    result = machine.answer(machine.bundled(site.parent), site.parent / "result.zip")
    with zipfile.ZipFile(result) as opened:
        entries = {name: opened.read(name) for name in opened.namelist()}
    name = next(name for name, data in entries.items() if b'"notebook"' in data)
    entries[name] = entries[name].replace(rb"42\n", rb"\ud800")
    manifest = json.loads(entries["manifest.json"])
    manifest["entries"][name] = {"size": len(entries[name]), "sha256": hashlib.sha256(entries[name]).hexdigest()}
    entries["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(result, "w") as packed:
        for one, data in entries.items():
            packed.writestr(one, data)
    assert "half a character" in refused_file(site, result)


def test_a_bundle_with_a_job_of_no_kind(site: Path) -> None:
    """A job without `kind`, or of a kind that sitegen does not know, ended with a KeyError."""
    bundle = hostile(machine.bundled(site.parent), "notebook", lambda spec: spec.update(kind="shell"))
    with pytest.raises(BadArchive):
        run_bundle(bundle, site.parent / "out.zip", Target((Device(),)))


def test_a_history_that_is_damaged_does_not_end_accept(site: Path) -> None:
    """A line of the history that is no JSON object is reported with its line before anything is stored."""
    result = machine.answer(machine.bundled(site.parent), site.parent / "result.zip")
    folder = site / "kernels/double/results"
    folder.mkdir()
    (folder / "nvidia-h200.history.jsonl").write_text("[1]\n" + json.dumps({"run": 3}) + "\n{\n")
    assert "nvidia-h200.history.jsonl:3:" in refused_file(site, result)
