"""Liquid that would take much time or memory ends soon and stays in the text, and so does Liquid with a wrong value."""

from collections.abc import Callable, Mapping
from time import process_time

import pytest

from sitegen.importing.jekyll.filters import FILTERS
from sitegen.importing.jekyll.not_understood import NotUnderstood
from sitegen.importing.jekyll.values import value_of
from tests.importing.conftest import Imported
from tests.processor_time import within

Post = Callable[..., Imported]
LONG_COMMENT = '{% assign a = "<!--" %}' + "{% assign a = a | append: a %}" * 11
LONG_LIST = "{% assign l = a | compact %}" + "{% assign l = l | concat: l %}" * 10


@pytest.mark.parametrize(
    "liquid",
    [
        LONG_COMMENT + LONG_LIST + "{{ l | strip_html }}",
        LONG_COMMENT + LONG_LIST + "{% assign m = l | append: 'x' %}",
        "{{ 1 | round: -20000000 }}",
        LONG_COMMENT + '{% assign b = a | replace: "", a %}',
        LONG_COMMENT + LONG_LIST + "{% assign b = l | join: a %}",
        LONG_COMMENT + LONG_LIST + "{% assign b = l | array_to_sentence_string %}",
        "{% for i in (1..200) %}{% highlight c %}" + "a" * 5000 + "{% endhighlight %}{% endfor %}",
    ],
    ids=lambda liquid: liquid[-30:],
)
def test_liquid_that_makes_too_much_is_reported(liquid: str, post: Post) -> None:
    assert refused_soon(liquid, post)


def refused_soon(liquid: str, post: Post, files: Mapping[str, str] | None = None) -> Imported:
    begin = process_time()
    imported = post(f"{liquid}\n", **(files or {}))
    assert within(process_time() - begin, 4)
    assert {code for code in imported.said if "SG601" in code}
    return imported


@pytest.mark.parametrize(
    ("html", "made"),
    [
        ("<!-- <script> -->a</script>b", "ab"),
        ("<style>a<!-- b</style>c--d<b>e", "c--de"),
        ("a<!-- b", "a<!-- b"),
        ("--></script>" + "<!--" * 2000, "-->" + "<!--" * 2000),
    ],
    ids=lambda text: text[-30:],
)
def test_tags_are_removed_in_time_that_grows_with_the_text(html: str, made: str) -> None:
    begin = process_time()
    for _ in range(60):
        assert FILTERS["strip_html"](html) == made
    assert within(process_time() - begin, 4)


@pytest.mark.parametrize(
    ("liquid", "made"),
    [
        ("{{ -2.5 | round }} {{ 2.5 | round }}", "-3 3"),
        ("{{ 1.255 | round: 2 }} {{ 5 | round: 2 }} {{ '1250' | round: -2 }}", "1.26 5 1300"),
    ],
)
def test_a_half_is_rounded_away_from_zero(liquid: str, made: str, post: Post) -> None:
    assert post(liquid).body == made


def test_what_the_loops_of_a_shared_include_write_is_counted(post: Post) -> None:
    loop = "{% for i in (1..200) %}" + "a " * 500 + "{% endfor %}"
    imported = refused_soon("{% include l.md %}" * 12, post, {"_includes/l.md": loop})
    assert len(imported.body) < 2**20 + 12 * 50


def test_a_short_row_of_a_table_has_no_entries_for_its_missing_fields(post: Post) -> None:
    table = ",".join(f"c{at}" for at in range(1000)) + "\n" + "1\n" * 2
    loop = "{% for row in site.data.t %}{% for p in row %}{{ p[0] }},{% endfor %}{{ row.c9 }}{% endfor %}"
    imported = post(loop, **{"_data/t.csv": table, "_data/empty.csv": ""})
    assert (imported.body, imported.said) == ("c0,c0,", [])


@pytest.mark.parametrize(
    "turn",
    [
        "{% assign u = site.data.pairs | first %}",
        "{% for pair in site.data.pairs limit: 1 %}{% endfor %}",
        "{% for item in site.data.many %}{% break %}{% endfor %}",
        "{% assign u = site.data.one | uniq %}",
        "{{ site.data.empty }}",
    ],
)
def test_what_each_turn_of_a_loop_reads_is_counted(turn: str, post: Post) -> None:
    pairs = ", ".join(f'"{at}": {at}' for at in range(1500))
    many, one = f"[{', '.join('0' * 1500)}]", f'[{{"k": "{"a" * 2000}"}}]'
    empty = f"[{', '.join(['[]'] * 1500)}]"
    files = {
        "_data/empty.json": empty,
        "_data/pairs.json": f"{{{pairs}}}",
        "_data/many.json": many,
        "_data/one.json": one,
    }
    refused_soon(f"{{% for i in (1..800) %}}{turn}{{% endfor %}}", post, files)


@pytest.mark.parametrize(
    "liquid",
    [
        "{{ site.data[site.data.many] }}",
        "{{ " + "9" * 4301 + " }}",
        "{% assign a = " + "(1.." * 1000 + "2" + ")" * 1000 + " %}",
        "{% if 1 == " + "(1.." * 1000 + "2" + ")" * 1000 + " %}{% endif %}",
        "{% if 'a' contains site.data.deep %}{% endif %}",
        "{% if site.data.pairs contains site.data.many %}{% endif %}",
        "{% if site.data.many == site.data.many %}{% endif %}",
        "{% case site.data.many %}{% when site.data.pairs %}{% endcase %}",
        "{% if site.data.long contains 2 %}{% endif %}",
    ],
    ids=lambda liquid: liquid[:50],
)
def test_a_value_of_the_wrong_kind_is_reported(liquid: str, post: Post) -> None:
    files = {
        "_data/long.json": f"[{', '.join('1' * 2001)}]",
        "_data/pairs.json": '{"k": 1}',
        "_data/many.json": '["k"]',
        "_data/deep.json": "[" * 900 + "]" * 900,
    }
    assert liquid[:50] in refused_soon(liquid, post, files).body


def test_a_number_contains_nothing(post: Post) -> None:
    liquid = "{% if site.data.n.k contains '1' or 'a' contains nil %}a{% else %}b{% endif %}"
    imported = post(liquid, **{"_data/n.json": '{"k": 1}'})
    assert (imported.body, imported.said) == ("b", [])


def test_a_mark_in_data_stands_for_nothing(post: Post) -> None:
    marks = ["\\ufdd0999\\ufdd1", "\\ufdd0" + "1" * 5000 + "\\ufdd1"]
    imported = post("a {{ site.data.n[0] }} {{ site.data.n[1] }}", **{"_data/n.json": f'["{marks[0]}", "{marks[1]}"]'})
    assert imported.body == "a \ufffd \ufffd"


@pytest.mark.parametrize("change", ["replace: '0', '7'", "replace: '0', '1'", "size", "truncate: 2", "slugify"])
def test_a_filter_that_changes_the_mark_of_a_listing_is_reported(change: str, post: Post) -> None:
    listings = "{% highlight c %}x{% endhighlight %} {% highlight c %}y{% endhighlight %}"
    imported = post(f"{{% capture a %}}{listings}{{% endcapture %}}{{{{ a | {change} }}}}")
    assert imported.said == ["SG601 _posts/2024-01-05-a.md:5"]
    assert change in imported.body


def test_a_filter_changes_the_text_around_a_listing(post: Post) -> None:
    listing = "{% capture a %} b\n{% highlight c %}x{% endhighlight %}{% endcapture %}"
    imported = post(listing + "{{ a | strip | replace: 'b', 'd' | default: 'b' | append: 'e' | prepend: a }}")
    assert imported.said == []
    assert (imported.body.count("`c"), "d" in imported.body) == (2, True)


def test_a_filter_that_finds_no_item_is_not_understood() -> None:
    with pytest.raises(NotUnderstood):  # Python 3.12 looks for a slice in a mapping, and finds none
        value_of("a | part", {"a": {}}, {"part": lambda value: value["b"]})


@pytest.mark.parametrize("liquid", ["{% assign b = l | join %}", "{{ l | join }}", "{{ l }}"])
def test_what_filters_make_outside_of_loops_is_counted(liquid: str, post: Post) -> None:
    filled = "{% assign a = '" + "a" * 100 + "' %}{% assign l = a | compact %}" + "{% assign l = l | concat: l %}" * 10
    imported = refused_soon(f"{filled}{liquid * 12}x", post)
    assert imported.body.endswith("x")
    assert len(imported.body) < 2**20 + 1000
