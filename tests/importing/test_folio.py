"""A whole Jekyll site of the kind that learners of GPU kernels keep, imported and built."""

import datetime as dt
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from sitegen.cli import main
from sitegen.diagnostics import render_diagnostics
from sitegen.importing.jekyll.convert import import_jekyll
from sitegen.importing.plan import ImportResult, write_missing
from sitegen.pipeline.in_memory import build_in_memory

FOLIO = Path(__file__).parent / "folio"
AS_OF = dt.date(2026, 1, 1)
DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)-(.+)\.\w+")


def taken_over(folder: Path, root: Path) -> ImportResult:
    return write_missing(root, import_jekyll(folder).files)


def built(root: Path) -> Mapping[str, str | bytes]:
    """Return the output by path of a build that has no error."""
    site = build_in_memory(root, as_of=AS_OF)
    assert not site.failed, render_diagnostics(site.diagnostics, site.loaded.texts)
    return site.files


def answers(url: str, files: Mapping[str, str | bytes]) -> bool:
    """Return whether a server of these files finds something at an address."""
    path = url.strip("/")
    wanted = [f"{path}/index.html".lstrip("/")] if url.endswith("/") else [path, f"{path}.html", f"{path}/index.html"]
    return any(name in files for name in wanted)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    taken_over(FOLIO, tmp_path / "site")
    return tmp_path / "site"


PAGES = ["/", "/cv/", "/faq/", "/docs/setup/", "/install.html", "/worklog/", "/projects/1_tiles/"]
OTHERS = ["/news/announcement_1/", "/old/second-sum/", "/2024/sum.html", "/essays/html.html"]
PUBLISHED = [
    "2024-01-05-first-sum.md",
    "2024-02-10-second-sum.markdown",
    "2024-03-01-roofline.md",
    "2024-04-02-softmax-paper.md",
    "2024-05-06-numbered.md",
    "2024-09-10-distill.md",
    "2024-10-11-code.md",
    "2024-08-09-Größe.md",
]


def test_every_old_address_has_a_page_or_leads_to_one(site: Path) -> None:
    posts = [f"/blog/{name[:4]}/{name[11:].rpartition('.')[0]}/" for name in PUBLISHED]
    files = built(site)
    assert [url for url in (*posts, *PAGES, *OTHERS) if not answers(url, files)] == []


@pytest.mark.parametrize("style", ["date", "pretty", "ordinal", "weekdate", "none", "/:categories/:title", "/n/:slug/"])
def test_every_old_address_answers_whatever_the_style_was(tmp_path: Path, style: str) -> None:
    folder = tmp_path / "jekyll"
    shutil.copytree(FOLIO, folder)
    config = (folder / "_config.yml").read_text()
    (folder / "_config.yml").write_text(config.replace("permalink: /blog/:year/:title/", f"permalink: {style}"))
    taken_over(folder, tmp_path / "site")
    files = built(tmp_path / "site")
    assert [url for name in PUBLISHED if not answers(url := by_hand(name, style), files)] == []


CATEGORIES = {"first-sum": "kernels/", "second-sum": "kernels/deep dives/", "Größe": "notes/"}
CLOCK = {"first-sum": dt.date(2024, 1, 6), "code": dt.date(2024, 10, 12)}
"""Dates in Seoul, the timezone of the site, of the files whose names have another date."""


def by_hand(name: str, style: str) -> str:
    """Return the address of a post of the fixture, as https://jekyllrb.com/docs/permalinks/ describes it."""
    found = DAY.fullmatch(name)
    assert found
    title = found[4]
    day = CLOCK.get(title, dt.date(int(found[1]), int(found[2]), int(found[3])))
    path = CATEGORIES.get(title, "")
    return {
        "date": f"/{path}{day:%Y/%m/%d}/{title}.html",
        "pretty": f"/{path}{day:%Y/%m/%d}/{title}/",
        "ordinal": f"/{path}{day:%Y}/{day:%j}/{title}.html",
        "weekdate": f"/{path}{day:%Y}/W{day:%V}/{day:%a}/{title}.html",
        "none": f"/{path}{title}.html",
        "/:categories/:title": f"/{path}{title}",
        "/n/:slug/": f"/n/{title.lower()}/",
    }[style]


def test_old_link_between_posts_leads_to_the_new_page_and_its_section(site: Path) -> None:
    page = built(site)["blog/2024/first-sum/index.html"]
    assert isinstance(page, str)
    assert 'blog/2024/second-sum/#the-bill"' in page
    assert 'blog/2024/first-sum/talk.txt"' in page


def test_only_files_that_a_text_uses_are_copied_beside_it(site: Path) -> None:
    names = {path.name for path in site.rglob("*") if path.suffix in (".svg", ".txt")}
    assert names == {"roof.svg", "warp.svg", "two-words.svg", "me.svg", "talk.txt"}
    assert (site / "content/posts/roofline/roof.svg").read_bytes() == (FOLIO / "assets/img/roof.svg").read_bytes()


def test_everything_left_out_is_named_with_file_and_line() -> None:
    plan = import_jekyll(FOLIO)
    lines = {path: text.split("\n") for path, text in plan.texts.items()}
    assert all(0 < d.span.line <= len(lines[d.span.path]) for d in plan.diagnostics)
    assert {d.code for d in plan.diagnostics} == {"SG601", "SG602", "SG603", "SG604", "SG605", "SG606", "SG609"}


SAID_ANYHOW = {"TOC", "TIP", "References", "nolang"}
"""Words that need not appear: parts of marks, the title of a list that every page generates, an unknown language."""


def test_no_word_of_a_text_is_lost(site: Path) -> None:
    """Every word of a body, without scripts and the markup around it, is in the text that was made of the body."""
    made = " ".join(path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.md")))
    lost = {}
    for source in sorted((FOLIO / "_posts").iterdir()):
        body = source.read_text(encoding="utf-8").split("---\n", 2)[2]
        body = re.sub(r"(?s)<script.*?</script>", "", body)
        plain = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|<[^>]*>|\{:[^}]*\}|\\[a-z]+\{[a-z:]*\}|\]\([^)]*\)", " ", body)
        words = set(re.findall(r"[A-Za-z]{3,}", plain)) - SAID_ANYHOW
        if missing := sorted(word for word in words if word not in made):
            lost[source.name] = missing
    assert lost == {}


def test_front_matter_that_means_nothing_here_stays_as_comments(site: Path) -> None:
    matter = (site / "content/posts/distill.md").read_text(encoding="utf-8").split("---\n")[1]
    assert "# authors:\n#   - name: Ada Kern\n" in matter
    assert "layout" not in matter


def test_second_import_writes_nothing_and_keeps_what_the_author_changed(site: Path) -> None:
    post = site / "content/posts/code.md"
    post.write_text("mine", encoding="utf-8")
    again = taken_over(FOLIO, site)
    assert again.written == ()
    assert again.kept == ("content/posts/code.md",)
    assert post.read_text(encoding="utf-8") == "mine"


def test_post_that_became_a_folder_is_not_written_again_as_a_file(site: Path) -> None:
    folder = site / "content/posts/code"
    folder.mkdir()
    (site / "content/posts/code.md").rename(folder / "index.md")
    assert taken_over(FOLIO, site).written == ()


def test_command_prints_what_it_wrote_and_says_what_it_left_out(tmp_path: Path) -> None:
    command = ["import", "jekyll", str(FOLIO), "--into", str(tmp_path)]
    first = CliRunner().invoke(main, command, catch_exceptions=False)
    assert first.exit_code == 0
    assert "content/posts/roofline/index.md\n" in first.stdout
    assert "warning[SG601]: this Liquid is not understood\n  _posts/2024-06-07-html-and-more.md:18:1\n" in first.stderr
    again = CliRunner().invoke(main, command, catch_exceptions=False)
    assert again.stdout == ""
    assert "0 files written" in again.stderr


def test_folder_without_a_jekyll_site_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    command = ["import", "jekyll", str(tmp_path / "empty"), "--into", str(tmp_path / "site")]
    result = CliRunner().invoke(main, command, catch_exceptions=False)
    assert result.exit_code == 1
    assert "no posts and no pages" in result.stderr
    assert not (tmp_path / "site").exists()


def test_site_within_the_jekyll_folder_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["import", "jekyll", str(tmp_path), "--into", str(tmp_path / "new")])
    assert result.exit_code == 2
    assert "--into" in result.stderr
