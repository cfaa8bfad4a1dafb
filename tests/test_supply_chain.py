"""What sitegen is made of: the locked files, the licences and the bill of materials agree with what is installed."""

from __future__ import annotations

import hashlib
import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
pin = SimpleNamespace(**runpy.run_path(str(ROOT / ".ci" / "pin")))


def locked(name: str) -> dict[str, tuple[str, list[str]]]:
    """Return version and hashes of each package of a locked file."""
    text = (ROOT / "locked" / f"{name}.txt").read_text()
    blocks = re.findall(r"^([\w.-]+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", text, re.MULTILINE)
    assert len(blocks) == len(re.findall("==", text))  # no line of another form
    return {name: (version, re.findall("[0-9a-f]{64}", hashes)) for name, version, hashes in blocks}


@pytest.mark.parametrize("name", pin.LOCKS)
def test_locked_file_has_the_versions_of_the_constraints_with_hashes(name: str) -> None:
    known = pin.pins()
    for package, (version, hashes) in locked(name).items():
        assert known[package] == version
        assert hashes and len(set(hashes)) == len(hashes)


@pytest.mark.parametrize("name", ["site", "docs"])  # the tests' own packages need not be installed here
def test_locked_file_has_every_package_that_is_needed_and_no_other(name: str) -> None:
    assert set(locked(name)) == set(pin.closure([*pin.requirements(pin.LOCKS[name]), "hatchling"])) | {"editables"}


def test_everything_that_the_tests_ask_for_is_locked() -> None:
    asked = {re.match(r"[\w.-]+", text)[0].lower().replace("_", "-") for text in pin.requirements(pin.LOCKS["test"])}  # type: ignore[index]
    assert asked <= set(locked("test")) and set(locked("site")) <= set(locked("test"))


def test_make_installs_locked_files_alone() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^LOCKED := --require-hashes ", makefile, re.MULTILINE)
    assert "--constraint" not in makefile
    assert all(f"$(LOCKED) locked/{name}.txt" in makefile for name in pin.LOCKS)


def test_licences_and_materials_are_those_of_what_is_installed() -> None:
    assert (ROOT / "THIRD_PARTY.md").read_text() == pin.third_party(), "run .venv/bin/python .ci/pin"
    assert (ROOT / "sbom.cdx.json").read_text() == pin.materials(), "run .venv/bin/python .ci/pin"


def test_every_file_of_others_is_listed_with_its_licence_beside_it() -> None:
    made_elsewhere = [
        *(ROOT / "sitegen" / "markup" / "vendor").rglob("*.js"),
        *(path for path in (ROOT / "templates").rglob("*") if path.suffix in (".woff2", ".ttf", ".otf")),
    ]
    listed = {path: terms for _, _, terms, path, _ in pin.VENDORED}
    assert set(listed) == {path.relative_to(ROOT).as_posix() for path in made_elsewhere}
    for path in made_elsewhere:
        assert [one for one in path.parent.iterdir() if "LICENSE" in one.name]


def test_bill_of_materials_is_a_graph_whose_ends_are_all_there() -> None:
    bill: dict[str, Any] = json.loads((ROOT / "sbom.cdx.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    known = {one["bom-ref"] for one in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    for node in bill["dependencies"]:
        assert {node["ref"], *node["dependsOn"]} <= known
    (temml,) = (one for one in bill["components"] if one["name"] == "temml")
    content = (ROOT / temml["bom-ref"]).read_bytes()
    assert temml["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}]
    assert all(one.get("licenses") for one in bill["components"])


@pytest.mark.parametrize("name", ["site", "docs"])
def test_what_make_installs_for_a_site_draws_its_diagrams(name: str) -> None:
    content = ROOT / ("content" if name == "site" else "docs/content")
    assert any("```mermaid" in path.read_text("utf-8") for path in content.rglob("*.md"))
    assert "mmdr" in locked(name)
