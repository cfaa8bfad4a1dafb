"""The example package, built as a wheel: a site that names it gets what it adds, and no other site does."""

import datetime as dt
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from sitegen.cli import main
from sitegen.diagnostics import render_report
from sitegen.pipeline.build import update
from sitegen.pipeline.in_memory import SiteInMemory, build_in_memory

EXAMPLE = Path(__file__).parent / "example"
DAY = dt.date(2026, 12, 31)
POST = "---\ntitle: A\ndate: 2026-11-20\ndescription: One.\n---\n```{shout} louder\n```\n"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the installed package."""
    made, there = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(made)]
    subprocess.run(command, cwd=EXAMPLE, check=True, capture_output=True)
    (wheel,) = made.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(there)
    return there


@pytest.fixture(autouse=True)
def installed(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(package)


def site(folder: Path, plugins: str = "plugins: [example]\n", post: str = POST) -> Path:
    texts = {"content/site.yaml": f"title: A\nbase_url: https://example.org/\n{plugins}", "content/posts/a.md": post}
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def told(built: SiteInMemory) -> str:
    return render_report(built.diagnostics, built.loaded.texts)


def test_directive_and_file_of_a_plugin_are_in_the_site(tmp_path: Path) -> None:
    built = build_in_memory(site(tmp_path), as_of=DAY)
    assert built.diagnostics == ()
    assert "<p><strong>LOUDER</strong></p>" in str(built.files["posts/a/index.html"])
    assert json.loads(str(built.files["plugins/example/titles.json"])) == {"a": "A"}


def test_check_of_a_plugin_reports_at_a_place(tmp_path: Path) -> None:
    root = site(tmp_path, post=POST.replace("description: One.\n", "").replace(" louder", ""))
    report = told(build_in_memory(root, as_of=DAY))
    assert "warning[EX002]: the post has no description\n  content/posts/a.md:2" in report
    assert "error[EX001]: the directive `{shout}` needs words\n  content/posts/a.md:5" in report


def test_installed_plugin_that_no_site_names_is_not_loaded(tmp_path: Path) -> None:
    sys.modules.pop("sitegen_example", None)
    report = told(build_in_memory(site(tmp_path, plugins=""), as_of=DAY))
    assert "unknown directive `shout`" in report
    assert "sitegen_example" not in sys.modules


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("exmple", "the plugin `exmple` is not installed"),
        ("exmple", "did you mean `example`?"),
        ("jekyll-feed", "`jekyll-feed` is a plugin of Jekyll"),
        ("broken", "the plugin `broken` fails: RuntimeError: no such device"),
    ],
)
def test_plugin_that_cannot_be_used_is_a_mistake(tmp_path: Path, name: str, said: str) -> None:
    report = told(build_in_memory(site(tmp_path, f"plugins: [{name}]\n"), as_of=DAY))
    assert "error[SG508]" in report and said in report


def test_update_gives_what_a_clean_build_gives(tmp_path: Path) -> None:
    root, output = site(tmp_path / "site"), tmp_path / "public"
    for title in ("A", "B"):
        site(root, post=POST.replace("title: A", f"title: {title}"))
        assert not update(root, output, as_of=DAY).failed
        clean = build_in_memory(root, as_of=DAY).files
        assert (output / "plugins/example/titles.json").read_text("utf-8") == clean["plugins/example/titles.json"]
        assert (output / "posts/a/index.html").read_text("utf-8") == clean["posts/a/index.html"]


def test_build_names_its_plugins_and_import_uses_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site(tmp_path))
    assert "with plugins: example 1.2" in CliRunner().invoke(main, ["build"]).output
    (tmp_path / "idea.txt").write_text("An idea\nIts text.\n", encoding="utf-8")
    ran = CliRunner().invoke(main, ["import", "plugin", "notes", "idea.txt"])
    assert ran.exit_code == 0, ran.output
    assert (tmp_path / "content/pages/idea.md").read_text("utf-8") == '---\ntitle: "An idea"\n---\nIts text.\n'
    assert "did you mean `notes`?" in CliRunner().invoke(main, ["import", "plugin", "note", "idea.txt"]).output
