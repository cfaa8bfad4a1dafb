"""The directives and the data that a site has of its own: templates without code, checked like raw HTML."""

import datetime as dt
from pathlib import Path

import pytest

from sitegen.diagnostics import render_report
from sitegen.pipeline.build import update
from sitegen.pipeline.in_memory import build_in_memory

DAY = dt.date(2026, 12, 31)
FILM = """\
{#
about: A film with a caption.
argument: the address of the film
content: markdown
options:
  width: {about: The width of the frame., values: [narrow, wide], default: narrow}
  title: The title of the film.
#}
<figure class="{{ options.width }}"><a href="{{ argument }}">{{ options.title }}</a>
{{ content }}
</figure>
"""
LIST = """\
{# about: Every GPU of the site. #}
<ul>{% for gpu in data.gpus %}<li>{{ gpu.name }}: {{ gpu.memory }} GB</li>{% endfor %}</ul>
"""
FILES = {
    "content/site.yaml": "title: A\nbase_url: https://example.org/\n",
    "content/data/gpus.yaml": "- {name: H100, memory: 80}\n- {name: 'H200 | *new*', memory: 141}\n",
    "templates/directives/film.html": FILM,
    "templates/directives/gpu-list.html": LIST,
}


def site(folder: Path, body: str, **files: str) -> Path:
    texts = {**FILES, "content/posts/a.md": f"---\ntitle: A\ndate: 2026-11-20\n---\n{body}"}
    for path, text in {**texts, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def page(root: Path) -> str:
    built = build_in_memory(root, as_of=DAY)
    assert built.diagnostics == ()
    text = built.files["posts/a/index.html"]
    assert isinstance(text, str)
    return text


def mistakes(root: Path) -> str:
    built = build_in_memory(root, as_of=DAY)
    return render_report(built.diagnostics, built.loaded.texts)


def test_template_turns_options_into_html_around_markdown(tmp_path: Path) -> None:
    html = page(site(tmp_path, ":::{film} /posts/a/\n:width: wide\n:title: <b> & more\n\nSome *text*.\n:::\n"))
    assert '<figure class="wide"><a href="../../posts/a/">&lt;b&gt; &amp; more</a>' in html
    assert "<p>Some <em>text</em>.</p>" in html


def test_data_is_in_templates_and_in_tables(tmp_path: Path) -> None:
    html = page(site(tmp_path, "```{gpu-list}\n```\n\n```{data-table} gpus\n:columns: [memory, name]\n```\n"))
    assert "<li>H100: 80 GB</li><li>H200 | *new*: 141 GB</li>" in html
    assert html.index('<th scope="col">memory</th>') < html.index('<th scope="col" class="l">name</th>')
    assert '<td class="l">H200 | *new*</td>' in html


def test_page_template_of_the_site_reads_data(tmp_path: Path) -> None:
    footer = {"templates/partials/colophon.html": "<footer>{{ data.gpus|length }} GPUs</footer>\n"}
    assert "<footer>2 GPUs</footer>" in page(site(tmp_path, "Text.\n", **footer))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("```{gpu-lst}\n```\n", "unknown directive `gpu-lst`"),
        (":::{film} /posts/a/\n:wdth: wide\n\nText.\n:::\n", "did you mean `width`?"),
        (":::{film} /posts/a/\n:width: wider\n\nText.\n:::\n", "unknown value `wider`"),
        (":::{film}\nText.\n:::\n", "the directive `{film}` needs the address of the film"),
        (":::{film} /posts/b/\nText.\n:::\n", "error[SG2"),
        (":::{film} javascript:alert(1)\nText.\n:::\n", "such an address cannot stand in a text"),
        ("```{gpu-list}\nwords\n```\n", "has options and no text"),
        ("```{data-table} gpu\n```\n", "did you mean `gpus`?"),
        ("```{data-table} gpus\n:columns: [nme]\n```\n", "unknown column `nme`"),
    ],
)
def test_use_of_a_directive_is_checked_where_it_stands(tmp_path: Path, body: str, said: str) -> None:
    told = mistakes(site(tmp_path, body))
    assert said in told
    assert "content/posts/a.md:" in told


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("<p>No head.</p>\n", "the head of this directive is missing"),
        ("{# about: A. #}\n<script>alert(1)</script>\n", "`<script>` cannot stand in a text"),
        ("{# about: A. #}\n<p style='color:red'>A</p>\n", "the attribute `style` cannot stand in a text"),
        ("{# about: A. #}\n<p>A\n", "the template of `{own}` never closes `<p>`"),
        ("{# about: A. #}\n\n{{ nothing }}\n", "correct templates/directives/own.html:3"),
        ("{# about: A. #}\n{% if %}\n", "correct templates/directives/own.html:2"),
        ("{# about: A. #}\n{{ cycler.__init__.__globals__ }}\n", "the template of `{own}` fails"),
        ("{# about: A. #}\n<p>A<br><b>b</b>\n", "add `</p>` in templates/directives/own.html"),
        ("{# abuot: A. #}\n<p>A</p>\n", "did you mean `about`?"),
    ],
)
def test_template_gets_no_further_than_raw_html(tmp_path: Path, template: str, said: str) -> None:
    assert said in mistakes(site(tmp_path, "```{own}\n```\n", **{"templates/directives/own.html": template}))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("templates/directives/gpu-list.html", "{# abuot: A. #}\n<p>A</p>\n"),
        ("content/data/gpus.yaml", "- {name: H100, memory: 80\n"),
    ],
)
def test_mistake_in_such_a_file_is_no_mistake_of_the_text_that_uses_it(tmp_path: Path, path: str, text: str) -> None:
    told = mistakes(site(tmp_path, "```{gpu-list}\n```\n\n```{data-table} gpus\n```\n", **{path: text}))
    assert told.count("error[") == 1 and path in told


@pytest.mark.parametrize(
    ("head", "frame"),
    [
        ("{#\nabout: A.\noptoins: {}\n#}\n", "3 | optoins: {}\n      | ^^^^^^^ did you mean `options`?"),
        ("{# abuot: A. #}\n", "1 | {# abuot: A. #}\n      |    ^^^^^ did you mean `about`?"),
        (
            "{#-  \nabout: A.\noptions: {a: {abuot: B.}}\n#}\n",
            "3 | options: {a: {abuot: B.}}\n      |               ^^^^^",
        ),
    ],
)
def test_line_of_a_mistake_in_a_head_is_shown_and_marked(tmp_path: Path, head: str, frame: str) -> None:
    assert frame in mistakes(site(tmp_path, "Text.\n", **{"templates/directives/own.html": f"{head}<p>A</p>\n"}))


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("H100: 80 GB\nH200: 141 GB\n", "- {name: H100, value: 80 GB}"),
        ("H100: {memory: 80 GB, year: 2022}\n", "- {name: H100, memory: 80 GB, year: 2022}"),
        ("name: H100\nmemory: 80 GB\n", "- {name: H100, memory: 80 GB}"),
        ("- H100\n- H200\n", "- {name: H100}"),
        ("gpus:\n  - {name: H100, parts: [a]}\n", "- {name: H100, parts: …}`, without `gpus:` above them"),
        ("- [H100]\n", "- {name: H100, memory: 80 GB}"),
        ("H100: 'a, b'\n", '- {name: H100, value: "a, b"}'),
    ],
)
def test_file_that_is_no_list_of_rows_gets_a_row_of_its_own_words(tmp_path: Path, text: str, row: str) -> None:
    told = mistakes(site(tmp_path, "```{data-table} gpus\n```\n", **{"content/data/gpus.yaml": text}))
    assert "content/data/gpus.yaml is no list of rows" in told
    assert f"write a line for each row in it, as in `{row}" in told


@pytest.mark.parametrize(
    ("text", "columns", "row"),
    [
        ("", "gpu, memory", "- {gpu: …, memory: …}"),
        ("[]\n", "gpu, memory", "- {gpu: …, memory: …}"),
        ("H100: 80 GB\n", "gpu, memory", "- {gpu: H100, memory: 80 GB}"),
        ("H100: 80 GB\n", "memory, name", "- {memory: 80 GB, name: H100}"),
        ("H100: {memory: 80 GB, year: 2022}\n", "memory, gpu", "- {memory: 80 GB, gpu: H100}"),
        ("gpu: H100\nmemory: 80 GB\n", "gpu, memory", "- {gpu: H100, memory: 80 GB}"),
        ("- H100\n- H200\n", "gpu, memory", "- {gpu: H100, memory: …}"),
        (
            "gpus:\n  - {gpu: H100, year: 2022}\n",
            "gpu, memory",
            "- {gpu: H100, memory: …}`, without `gpus:` above them",
        ),
        ("- 5\n- {a: 1, b: 2, c: 3, d: 4, e: 5}\n", "e, d, c, b, a", "- {e: 5, d: 4, c: 3, b: 2, a: 1}"),
    ],
)
def test_row_of_the_hint_has_the_columns_of_the_table(tmp_path: Path, text: str, columns: str, row: str) -> None:
    body = f"```{{data-table}} gpus\n:columns: {columns}\n```\n"
    told = mistakes(site(tmp_path, body, **{"content/data/gpus.yaml": text}))
    assert f"write a line for each row in it, as in `{row}" in told


def test_name_of_a_directive_of_sitegen_is_taken(tmp_path: Path) -> None:
    told = mistakes(site(tmp_path, "Text.\n", **{"templates/directives/figure.html": "{# about: A. #}\n"}))
    assert "sitegen has a directive `figure` already" in told


def test_update_after_an_edit_of_template_or_data_gives_a_clean_build(tmp_path: Path) -> None:
    root = site(tmp_path / "site", "```{gpu-list}\n```\n")
    for edit in ("", "memory: 96", "<li>GPU "):
        if edit:
            path = root / ("content/data/gpus.yaml" if "memory" in edit else "templates/directives/gpu-list.html")
            old = "memory: 80" if "memory" in edit else "<li>"
            path.write_text(path.read_text("utf-8").replace(old, edit), encoding="utf-8")
        assert not update(root, tmp_path / "public", as_of=DAY).failed
        assert (tmp_path / "public/posts/a/index.html").read_text("utf-8") == page(root)
    assert "<li>GPU H100: 96 GB</li>" in page(root)
