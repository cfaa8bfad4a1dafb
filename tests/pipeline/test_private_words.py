"""What a site keeps to itself occurs in no file that a build writes, and a build that cannot keep it writes nothing."""

import datetime as dt
import gzip
import os
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitegen.pipeline.build import update
from sitegen.pipeline.in_memory import build_in_memory, check
from sitegen.pipeline.preview import PreviewSite
from sitegen.write.scaffold import new_site_files

LIST = "redact:\n  Ada Lovelace: A. L.\n  Żółć: my mentor\n  Max: M.\n  김철수: 멘토\n"
NAMES = ("Lovelace", "Żółć", "Max", "김철수", "salary", "meets the doctor")
SITE = {
    "content/site.yaml": "title: Notes of Ada Lovelace\nbase_url: https://example.org/\ntwins: true\n"
    "feeds: [tags, worklog]\n",
    "content/posts/first/index.md": "---\ntitle: With Max\ndate: 2026-11-20\ntags: [Max]\n"
    "description: As ada lovelace said.\n---\nMax and\nŻółć.\n\n"
    "```{code-cell} python\n#| label: a\nprint('Max')\n```\n",
    "content/pages/about.md": "---\ntitle: About\n---\n*Ada\nLovelace* takes the max of the row. 김철수는 안다.\n",
    "content/terms/warp.md": "---\ntitle: Warp\naliases: [Max]\n---\nŻółć's words.\n",
    "content/worklog/diary.md": "Ada Lovelace's diary.\n\n2026-11-21\n\n- [ ] ask Max\n- private: my salary\n"
    "  and more of salary\n- public\n\n"
    "private:\n- [ ] meets the doctor\n\n2026-11-20\n\nPrivate:\n\n  salary\n\n  more salary\n\nKept.\n",
    "series/all.yaml": "title: For Max\nposts: [first]\n",
    "private.yaml": LIST,
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("SITEGEN_PRIVATE", raising=False)
    for path, text in SITE.items():
        write(tmp_path / "site", path, text)
    return tmp_path / "site"


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def edit(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text(encoding="utf-8")
    assert old in text
    write(root, path, text.replace(old, new, 1))


def published(root: Path) -> str:
    """Return the names and the contents of all files below public/."""
    files = [file for file in (root / "public").rglob("*") if file.is_file()]
    return "".join(f"{file}\n{file.read_bytes().decode('utf-8', 'replace')}" for file in files)


def test_nothing_private_occurs_under_public_and_the_rest_does(site: Path) -> None:
    result = update(site, site / "public", processes=1)
    assert not result.report
    all_files = published(site)
    assert [name for name in NAMES if name in all_files] == []
    for shown in ("A. L.", "my mentor", "멘토는", "takes the max of the row", "public", "Kept.", "With M."):
        assert shown in all_files


EVERYTHING = (
    "title: Notes of Ada Lovelace\nbase_url: https://example.org/\nlanguage: en\ndescription: With Max.\n"
    "twins: true\ncards: true\nsearch: true\nwhole_series: true\nfeeds: [tags, series, worklog]\n"
)
EXERCISE = "---\ntitle: Add for Max\nkernel: axpy\nsolution: tile\ncounted_at: {N: 8}\n---\nAsk Ada Lovelace.\n"


def test_no_kind_of_output_has_a_private_word(site: Path) -> None:
    """Search, feeds, cards, twins, JSON, notebooks, programs, the starter of an exercise: every file is looked into,
    also what is compressed in it."""
    write(site, "content/site.yaml", EVERYTHING)
    kernel = {path: text for path, text in new_site_files("K", dt.date(2026, 11, 1)).items() if "kernels/axpy/" in path}
    for path, text in kernel.items():
        write(site, path, str(text))
    write(site, "content/exercises/add/index.md", EXERCISE)
    write(site, "content/exercises/add/starter.py", "def axpy(x, y, *, alpha):\n    return x\n")
    write(site, "content/worklog/2026-11-19.md", "Max again, and axpy. {term}`warp`\n\n- Q: Who is Max?\n- A: M.\n")
    result = update(site, site / "public", processes=1)
    assert not result.failed, result.report
    tile = "kernels/axpy/tile.py"
    edit(site, tile, '"""', '"""Max: ')
    assert f"{tile}:1:" in update(site, site / "public", processes=1).report  # code stays as it is, so the build fails
    kinds = {file.suffix or file.name for file in (site / "public").rglob("*") if file.is_file()}
    assert {".html", ".xml", ".json", ".md", ".txt", ".ipynb", ".png", ".zip"} <= kinds, kinds
    found = [(name, file) for file, text in opened(site / "public") for name in NAMES if name in text]
    assert found == []


def opened(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file, and of each file in an archive or a compressed file."""
    for file in (file for file in folder.rglob("*") if file.is_file()):
        data = file.read_bytes()
        yield str(file), f"{file.name}\n{data.decode('utf-8', 'replace')}"
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                for name in (name for name in archive.namelist() if "/sitegen/" not in name):  # the program itself
                    yield f"{file}!{name}", f"{name}\n{archive.read(name).decode('utf-8', 'replace')}"
        if data.startswith(b"\x1f\x8b"):
            yield f"{file}!", gzip.decompress(data).decode("utf-8", "replace")


def test_an_edit_of_a_text_or_of_the_list_leaves_nothing_behind(site: Path) -> None:
    update(site, site / "public", processes=1)
    edit(site, "content/posts/first/index.md", "Max and", "Max, Ada Lovelace and")
    update(site, site / "public", processes=1)
    assert "Lovelace" not in published(site)
    edit(site, "private.yaml", "redact:\n", "redact:\n  public: open\n")
    update(site, site / "public", processes=1)
    assert "- open" in published(site)
    (site / "private.yaml").unlink()
    update(site, site / "public", processes=1)
    assert "Lovelace" in published(site) and "salary" not in published(site)


def test_the_list_may_come_from_the_environment_alone(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (site / "private.yaml").unlink()
    monkeypatch.setenv("SITEGEN_PRIVATE", LIST)
    assert not any(name in published(site) for name in NAMES if not update(site, site / "public", processes=1).failed)


LEAKS = {
    "an address": ("content/pages/about.md", "*Ada\n", "[x](https://example.org/ada-lovelace) *Ada\n", ":4:"),
    "an entity": ("content/pages/about.md", "*Ada\n", "Ada&#32;Lovelace *Ada\n", ":4:"),
    "markup": ("content/worklog/diary.md", "- public", "- Ada *Lovelace*", ":8:"),
}


@pytest.mark.parametrize("kind", LEAKS)
def test_a_build_that_would_publish_a_word_fails_at_its_line_and_writes_nothing(site: Path, kind: str) -> None:
    path, old, new, line = LEAKS[kind]
    update(site, site / "public", processes=1)
    before = published(site)
    edit(site, path, old, new)
    result = update(site, site / "public", processes=1)
    assert result.failed and published(site) == before
    assert "error[SG504]" in result.report and f"{path}{line}" in result.report
    assert check(site).failed


def test_a_word_in_the_name_of_a_file_or_in_a_copied_file_is_found(site: Path) -> None:
    edit(site, "content/pages/about.md", "김철수는", "[notes](notes.txt)")
    write(site, "content/pages/notes.txt", "One line.\nŻółć\n")
    assert "content/pages/notes.txt:2:1" in update(site, site / "public", processes=1).report
    write(site, "content/pages/notes.txt", "One line.\n")
    write(site, "content/posts/max/index.md", "---\ntitle: The max\ndate: 2026-11-20\n---\nText.\n")
    assert not update(site, site / "public", processes=1).failed  # a single word counts as it is listed
    write(site, "content/posts/ada-lovelace.md", "---\ntitle: Hers\ndate: 2026-11-20\n---\nText.\n")
    report = update(site, site / "public", processes=1).report
    assert "the address of this file contains entry 1 of the redaction list" in report
    assert "content/posts/ada-lovelace.md:1:1" in report and "rename the file, and correct the links to it" in report
    (site / "content/posts/ada-lovelace.md").unlink()
    write(site, "content/posts/ada-lovelace/index.md", "---\ntitle: Hers\ndate: 2026-11-20\n---\nText.\n")
    assert "rename the folder, and correct the links to it" in update(site, site / "public", processes=1).report


def test_the_preview_shows_no_private_word_and_says_which_page_has_one(site: Path) -> None:
    preview = PreviewSite(site)
    preview.follow()
    page = preview.file("pages/about/index.html") or preview.file("about/index.html")
    assert page and "Lovelace" not in str(page)
    edit(site, "content/pages/about.md", "*Ada\n", "[x](https://example.org/ada-lovelace) *Ada\n")
    preview.follow(["content/pages/about.md"])
    assert "ada-lovelace" not in str(preview.file("about/index.html"))
    assert preview.failed and "SG504" in preview.report


def test_a_site_that_requires_the_list_is_not_built_without_it(site: Path) -> None:
    edit(site, "content/site.yaml", "twins: true", "redact: required")
    assert not update(site, site / "public", processes=1).failed
    (site / "private.yaml").unlink()
    assert "error[SG505]" in update(site, site / "public", processes=1).report
    write(site, "private.yaml", "redact: {}\n")
    assert not update(site, site / "public", processes=1).failed


def test_a_list_that_leaks_or_cannot_be_read_or_is_tracked_by_git_is_refused(site: Path) -> None:
    write(site, "private.yaml", "redact: {Max: Max again}\n")
    assert "private.yaml:1:15" in update(site, site / "public", processes=1).report
    for broken in ("redact: [Max]\n", "Max: M.\n", "redact: {Max\n"):
        write(site, "private.yaml", broken)
        assert "SG506" in update(site, site / "public", processes=1).report
    write(site, "private.yaml", LIST)
    subprocess.run(["git", "init", "--quiet"], cwd=site, check=True)
    assert not update(site, site / "public", processes=1).failed
    subprocess.run(["git", "add", "private.yaml"], cwd=site, check=True)
    assert "SG507" in [mistake.code for mistake in check(site).diagnostics]


@pytest.mark.parametrize(
    ("text", "message", "line", "hint"),
    [
        ("redact:\n  - Ada Lovelace\n", "`redact` is a list, but needs pairs", 1, "write each line without `-`, with"),
        ("# names\nredact:\n  - Max: M.\n", "`redact` is a list, but needs pairs", 2, "write each line without `-`"),
        ("redact: Ada Lovelace\n", "`redact` has one text, but needs pairs", 1, "write each line without `-`"),
        ("# names\nredact:\n", "there is no list of words in it", 2, "write `redact:`, and below it lines such as"),
        ("Max: M.\n", "there is no list of words in it", 1, "write `redact:`, and below it lines such as"),
    ],
)
def test_a_list_without_pairs_is_marked_at_its_key_and_says_how_a_pair_is_written(
    site: Path, text: str, message: str, line: int, hint: str
) -> None:
    write(site, "private.yaml", text)
    [found] = [one for one in check(site).diagnostics if one.code == "SG506"]
    assert (found.message, found.span.line) == (message, line)
    assert found.hint.startswith(hint) and "`  Ada Lovelace: A. L.`" in found.hint


@pytest.mark.parametrize("kind", ["a pipe", "a folder", "a link to nowhere", "a link out", "a link to a hidden file"])
def test_a_list_that_is_no_regular_file_of_the_site_stops_the_build(site: Path, kind: str, tmp_path: Path) -> None:
    (site / "private.yaml").unlink()
    assert not update(site, site / "public", processes=1).failed  # no list, and the build keeps this state
    before = published(site)
    put_in_place_of_the_list(site, kind, tmp_path)
    for result in (update(site, site / "public", processes=1), check(site)):
        assert result.failed
        assert [one.span.path for one in check(site).diagnostics if one.code == "SG022"] == ["private.yaml"]
    assert published(site) == before


def put_in_place_of_the_list(site: Path, kind: str, outside: Path) -> None:
    place = site / "private.yaml"
    targets = {"a link to nowhere": "nowhere", "a link out": outside / "list.yaml", "a link to a hidden file": ".list"}
    write(outside, "list.yaml", LIST)
    write(site, ".list", LIST)
    if kind == "a pipe":
        os.mkfifo(place)
    elif kind == "a folder":
        place.mkdir()
    else:
        place.symlink_to(targets[kind])


def test_a_list_that_is_not_utf_8_stops_the_build(site: Path) -> None:
    (site / "private.yaml").write_bytes("redact: {Jörg Müller: J. M.}\n".encode("latin-1"))
    assert "private.yaml:1:11" in update(site, site / "public", processes=1).report


@pytest.mark.parametrize("kind", LEAKS)
def test_the_report_names_the_entry_and_never_the_word(site: Path, kind: str) -> None:
    """Strangers read the logs of a public CI."""
    edit(site, "private.yaml", "redact:\n", "redact:\n  Grace Hopper: G. H.\n")
    path, old, new, _ = LEAKS[kind]
    edit(site, path, old, new)
    report = update(site, site / "public", processes=1).report
    assert "entry 2 of the redaction list" in report and "ovelace" not in report.lower()
    assert not any("ovelace" in one.message.lower() for one in check(site).diagnostics)


@pytest.mark.parametrize("text", ["{Max: M., Max: N.}", "{Max: Max again}", "{Max", "[Max]"])
def test_the_report_of_a_wrong_list_does_not_quote_it(site: Path, text: str) -> None:
    write(site, "private.yaml", f"redact: {text}\n")
    report = update(site, site / "public", processes=1).report
    assert "private.yaml:1:" in report and "Max" not in report


def test_cells_are_measured_as_they_are_published(site: Path) -> None:
    documents = build_in_memory(site).loaded.documents.values()
    assert [cell.source.strip() for document in documents for cell in document.cells] == ["print('M.')"]
