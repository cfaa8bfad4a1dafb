"""Pages of a Jekyll site keep their addresses, or are left out where sitegen makes a page of its own."""

from collections.abc import Callable
from typing import Any

import pytest

Import = Callable[..., Any]
CONFIG = "title: Notes\nurl: https://kern.example\n"
LIST = "{% for post in site.posts %}\n- [{{ post.title }}]({{ post.url }})\n{% endfor %}\n"


def page(title: str, text: str, more: str = "") -> str:
    return f"---\nlayout: page\ntitle: {title}\n{more}---\n{text}\n"


def test_page_below_a_folder_keeps_its_old_address_as_an_alias(import_site: Import) -> None:
    files = import_site({"docs/setup.md": page("Setup", "Text.")}).files
    assert files["content/pages/docs-setup.md"] == "---\ntitle: Setup\naliases: [/docs/setup.html]\n---\nText.\n"


def test_page_whose_name_is_taken_here_has_another(import_site: Import) -> None:
    imported = import_site({"tags.md": page("Tags", "Words about tags.", "permalink: /tags/\n")})
    assert imported.files["content/pages/tags-page.md"] == "---\ntitle: Tags\n---\nWords about tags.\n"
    assert imported.said == ["SG607 tags.md:4"]


@pytest.mark.parametrize("path", ["blog/index.html", "archive.md"])
def test_page_that_only_lists_things_is_left_out_and_named(import_site: Import, path: str) -> None:
    imported = import_site({path: page("All", LIST), "about.md": page("About", "Words.")})
    assert [file for file in imported.files if "pages" in file] == ["content/pages/about.md"]
    assert imported.said == [f"SG606 {path}:5"]


ATOM = "---\nlayout: null\n---\n<feed>{% for post in site.posts %}<entry/>{% endfor %}</feed>\n"


@pytest.mark.parametrize(("path", "said"), [("atom.xml", ["SG606 atom.xml:1"]), ("feed.xml", [])])
def test_feed_by_liquid_is_left_out_and_a_link_to_it_leads_to_the_feed_here(
    import_site: Import, path: str, said: list[str]
) -> None:
    words = f"[feed](/b/{path}) [again]({{{{ site.baseurl }}}}/{path})"
    imported = import_site({path: ATOM, "about.md": page("About", words)}, "baseurl: /b\n" + CONFIG)
    assert imported.files["content/pages/about.md"].endswith("[feed](/feed.xml) [again](/feed.xml)\n")
    assert imported.said == said
    assert not any(file.endswith(".xml") for file in imported.files)


@pytest.mark.parametrize("path", ["_includes/atom.xml", "data.xml", "sitemap.xml"])
def test_xml_that_is_no_feed_of_the_site_is_none(import_site: Import, path: str) -> None:
    text = ATOM.replace("feed>", "urlset>") if path == "sitemap.xml" else "<feed/>" if path == "data.xml" else ATOM
    imported = import_site({path: text, "about.md": page("About", f"[it](/{path})")})
    assert imported.said == ["SG603 about.md:5"]


def test_link_to_a_list_that_is_made_here_leads_to_it(import_site: Import) -> None:
    words = "[a](/tags.html) [b](tags.html) [c](../tags/) [d](/tags/gpu/) [e](no.html)"
    imported = import_site({"tags.html": page("All", LIST), "about.md": page("About", words)})
    here = "[a](/tags/) [b](/tags/) [c](/tags/)"
    old = "[d](https://kern.example/tags/gpu/) [e](https://kern.example/no.html)"
    assert f"{here} {old}" in imported.files["content/pages/about.md"]


def test_page_with_words_and_a_list_stays_with_its_liquid_shown(import_site: Import) -> None:
    imported = import_site({"about.md": page("About", f"{'Many words. ' * 20}\n\n{LIST}")})
    assert "```liquid\n{% for post in site.posts %}" in imported.files["content/pages/about.md"]
    assert imported.said == ["SG601 about.md:7"]


def test_page_of_html_with_words_and_a_list_stays(import_site: Import) -> None:
    script = f"<script>{'many words ' * 20}</script>"
    words = f"<p>{'Many words. ' * 20}</p>\n<ul>\n{LIST}\n</ul>"
    imported = import_site({"about.html": page("About", words), "all.html": page("All", script + LIST)})
    assert f"<p>{'Many words. ' * 20}</p>" in imported.files["content/pages/about.md"]
    assert imported.said == ["SG601 about.html:7", "SG606 all.html:5"]


def test_signs_and_loops_are_no_words_of_a_page(import_site: Import) -> None:
    loop = "{% for post in site.posts %}<p>{{ post.title }} &nbsp; &middot; &nbsp; min read &bull;</p>{% endfor %}"
    imported = import_site({"blog.md": page("Blog", loop * 4), "a.md": page("A", "a")})
    assert [file for file in imported.files if "pages" in file] == ["content/pages/a.md"]
    assert imported.said == ["SG606 blog.md:5"]


def test_page_for_what_is_not_found_is_made_anyhow_and_named(import_site: Import) -> None:
    lost = page("Lost", "Nothing.", "permalink: /404.html\n")
    imported = import_site({"404.md": lost, "a.md": page("A", "a")})
    assert [file for file in imported.files if "pages" in file] == ["content/pages/a.md"]
    assert imported.said == ["SG606 404.md:1"]


@pytest.mark.parametrize(
    "matter", ["---\nlayout: page\ntitle: Log\n---\n", "<!-- ---\nlayout: page\npermalink: /worklog/\n--- -->\n"]
)
def test_page_of_days_becomes_the_worklog_even_without_front_matter(import_site: Import, matter: str) -> None:
    days = "## 12/09/25 (T - 154)\n\nread\n\n## 12/10/2025 (T - 153)\n\nwrote\n"
    imported = import_site({"log.md": matter + days, "a.md": page("A", "a")})
    (text,) = (text for path, text in imported.files.items() if path.startswith("content/worklog/"))
    assert text.endswith(days)


def test_document_of_a_collection_is_a_post_where_it_has_a_day_and_else_a_page(import_site: Import) -> None:
    config = "title: A\nurl: https://a.example\ncollections: {news: {output: true}, hidden: {}}\npermalink: pretty\n"
    files = import_site(
        {
            "_news/sum.md": page("Sum", "a", "date: 2024-01-05\n"),
            "_news/deep/tile.md": page("Tile", "b"),
            "_hidden/x.md": page("X", "c"),
        },
        config,
    ).files
    assert "permalink: /news/sum/\n" in files["content/posts/sum.md"]
    assert "aliases: [/news/deep/tile/]\n" in files["content/pages/news-deep-tile.md"]
    assert len(files) == 3


def test_two_posts_of_one_name_have_their_days_in_their_folders(import_site: Import) -> None:
    paths = ("_posts/2024-01-05-sum.md", "_posts/2024-02-05-sum.md")
    files = import_site({path: page("Sum", "a") for path in paths}).files
    assert [path for path in files if "posts" in path] == ["content/posts/sum.md", "content/posts/sum-2024-02-05.md"]


def test_front_matter_defaults_are_those_of_the_closest_folder(import_site: Import) -> None:
    config = (
        "title: A\nurl: https://a.example\ndefaults:\n"
        "- {scope: {path: _posts/deep}, values: {category: deep}}\n"
        "- {scope: {path: '', type: posts}, values: {category: all, published: false}}\n"
    )
    files = import_site(
        {"_posts/deep/2024-01-05-a.md": page("A", "a"), "_posts/2024-01-05-b.md": page("B", "b")}, config
    )
    assert "category: deep\npermalink: /deep/2024/01/05/a/\n" in files.files["content/posts/a.md"]
    assert "category: all\n" in files.files["content/posts/b.md"]
    assert files.files["content/posts/b.md"].count("draft: true") == 1


def test_folder_of_all_collections_is_no_category_and_counts_in_no_scope(import_site: Import) -> None:
    config = (
        "title: A\nurl: https://a.example\ncollections_dir: docs\ndefaults:\n"
        "- {scope: {path: _posts}, values: {category: post}}\n"
        "- {scope: {path: docs/_posts/deep}, values: {category: deep}}\n"
    )
    files = import_site(
        {"docs/_posts/2024-01-05-a.md": page("A", "a"), "docs/_posts/deep/2024-01-05-b.md": page("B", "b")}, config
    ).files
    assert "permalink: /post/2024/01/05/a/\n" in files["content/posts/a.md"]
    assert "permalink: /deep/2024/01/05/b/\n" in files["content/posts/b.md"]


def test_settings_that_the_jekyll_site_lacks_are_said(import_site: Import) -> None:
    imported = import_site({"a.md": page("A", "a")}, "baseurl: /notes\n")
    assert "base_url: https://example.org/notes/\n" in imported.files["content/site.yaml"]
    assert imported.said == ["SG609 _config.yml:1", "SG609 _config.yml:1"]


def test_value_in_front_matter_that_is_no_yaml_is_read_as_text(import_site: Import) -> None:
    front = "title: a: b\nbroken: [x\n  y\ndescription: Words\n"
    imported = import_site({"_posts/2024-01-05-a.md": f"---\n{front}---\nText.", "a.md": page("A", "a")})
    assert imported.files["content/posts/a.md"].startswith('---\ntitle: "a: b"\n')
    assert "description: Words\n" in imported.files["content/posts/a.md"]
    assert imported.said == ["SG002 _posts/2024-01-05-a.md:2", "SG602 _posts/2024-01-05-a.md:3"]


def test_old_address_that_no_file_can_have_is_said(import_site: Import) -> None:
    imported = import_site({"_posts/2024-01-05-a.md": page("A", "a", "permalink: /a?b=1\n")})
    assert "permalink: /a-b-1/\n" in imported.files["content/posts/a.md"]
    assert imported.said == ["SG607 _posts/2024-01-05-a.md:4"]
