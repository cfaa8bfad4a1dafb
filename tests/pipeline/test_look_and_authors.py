"""Keys of site.yaml about look and authorship: what they change on pages, and what they refuse."""

import datetime as dt
import json
import re
from html import unescape
from pathlib import Path

import pytest

from sitegen.diagnostics import Span, render_report
from sitegen.model.look import COLOURS, FONTS, WIDTHS, contrast
from sitegen.pipeline.in_memory import SiteInMemory, build_in_memory
from sitegen.read.bibliography import parse_bibliography
from sitegen.read.config import parse_config
from sitegen.render.shared.default_theme import default_folder

DAY = dt.date(2026, 12, 31)
CONFIG = "title: Notes\nbase_url: https://example.org/n/\n"
AUTHORS = """\
authors:
  ada: {name: Ada King, link: https://example.org/ada, orcid: 0000-0002-1825-0097, avatar: icon.svg}
  bo: {name: Bo & Co}
licence: CC-BY-4.0
edit_url: https://example.org/edit/{path}
report_url: https://example.org/report?page={url}
"""


def built(folder: Path, config: str = "", front: str = "") -> SiteInMemory:
    post = f"---\ntitle: Less than 50 %\ndate: 2026-11-20\n{front}---\nText.\n"
    for path, text in {"content/site.yaml": CONFIG + config, "content/posts/half-time.md": post}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return build_in_memory(folder, as_of=DAY)


def file(site: SiteInMemory, path: str) -> str:
    assert site.diagnostics == ()
    data = site.files[path]
    return data if isinstance(data, str) else data.decode()


def told(site: SiteInMemory) -> str:
    return render_report(site.diagnostics, site.loaded.texts)


def test_first_author_signs_a_post_that_names_none(tmp_path: Path) -> None:
    page = file(built(tmp_path, AUTHORS), "posts/half-time/index.html")
    assert '<a href="https://example.org/ada" rel="author">Ada King</a>' in page
    assert "Bo &amp; Co" not in page
    assert re.search(r'<img class="avatar" src="../../assets/icon\.\w+\.svg" alt=""', page)
    assert '<a href="https://example.org/edit/content/posts/half-time.md">' in page
    assert "report?page=https%3A%2F%2Fexample.org%2Fn%2Fposts%2Fhalf-time%2F" in page
    assert '<a href="https://creativecommons.org/licenses/by/4.0/" rel="license">CC-BY-4.0</a>' in page


def test_post_names_its_authors_and_its_licence_to_people_programs_and_feeds(tmp_path: Path) -> None:
    site = built(tmp_path, AUTHORS, "authors: [bo, ada]\nlicence: MIT\n")
    page = file(site, "posts/half-time/index.html")
    (data,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
    article = json.loads(data)["@graph"][0]
    assert [one["name"] for one in article["author"]] == ["Bo & Co", "Ada King"]
    assert article["license"] == "https://opensource.org/license/mit"
    assert "<author><name>Bo &amp; Co</name></author>" in file(site, "feed.xml")
    assert json.loads(file(site, "feed.json"))["items"][0]["authors"] == [{"name": "Bo & Co"}, {"name": "Ada King"}]


def test_citation_is_bibtex_that_the_program_reads_itself(tmp_path: Path) -> None:
    page = file(built(tmp_path, AUTHORS, "authors: [bo, ada]\n"), "posts/half-time/index.html")
    (entry,) = re.findall(r"<code class=\"language-bibtex\">(@misc.*?)</code>", page, re.DOTALL)
    bibliography, mistakes = parse_bibliography(unescape(entry), "content/a.bib")
    assert mistakes == ()
    (work,) = bibliography.works
    assert (work.key, work.title, work.year) == ("co2026half", "Less than 50 %", "2026")
    assert [one.family for one in work.authors] == ["Co", "King"]
    assert work.url == "https://example.org/n/posts/half-time/"


def test_site_without_authors_has_no_line_and_no_citation(tmp_path: Path) -> None:
    page = file(built(tmp_path), "posts/half-time/index.html")
    assert "@misc" not in page and 'rel="author"' not in page and 'rel="license"' not in page


def test_theme_is_in_the_style_sheet(tmp_path: Path) -> None:
    theme = 'theme: {hot: ["#004488", "#88bbff"], measure: 42rem, text: "Georgia, serif"}\n'
    site = built(tmp_path, theme)
    (sheet,) = (path for path in site.files if re.fullmatch(r"assets/site\.\w+\.css", path))
    assert "--hot: light-dark(#004488, #88bbff); --measure: 42rem; --text: Georgia, serif;" in file(site, sheet)


def test_menu_takes_the_place_of_the_sections(tmp_path: Path) -> None:
    menu = "menu:\n  - {title: Writing, link: /posts/}\n  - {title: Code, link: https://example.org/code}\n"
    page = file(built(tmp_path, menu), "posts/half-time/index.html")
    (navigation,) = re.findall(r'<nav aria-label="Site">(.*?)</nav>', page, re.DOTALL)
    assert re.findall(r'<a href="([^"]+)"[^>]*>(\w+)', navigation) == [
        ("../../posts/", "Writing"),
        ("https://example.org/code", "Code"),
    ]


@pytest.mark.parametrize(
    ("config", "front", "said"),
    [
        ("theme: {hott: red}\n", "", "did you mean `hot`?"),
        ("theme: {hot: red}\n", "", "write the colours on light and on dark pages"),
        ("theme: {text: 'x; } body { display: none'}\n", "", "write names of fonts"),
        ("theme: {measure: 40}\n", "", "write a width: `40rem`"),
        ("menu: [{title: A, link: /post/}]\n", "", "did you mean `/posts/`?"),
        ("authors: {a: {name: A, orcid: 12}}\n", "", "`12` is not an ORCID"),
        ("authors: {a: {name: A, link: 'javascript:alert(1)'}}\n", "", "is not an address"),
        ("authors: {a: {name: A, avatar: icn.svg}}\n", "", "did you mean `icon.svg`?"),
        ("licence: CC-BY\n", "", "did you mean `CC-BY-4.0`?"),
        ("edit_url: https://example.org/\n", "", "names no page"),
        ("authors: {ada: {name: Ada}}\n", "authors: [adda]\n", "unknown author `adda`"),
    ],
)
def test_wrong_value_is_shown_with_what_to_do(tmp_path: Path, config: str, front: str, said: str) -> None:
    assert said in told(built(tmp_path, config, front))


@pytest.mark.parametrize(
    ("theme", "col", "message", "way"),
    [
        (
            'hot: ["#b83400", "#202020"]',
            27,
            "`hot` has too little contrast on dark pages: 1.1 with `paper`",
            "a lighter",
        ),
        (
            'hot: ["#e0b090", "#ff8a55"]',
            16,
            "`hot` has too little contrast on light pages: 1.9 with `paper`",
            "a darker",
        ),
        ('paper: ["#fbfbf9", "#777777"]', 29, "`paper` has too little contrast on dark pages: 3", "a darker"),
        (
            'hot: ["#888888", "#ff8a55"], paper: ["#fbfbf9", "#0e0f11"]',
            16,
            "`hot` has too little contrast on light pages: 3.4 with `paper`, 3",
            "a darker",
        ),
    ],
)
def test_a_colour_that_is_hard_to_read_is_one_mistake(theme: str, col: int, message: str, way: str) -> None:
    text = f"title: A\nbase_url: https://e.org/\ntheme: {{{theme}}}\n"
    [mistake] = parse_config(text)[1]
    assert (
        mistake.message.startswith(message) and mistake.hint == f"choose {way} colour, with a contrast of at least 4.5"
    )
    assert (mistake.span.line, mistake.span.col) == (3, col)


@pytest.mark.parametrize("right", ["0000-0002-1825-0097", "0000-0002-1694-233X", "0000-0001-5109-3700"])
def test_orcid_whose_check_digit_fits_is_right(right: str) -> None:
    assert parse_config(f"title: A\nbase_url: https://e.org/\nauthors: {{a: {{name: A, orcid: {right}}}}}\n")[1] == ()


@pytest.mark.parametrize(
    ("wrong", "check"),
    [("0000-0002-1852-0097", "3"), ("0000-0002-1825-0098", "7"), ("0000-0002-1694-2330", "X")],
)
def test_orcid_with_a_wrong_digit_is_reported(wrong: str, check: str) -> None:
    _, [found] = parse_config(f"title: A\nbase_url: https://e.org/\nauthors:\n  a: {{name: A, orcid: {wrong}}}\n")
    assert (found.code, found.span) == ("SG014", Span("content/site.yaml", 4, 23, 19))
    assert found.message == f"`{wrong}` is not an ORCID: after `{wrong[:-1]}`, the check digit is {check}"


def test_names_and_colours_of_the_theme_are_those_of_the_style_sheet() -> None:
    sheet = (default_folder() / "assets/site.css").read_text("utf-8")
    colours = dict(re.findall(r"--(\w+): +light-dark\((#\w{6}, #\w{6})\)", sheet))
    assert {name: ", ".join(pair) for name, pair in COLOURS.items()} == {name: colours[name] for name in COLOURS}
    assert [name for name in (*FONTS, *WIDTHS) if f"--{name}: " not in sheet] == []


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
