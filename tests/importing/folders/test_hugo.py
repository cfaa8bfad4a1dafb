"""A site of Hugo comes over: its addresses, front matter in TOML, shortcodes, files of bundles and of static/."""

import base64
import datetime as dt
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sitegen.importing.counts import compared
from sitegen.importing.folders.convert import import_folder
from sitegen.importing.folders.hugo import HUGO
from tests.processor_time import within

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
CONFIG = "baseURL = 'https://old.example/'\ntitle = 'Old'\n[permalinks]\npost = '/:year/:slug/'\n"


def post(body: str, front: str = "title = 'A: b'\ndate = 2024-01-05\n") -> dict[str, str]:
    return {"hugo.toml": CONFIG, "content/post/a.md": f"+++\n{front}+++\n{body}\n"}


def test_front_matter_in_toml_keeps_its_address_and_its_unknown_keys(folder: Callable) -> None:
    front = "title = 'A: b'\ndate = 2024-01-05\ntags = ['x']\naliases = ['/was/']\nweight = 3\n[cover]\na = 'c'\n"
    imported = folder(HUGO, post("Words.", front))
    assert imported.head("posts/a") == (
        'title: "A: b"\ndate: 2024-01-05\ntags: [x]\npermalink: /2024/a/\naliases: [/was/]\n'
        "# weight = 3\n# [cover]\n# a = 'c'\n"
    )
    assert imported.codes == ["SG602", "SG602", "SG602"]
    assert imported.files["content/site.yaml"] == "title: Old\nbase_url: https://old.example/\n"


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ('A {{< highlight text "hl_inline=true" >}}x y{{< /highlight >}} b.', "A `x y` b."),
        ("{{< highlight go hl_inline=true >}}a`b{{< /highlight >}}", "`` a`b ``"),
        ("{{< highlight go >}}\nx := `{{< y >}}`\n{{< /highlight >}}", "```go\nx := `{{< y >}}`\n```"),
        ("{{% notice tip %}}\nWords.\n{{% /notice %}}", "\n:::{tip}\nWords.\n:::\n"),
        ("{{< youtube abc >}}", "<https://www.youtube.com/watch?v=abc>"),
        ('{{< details summary="More" >}}\nInside.\n{{< /details >}}', ":::{dropdown} More\nInside.\n:::"),
        ("`{{< y >}}`", "`{{< y >}}`"),
        ("{{< strange 1 >}}", "`{{< strange 1 >}}`"),
        ("{{< strange >}}Words.{{< /strange >}}", "Words."),
        ("{{< code-toggle file=hugo >}}\na = 1\n{{< /code-toggle >}}", "```toml\na = 1\n```"),
        (r"\[words\](/x) and \[more\](/y)", r"\[words\](/x) and \[more\](/y)"),
        (r"A \\(x_1\\) and \\[y\\]", "A $x_1$ and $$\ny\n$$"),
        ('```go {linenos=true,hl_lines=[2,"4-5"]}\n1\n2\n3\n4\n5\n```', "```go hl=2,4-5\n1\n2\n3\n4\n5\n```"),
    ],
)
def test_shortcodes(written: str, wanted: str, folder: Callable) -> None:
    assert folder(HUGO, post(written)).body("posts/a").strip() == wanted.strip()


def test_link_and_image_are_found_by_address_by_file_and_by_reference(folder: Callable) -> None:
    other = "---\ntitle: B\ndate: 2024-02-01\n---\n## A heading\n"
    body = '[1](/2024/b/) [2](b.md) [3]({{< ref "b.md#a-heading" >}}) [4](https://old.example/2024/b/) ![w](/i/x.png)'
    imported = folder(HUGO, {**post(body), "content/post/b.md": other, "static/i/x.png": PNG})
    address = "(/2024/b/)"
    assert imported.body("posts/a/index") == (
        f"[1]{address} [2]{address} [3](/2024/b/#a-heading) [4]{address} ![w](x.png)"
    )
    assert "content/posts/a/x.png" in imported.files


def test_image_of_another_host_is_a_link_and_that_is_said(folder: Callable) -> None:
    imported = folder(HUGO, post("![w](https://e.example/x.png)"))
    assert imported.body("posts/a") == "[w](https://e.example/x.png)"
    assert imported.codes == ["SG603"]


def test_authors_come_over_when_no_post_would_get_a_wrong_one(folder: Callable) -> None:
    front = "title = 'A'\ndate = 2024-01-05\n"
    other = {"content/post/b.md": "---\ntitle: B\ndate: 2024-02-01\nauthor: [Jo Doe, A B]\n---\nWords.\n"}
    imported = folder(HUGO, {**post("Words.", front + "author = 'Jo Doe'\n"), **other})
    assert str(imported.files["content/site.yaml"]).endswith(
        "authors:\n  jo-doe:\n    name: Jo Doe\n  a-b:\n    name: A B\n"
    )
    assert "authors: [jo-doe, a-b]\n" in imported.head("posts/b")
    imported = folder(HUGO, {**post("Words.", front), **other})
    assert "authors" not in str(imported.files["content/site.yaml"])
    assert "# author: [Jo Doe, A B]\n" in imported.head("posts/b")


def test_page_without_a_date_is_a_page_and_a_list_is_left_out(folder: Callable) -> None:
    texts = {"content/about.md": "---\ntitle: About\n---\nMe.\n", "content/post/_index.md": "---\ntitle: All\n---\n"}
    imported = folder(HUGO, {**post("Words."), **texts})
    assert "content/pages/about.md" in imported.files
    assert not any("index" in path for path in imported.files)


LANGUAGES = (
    f"defaultContentLanguage = 'de'\n{CONFIG}[languages.de]\n[languages.fr]\ncontentDir = 'content/fr'\n"
    "[languages.ko]\n[languages.xx]\ndisabled = true\n"
)


def test_translation_stands_beside_its_original_and_keeps_its_address(folder: Callable) -> None:
    texts = {
        "hugo.toml": LANGUAGES,
        "content/post/a.md": "+++\ntitle = 'A'\ndate = 2024-01-05\n+++\n![w](x.png)\n",
        "content/post/x.png": PNG,
        "content/post/a.ko.md": "+++\ntitle = 'K'\n+++\n[f](/fr/2024/a/) [r]({{< ref \"a.md\" >}})\n",
        "content/fr/post/a.md": "+++\ntitle = 'F'\ndate = 2024-02-05\n+++\n![w](x.png)\n",
        "content/fr/post/x.png": PNG + b" ",
        "content/fr/post/only.md": "+++\ntitle = 'Only'\ndate = 2024-02-05\n+++\nWords.\n",
        "content/about.fr.md": "+++\ntitle = 'Moi'\n+++\nWords.\n",
        "content/about.xx.md": "+++\ntitle = 'Not a language'\n+++\nWords.\n",
    }
    imported = folder(HUGO, texts)
    assert str(imported.files["content/site.yaml"]).endswith("language: de\n")
    assert imported.head("posts/a/index.ko") == "title: K\ndate: 2024-01-05\n"
    assert imported.head("posts/a/index.fr") == "title: F\ndate: 2024-02-05\npermalink: /fr/2024/a/\n"
    assert imported.body("posts/a/index.ko") == "[f](/fr/2024/a/) [r](/ko/posts/a/)"
    assert imported.body("posts/a/index") == "![w](x.png)"
    assert imported.body("posts/a/index.fr") == "![w](content-fr-post-x.png)"
    assert imported.head("posts/only/index.fr").endswith("permalink: /fr/2024/only/\n")
    assert imported.head("pages/about-fr") == "title: Moi\nlang: fr\naliases: [/fr/about/]\n"
    assert imported.head("pages/about-xx").endswith("aliases: [/about.xx/]\n")


@pytest.mark.parametrize("mount", ["lang = 'en'", "sites = {matrix = {languages = ['en']}}"])
def test_mounted_folder_is_no_part_of_the_address(mount: str, folder: Callable) -> None:
    config = f"title = 'T'\n[[module.mounts]]\nsource = 'content/en'\ntarget = 'content'\n{mount}\n"
    texts = {"hugo.toml": config, "content/en/docs/a.md": "# A\n", "content/left.md": "# Left\n"}
    imported = folder(HUGO, texts)
    assert imported.head("posts/a").endswith("permalink: /docs/a/\n")
    assert not any("left" in path for path in imported.files)


def test_norwegian_which_yaml_reads_as_false_is_a_language(folder: Callable) -> None:
    config = "title: T\nlanguages:\n  en: {}\n  no: {contentDir: content/no}\n  Bad lang: {contentDir: content/bad}\n"
    texts = {"hugo.yaml": config, "content/no/post/a.md": "# A\n", "content/bad/b.md": "# B\n"}
    imported = folder(HUGO, texts)
    assert imported.head("posts/a/index.no").endswith("permalink: /no/post/a/\n")
    assert not any("bad" in path for path in imported.files)


def test_languages_are_read_from_files_of_their_own(folder: Callable) -> None:
    texts = {
        "config/_default/hugo.toml": CONFIG,
        "config/_default/languages.en.toml": "contentDir = 'content/en'\ntitle = 'Old'\n",
        "config/_default/languages.zh-tw.toml": "contentDir = 'content/zh-tw'\n",
        "content/en/post/a.md": "+++\ntitle = 'A'\ndate = 2024-01-05\nurl = '/own/'\naliases = ['was', '/old/']\n+++\n",
        "content/zh-tw/post/a.md": "+++\ntitle = 'Z'\ndate = 2024-01-05\n+++\nZ\n",
    }
    imported = folder(HUGO, texts)
    assert imported.head("posts/a/index").endswith("permalink: /own/\naliases: [/was/, /old/]\n")
    assert imported.head("posts/a/index.zh-tw").endswith("permalink: /zh-tw/2024/a/\n")


@pytest.mark.parametrize(("ugly", "address"), [("true", "/post/a.html"), ("{post = true}", "/post/a.html")])
def test_addresses_that_are_files_stay(ugly: str, address: str, folder: Callable) -> None:
    texts = {**post("Words."), "hugo.toml": f"title = 'T'\nuglyURLs = {ugly}\n"}
    assert f"permalink: {address}\n" in folder(HUGO, texts).head("posts/a")


def test_text_of_a_list_has_the_address_of_its_folder(folder: Callable) -> None:
    texts = {**post("Words."), "content/post/_index.md": "---\ntitle: All\n---\n" + "Many words. " * 20}
    imported = folder(HUGO, texts)
    assert imported.head("pages/post") == "title: All\n"


def test_folder_without_texts_is_an_error(tmp_path: Path) -> None:
    plan = import_folder(tmp_path, HUGO, dt.date(2026, 11, 25))
    assert (dict(plan.files), [d.code for d in plan.diagnostics]) == ({}, ["SG606"])


def test_shortcodes_that_nest_without_end_keep_their_text(folder: Callable) -> None:
    opening, closing = '{{< tabs >}}\n{{< tab "a" >}}\n', "{{< /tab >}}\n{{< /tabs >}}\n"
    imported = folder(HUGO, post(f"{opening * 400}Words.\n{closing * 400}"))
    body = imported.body("posts/a")
    assert "Words." in body and "{{<" not in body
    assert body.count("{tab-set}") == 10  # twenty levels
    assert any("within 20 others" in one.message for one in imported.diagnostics)


@pytest.mark.parametrize(
    "unclosed",
    [
        *(r"\( a ", r"\\( a ", r"\[ a ", "<!-- a ", "<script> ", "![a ", "%% a "),
        *("[a ", "[a [b](c) ", "[a\n\n"),
        *("{{< figure ", "{{< details >}} ", "{{</* a ", "{{< highlight c >}} ", "{{< a >}}{{< /b >}} "),
    ],
)
def test_text_of_many_beginnings_without_an_end_is_read_at_once(unclosed: str, tmp_path: Path) -> None:
    for path, text in post(unclosed * 20_000).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    began = time.process_time()
    plan = import_folder(tmp_path, HUGO, dt.date(2026, 11, 25))
    assert compared(plan.sources, plan.files)
    assert within(time.process_time() - began, 5.0)


DATED = "---\ntitle: A\ndate: 2024-01-05\n---\n"


def test_text_in_html_with_front_matter_comes_over_as_one_block(folder: Callable) -> None:
    html = '<h2 id="x">One</h2>\n\n  <p>Two *three* <a href="../b/">four</a></p>\n\n<pre>\n  a\n\nb</pre>\n'
    texts = {
        "content/posts/a.html": DATED + html,
        "content/posts/b.md": "---\ntitle: B\ndate: 2024-01-05\n---\nWords.\n",
        "content/posts/raw.html": "<p>No page of its own.</p>\n",
    }
    imported = folder(HUGO, texts)
    assert imported.body("posts/a") == (
        '<div>\n<h2 id="x">One</h2>\n  <p>Two *three* <a href="/posts/b/">four</a></p>\n'
        "<pre>\n  a\n<!-- -->\nb</pre>\n</div>"
    )
    assert not any("raw" in path for path in imported.files)


def test_text_of_an_included_file_stands_in_the_place_of_the_shortcode(folder: Callable) -> None:
    texts = {
        "content/posts/a.md": f'{DATED}{{{{% include "/_common/b.md" %}}}}\n\n{{{{% include "c" %}}}}\n',
        "content/_common/b.md": '---\n_comment: no page\n---\nWords *b*. {{% include "/_common/b.md" %}}\n',
    }
    imported = folder(HUGO, texts)
    assert imported.body("posts/a").startswith('Words *b*. `{{% include "/_common/b.md" %}}`')
    assert imported.body("posts/a").endswith('`{{% include "c" %}}`')


def test_text_in_a_folder_that_is_named_like_one_that_hugo_makes_comes_over(folder: Callable) -> None:
    text = "---\ntitle: A\ndate: 2024-01-05\n---\nWords.\n"
    imported = folder(HUGO, {"content/functions/resources/a.md": text, "public/b.md": text, "resources/c.md": text})
    assert imported.body("posts/a") == "Words."
    assert len(imported.files) == 2


@pytest.mark.parametrize(("more", "name"), [("", "a-rfc"), ("disablePathToLower: true\n", "A-RFC")])
def test_address_by_a_pattern_is_in_small_letters_as_hugo_writes_it(more: str, name: str, folder: Callable) -> None:
    config = f"permalinks:\n  post: /:year/:slug.html\n{more}"
    imported = folder(HUGO, {"hugo.yaml": config, "content/post/2024-01-05-A-RFC.md": DATED + "Words.\n"})
    (head,) = (str(text) for path, text in imported.files.items() if path.startswith("content/posts/"))
    assert f"permalink: /2024/{name}.html\n" in head


def test_image_of_the_theme_comes_along_and_no_text_of_it(folder: Callable) -> None:
    files = {
        "hugo.toml": 'title = "T"\ntheme = "plain"\n',
        "content/posts/a.md": "---\ntitle: A\ndate: 2024-01-05\n---\n![w](/images/x.svg)\n",
        "themes/plain/static/images/x.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
        "themes/plain/exampleSite/content/b.md": "---\ntitle: B\n---\nWords.\n",
    }
    imported = folder(HUGO, files)
    assert imported.body("posts/a/index") == "![w](x.svg)"
    assert sorted(imported.files) == ["content/posts/a/index.md", "content/posts/a/x.svg", "content/site.yaml"]
