"""The link definitions of included files: those that a post uses come over, each once."""

from collections.abc import Callable
from time import process_time

import pytest

from sitegen.importing.jekyll.definitions import used_labels
from tests.importing.conftest import CONFIG, Imported
from tests.processor_time import within

Post = Callable[..., Imported]
LINKS = "{% include links.md %}"


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("see [the guide][hopper]", "hopper"),
        ("see [the guide][Hopper]", "Hopper"),
        ("see [Hopper][]", "Hopper"),
        ("see [hopper]", "hopper"),
        ("see [hopper][]: it is long", "hopper"),
        ("see [the [old] guide][hopper]", "hopper"),
        ("`code` and [a][hopper] and `more`", "hopper"),
        ("an open ` and [a][hopper]", "hopper"),
        ("- [a][hopper]", "hopper"),
        ("- item\n\n    more on [a][hopper]", "hopper"),
    ],
)
def test_a_used_definition_comes_over(written: str, label: str, post: Post) -> None:
    imported = post(f"{written}\n\n{LINKS}\n", **{"_includes/links.md": '[hopper]: https://h.example/ "H"\n'})
    assert imported.body == f'{written}\n\n[{label}]: https://h.example/ "H"'
    assert not imported.said


@pytest.mark.parametrize(
    "written",
    [
        "`[a][hopper]`",
        "```\n[a][hopper]\n```",
        "    [a][hopper]",
        "[hopper](https://other.example/)",
        "[hopper][other]",
        "[hopper]: https://own.example/\n\n[a][hopper]",
        "no link",
    ],
)
def test_an_unused_definition_does_not(written: str, post: Post) -> None:
    imported = post(f"{written}\n\n{LINKS}\n", **{"_includes/links.md": "[hopper]: https://h.example/\n"})
    assert "h.example" not in imported.body


def test_a_label_over_two_lines_of_a_quote_is_one_label(post: Post) -> None:
    imported = post(f"> [a][core\n> repo]\n\n{LINKS}\n", **{"_includes/links.md": "[core repo]: https://c.example/\n"})
    assert imported.body.endswith("\n\n[core repo]: https://c.example/")


def test_a_label_keeps_the_backslash_that_the_text_has(post: Post) -> None:
    imported = post(f"[@kern][]\n\n{LINKS}\n", **{"_includes/links.md": "[@kern]: https://k.example/\n"})
    assert imported.body == "[\\@kern][]\n\n[\\@kern]: https://k.example/"


def test_the_first_of_two_includes_that_define_a_label_wins(post: Post) -> None:
    files = {"_includes/a.md": "[x]: https://a.example/", "_includes/b.md": "[X]: https://b.example/"}
    imported = post("[t][x] [u][X]\n\n{% include a.md %}\n{% include b.md %}\n", **files)
    assert imported.body == "[t][x] [u][X]\n\n[x]: https://a.example/"


def test_text_stands_in_place_and_definitions_at_the_end(post: Post) -> None:
    imported = post(
        f"{LINKS}\n\nend\n", **{"_includes/links.md": "See [t][x].\n\n```\n[x]: code\n```\n\n[x]: https://a.example/\n"}
    )
    assert imported.body == "See [t][x].\n\n```\n[x]: code\n```\n\nend\n\n[x]: https://a.example/"


def test_an_include_has_parameters(post: Post) -> None:
    links = "[x]: https://a.example/{{ include.page }}{{ include.none }}\n"
    imported = post('[t][x]\n\n{% include links.md page="p" %}\n', **{"_includes/links.md": links})
    assert imported.body == "[t][x]\n\n[x]: https://a.example/p"


def test_an_address_has_the_baseurl_and_a_variable(post: Post) -> None:
    links = (
        "{% assign docs = 'https://d.example' %}\n[x]: {{ docs }}/a{% comment %}later{% endcomment %}\n"
        "[y]: {{ site.baseurl }}/2024/01/05/a.html\n"
    )
    imported = post(f"[t][x] [u][y]\n\n{LINKS}\n", CONFIG + "baseurl: /notes\n", **{"_includes/links.md": links})
    assert imported.body == "[t][x] [u][y]\n\n[x]: https://d.example/a\n[y]: /2024/01/05/a/"


def test_a_variable_of_an_included_file_is_known_below_the_include(post: Post) -> None:
    imported = post(
        "{% include names.md %}\n\n[t]({{ docs }})", **{"_includes/names.md": "{% assign docs = 'https://d.example' %}"}
    )
    assert imported.body == "[t](https://d.example)"
    assert not imported.said


def test_a_file_with_logic_stays_with_a_warning_and_its_plain_definitions_come_over(post: Post) -> None:
    links = (
        "[x]: https://a.example/\n{% for p in site.posts %}\n[y]: https://b.example/\n{% endfor %}\n"
        "[z]: {{ site.none }}/c\n{% include figure.html path='gone.png' %}"
    )
    imported = post(f"[t][x] [u][y] [v][z]\n\n{LINKS}\n", **{"_includes/links.md": links})
    assert imported.body == f"[t][x] [u][y] [v][z]\n\n`{LINKS}`\n\n[x]: https://a.example/"
    assert imported.said == ["SG601 _posts/2024-01-05-a.md:7"]


def test_a_definition_right_below_an_unknown_tag_is_no_text(post: Post) -> None:
    imported = post("[t][x] [u][y]\n\n{% unknown %}\n{% unknown %}\n[x]: https://a.example/\n[y]: https://b.example/\n")
    definitions = "[x]: https://a.example/\n[y]: https://b.example/"
    assert imported.body == f"[t][x] [u][y]\n\n`{{% unknown %}}`\n`{{% unknown %}}`\n\n{definitions}"


def test_a_broken_address_is_reported_at_the_include_and_only_where_it_is_used(post: Post) -> None:
    links = "[x]: /gone/\n[y]: /gone-too/\n"
    imported = post(f"[t][x]\n\n{LINKS}\n", **{"_includes/links.md": links})
    assert imported.said == ["SG603 _posts/2024-01-05-a.md:7"]


def test_an_included_file_includes_another(post: Post) -> None:
    files = {"_includes/links.md": "{% include more/x.md %}", "_includes/more/x.md": "[x]: https://a.example/"}
    assert post(f"[t][x]\n\n{LINKS}\n", **files).body == "[t][x]\n\n[x]: https://a.example/"


def test_a_definition_before_a_nested_include_is_the_first(post: Post) -> None:
    files = {
        "_includes/links.md": "[x]: https://a.example/\n{% include b.md %}",
        "_includes/b.md": "[x]: https://b.example/",
    }
    assert post(f"[t][x]\n\n{LINKS}\n", **files).body == "[t][x]\n\n[x]: https://a.example/"


def test_definitions_of_a_nested_file_with_logic_come_over(post: Post) -> None:
    files = {
        "_includes/links.md": "{% include b.md %}",
        "_includes/b.md": "[x]: https://b.example/\n{% if a %}{% endif %}",
    }
    assert post(f"[t][x]\n\n{LINKS}\n", **files).body == f"[t][x]\n\n`{LINKS}`\n\n[x]: https://b.example/"


def test_a_file_that_includes_itself_stays_with_a_warning(post: Post) -> None:
    links = "[x]: https://a.example/\n{% include links.md %}"
    imported = post(f"[t][x]\n\n{LINKS}\n", **{"_includes/links.md": links})
    assert imported.body == f"[t][x]\n\n`{LINKS}`\n\n[x]: https://a.example/"
    assert imported.said == ["SG601 _posts/2024-01-05-a.md:7"]


def test_files_that_include_one_another_ten_times_stay_within_the_bound(post: Post) -> None:
    files = {f"_includes/{at}.md": f"{{% include {at + 1}.md %}}\n" * 10 for at in range(9)}
    begin = process_time()
    imported = post("a\n\n{% include 0.md %}\n", **files, **{"_includes/9.md": "text"})
    assert within(process_time() - begin, 5)
    assert imported.said == ["SG601 _posts/2024-01-05-a.md:7"]


def test_a_value_that_doubles_stays_small(post: Post) -> None:
    doubled = "{% assign a = a | append: a %}" * 20 + "{{ a | replace: 'x', a }}"
    imported = post("{% include a.md %}", **{"_includes/a.md": f"{{% assign a = 'x' %}}{doubled}"})
    assert imported.said == ["SG601 _posts/2024-01-05-a.md:5"]


@pytest.mark.parametrize("name", ["../outside.md", "../../outside.md", "/etc/passwd", "gone.md"])
def test_only_files_in_the_folder_are_included(name: str, post: Post) -> None:
    imported = post(
        f"[t][x]\n\n{{% include {name} %}}\n", **{"_includes/a.md": "", "outside.md": "[x]: https://a.example/"}
    )
    assert imported.said == ["SG601 _posts/2024-01-05-a.md:7"]
    assert "a.example" not in imported.body


@pytest.mark.parametrize("text", ["`" * 20_000, "[" * 200_000, "``` a `" * 30_000, "[a\\" * 60_000, "[a][" * 60_000])
def test_labels_are_found_in_bounded_time(text: str) -> None:
    begin = process_time()
    list(used_labels(text))
    assert within(process_time() - begin, 2)


ISSUES = (
    '{% capture /dev/null %}\n<!-- words -->\n{% assign _all = include.issues | split: "," %}\n{% endcapture %}'
    "{% for _one in _all %}\n[core #{{_one}}]: https://c.example/{{_one}}\n{% endfor %}\n"
)


@pytest.mark.parametrize(
    ("file", "body", "codes"),
    [
        ("<p>Few words.</p><script>go()</script>", "`{% include links.md %}`", ["SG601"]),
        (
            "Many words. " * 11 + "\n\n<script>\nlet a = 1;\n\ngo(a);\n</script>\n\nThe end.",
            "Many words. " * 11 + "\n\nThe end.",
            ["SG604"],
        ),
    ],
)
def test_the_words_around_a_script_of_an_included_file_come_over(
    file: str, body: str, codes: list[str], post: Post
) -> None:
    imported = post(f"{LINKS}\n", **{"_includes/links.md": file})
    assert (imported.body, imported.said) == (body, [f"{code} _posts/2024-01-05-a.md:5" for code in codes])


def test_a_loop_over_a_parameter_defines_links(post: Post) -> None:
    text = '[a][core #7] [b][core #12]\n\n{% include issues.md issues="7,12,15" %}\n'
    imported = post(text, **{"_includes/issues.md": ISSUES})
    assert imported.said == []
    assert imported.body == (
        "[a][core #7] [b][core #12]\n\n[core #7]: https://c.example/7\n[core #12]: https://c.example/12"
    )


@pytest.mark.parametrize(
    "loop",
    [
        "{% for x in site.posts %}[core #7]: https://c.example/\n{% endfor %}",
        "{% for x in (1..1000) %}{% for y in (1..1000) %}{{ y }}{% endfor %}{% endfor %}",
        "{% capture a %}0123456789{% endcapture %}" + "{% capture a %}{{ a }}{{ a }}{% endcapture %}" * 40,
        "{% assign a = include.issues | split: ',' %}{% for x in a %}" + "text " * 200_000 + "{% endfor %}",
    ],
)
def test_a_loop_over_other_things_and_what_grows_without_end_stay(loop: str, post: Post) -> None:
    imported = post('[a][core #7]\n\n{% include issues.md issues="7,8" %}\n', **{"_includes/issues.md": loop})
    assert imported.said == ["SG601 _posts/2024-01-05-a.md:7"]


def test_a_file_with_words_comes_over_without_the_logic_in_it(post: Post) -> None:
    words = "Many words. " * 11
    files = {
        "_includes/article.md": words + "[t][x]\n\n{% include links.md %}",
        "_includes/links.md": "[x]: https://a.example/\n{% for p in site.posts %}[{{ p.title }}]{% endfor %}",
    }
    imported = post("{% include article.md %}\n\nend\n", **files)
    assert imported.body == f"{words}[t][x]\n\nend\n\n[x]: https://a.example/"
    assert imported.said == ["SG601 _posts/2024-01-05-a.md:5"]
