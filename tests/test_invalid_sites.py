"""Diagnostics of the sites below sites_invalid/, one for each mistake, with the exact text that the author sees.

`pytest --update-expected` writes the texts anew; read the diff before you commit it.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "sites_invalid"
SITES = sorted(path.parent for path in FOLDER.glob("*/expected.txt"))
Diagnose = Callable[[Path], str]


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_the_author_sees_what_is_wrong_and_where(site: Path, diagnose: Diagnose, pytestconfig: pytest.Config) -> None:
    seen, expected = diagnose(site), site / "expected.txt"
    if pytestconfig.getoption("update_expected"):
        expected.write_text(seen, encoding="utf-8")
    assert seen == expected.read_text(encoding="utf-8")


def test_each_folder_has_its_expected_text() -> None:
    assert sorted(path for path in FOLDER.iterdir() if path.is_dir()) == SITES


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_a_mistake_is_shown_with_its_place_and_nothing_of_this_machine(site: Path) -> None:
    text = (site / "expected.txt").read_text(encoding="utf-8")
    assert text.startswith(("error[SG", "warning[SG"))
    assert str(Path.home()) not in text and os.fspath(site.parent) not in text
