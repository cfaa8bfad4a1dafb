"""What Liquid and Jekyll's filters mean where Python's own means something else: no word of a text is lost."""

import json
from collections.abc import Callable
from time import process_time

import pytest

from tests.importing.conftest import Imported
from tests.processor_time import within

Post = Callable[..., Imported]


@pytest.mark.parametrize(
    ("front", "tag", "made"),
    [
        ("year: 2020", '{% include figure.html path="a.png" caption=page.year %}', "```{figure} a.png\n2020\n```"),
        ("none: 1", '{% include figure.html path="a.png" caption=page.year %}', "```{figure} a.png\n```"),
        ("draft: true", "{% include note.html text=page.draft %}", ":::{note}\ntrue\n:::"),
        ("year: [1, 2]", "{% include note.html text=page.year %}", ":::{note}\npage.year\n:::"),
        ("none: 1", "{% include note.html text=soon %}", ":::{note}\nsoon\n:::"),
        (
            "video: 12345",
            "{% include vimeo.html id=page.video %}",
            "[https://vimeo.com/12345](https://vimeo.com/12345)",
        ),
    ],
)
def test_a_parameter_of_an_include_is_the_text_of_its_value(
    front: str, tag: str, made: str, import_site: Callable[..., Imported]
) -> None:
    imported = import_site({"_posts/2024-01-05-a.md": f"---\ntitle: A\n{front}\n---\n{tag}\n", "a.png": "x"})
    assert imported.body == made


@pytest.mark.parametrize(
    "inside",
    [
        "{% details M %}x{% if forloop.last %}{% break %}{% endif %}{% enddetails %}",
        "{% details M %}x{% if forloop.first %}{% continue %}{% endif %}{% enddetails %}",
        "{% include words.md %}",
    ],
)
def test_a_loop_that_ends_within_details_or_an_included_file_stays_with_its_words(inside: str, post: Post) -> None:
    liquid = f"{{% for n in (1..2) %}}Name {{{{ n }}}}. {inside}{{% endfor %}}"
    imported = post(f"{liquid}\n", **{"_includes/words.md": "Words. {% break %}"})
    assert imported.said == ["SG601 _posts/2024-01-05-a.md:5"]
    assert imported.body.startswith("`{% for n in (1..2) %}Name {{ n }}. {%")


def test_details_after_many_that_are_not_understood_come_over(post: Post) -> None:
    lost = "{% for n in (1..2) %}{% details M %}{% unknown %}{% enddetails %}{% endfor %}\n\n"
    imported = post(f"{lost * 60}{{% details M %}}kept{{% enddetails %}}\n")
    assert imported.body.endswith("<summary>M</summary>\n\nkept\n\n</details>")


DATA = """\
papers:
- {id: a, n: 0, year: 2020, tags: [gpu, c], of: {in: x}}
- {id: b, n: 1, year: "2021", tags: cpu}
- {id: c, year: 2020.0, tags: []}
named: {first: {id: d, n: 11}, second: {id: e, n: 1}}
"""
IDS = " | map: 'id' | join %}{{ s }}"


@pytest.mark.parametrize(
    ("liquid", "made"),
    [
        ("{% assign n = 0 %}{% if n %}There are {{ n }}.{% endif %}", "There are 0."),
        ("{% assign n = 0 %}{% if n or false %}a{% endif %}{% unless n %}b{% endunless %}", "a"),
        ("{% if false %}a{% endif %}{% if nil %}b{% endif %}{% if '' %}c{% endif %}", "c"),
        ("{{ 0 | default: 7 }}{{ 0.0 | default: 7 }}", "00.0"),
        ("{{ false | default: 7 }}{{ '' | default: 8 }}{{ nil | default: 9 }}", "789"),
        ("{% assign s = site.data.d.papers | where: 'n'" + IDS, "a b"),
        ("{% assign s = site.data.d.papers | where: 'year', '2020'" + IDS, "a"),
        ("{% assign s = site.data.d.papers | where: 'year', 2021" + IDS, "b"),
        ("{% assign s = site.data.d.papers | where: 'tags', 'gpu'" + IDS, "a"),
        ("{% assign s = site.data.d.papers | where: 'tags', 'cpu'" + IDS, "b"),
        ("{% assign s = site.data.d.papers | where: 'tags', 'c, gpu'" + IDS, ""),
        ("{% assign s = site.data.d.papers | where: 'of.in', 'x'" + IDS, "a"),
        ("{% assign s = site.data.d.papers | where: 'n', nil" + IDS, "c"),
        ("{% assign s = site.data.d.named | where: 'n', '1'" + IDS, "e"),
        (
            "{% capture nl %}\n{% endcapture %}{% assign l = 'a b;c' | replace: ';', nl | split: nl %}"
            "{{ l | join: '-' }}",
            "a b-c",
        ),
        ("{{ 'abc' | split: '' | join: '-' }}", "a-b-c"),
        ("{{ ' a  b ' | split: ' ' | join: '-' }}", "a-b"),
        ("{{ '' | split: ',' | size }}{{ 'a,b,,' | split: ',' | size }}{{ ',a' | split: ',' | size }}", "022"),
        (
            "{% for a in (1..2) %}{% for b in (1..3) %}{{ forloop.rindex0 }}"
            "{% if forloop.parentloop.first %}f{% endif %}{% endfor %}"
            "{% if forloop.parentloop %}p{% endif %} {% endfor %}",
            "2f1f0f 210 ",
        ),
        ("{% assign s = site.data.d.papers | sort: 'n'" + IDS, "c a b"),
        ("{% assign s = site.data.d.papers | sort: 'n', 'last'" + IDS, "a b c"),
        ("{% assign s = site.data.d.papers | sort_natural: 'n'" + IDS, "a b c"),
        ("{% assign s = site.data.d.papers | sort: 'of.in'" + IDS, "b c a"),
        ("{% assign s = site.data.rows | sort: 'n' | map: 'n' | join %}{{ s }}", "-1 9 10"),
        ("{{ '10,9' | split: ',' | sort | join }}", "10 9"),
        ("{{ 'my GREAT Éa' | capitalize }}", "My great éa"),
        ("{{ 1700000000 | date: '%-d, %H:%M' }}", "14, 22:13"),
        ("{{ 18307 | date: '%-H %H:%M, %-m/%-d/%Y' }}", "5 05:05, 1/1/1970"),
        ("{{ '2024-01-05' | date: '%-d %B %-y, 007, 100%%-d' }}", "5 January 24, 007, 100%-d"),
        ("{{ '2024-01-05' | date: '%-H' }}", "0"),
        ("{% assign n = 0 %}{% if n != blank %}a{% endif %}{% if ' ' == blank %}b{% endif %}", "ab"),
        ("{% if nil == blank %}a{% endif %}{% if nil == empty %}b{% endif %}{% if '' == empty %}c{% endif %}", "ac"),
    ],
)
def test_values_are_those_of_liquid(liquid: str, made: str, post: Post) -> None:
    imported = post(f"{liquid}.\n", **{"_data/d.yml": DATA, "_data/rows.csv": "n\n10\n9\n-1\n"})
    assert (imported.body, imported.said) == (f"{made}.", [])


def test_a_file_beside_the_text_is_read_for_each_folder_however_deep_its_include(
    import_site: Callable[..., Imported],
) -> None:
    files = {"_includes/a.md": "{% include b.md %}", "_includes/b.md": "{% include_relative c.md %}"}
    for folder in ("x", "y"):
        files[f"{folder}/_posts/2024-01-05-{folder}.md"] = f"---\ntitle: {folder}\n---\n{{% include a.md %}}\n"
        files[f"{folder}/_posts/c.md"] = f"words of {folder}"
    imported = import_site(files)
    texts = {str(text).split("---\n")[2] for path, text in imported.files.items() if path.startswith("content/posts/")}
    assert texts == {"words of x\n", "words of y\n"}


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ('"no"', "no+"),
        ("'no'", "no+"),
        ("norm", "norm+"),
        ("no", "false-"),
        ("Off  # a comment", "false-"),
        ("yes", "true+"),
        ("[no, 'no']", "falseno+"),
        ("{a: 1}", "+"),
        ("|-\n  no", "no+"),
    ],
)
@pytest.mark.parametrize("place", ["page.of", "site.data.d.of"])
def test_yes_and_no_without_quotes_are_flags_as_in_ruby(
    written: str, made: str, place: str, import_site: Callable[..., Imported]
) -> None:
    of = f"of: {written}\n"
    shown = f"{{{{ {place} }}}}" if "{" not in written else ""
    liquid = f"{shown}{{% if {place} %}}+{{% else %}}-{{% endif %}}"
    files = {"_posts/2024-01-05-a.md": f"---\ntitle: A\nlayout: post\n{of}---\nSo: {liquid}\n", "_data/d.yml": of}
    assert import_site(files).body == f"So: {made}"


@pytest.mark.parametrize(
    "liquid",
    [
        "{% assign w = site.data.big | where: 'of', 1 %}",
        "{% for i in (1..2000) %}{% for j in (1..50) %}{% assign w = site.data.some | where: 'of', 1 %}{% endfor %}"
        "{% endfor %}",
        "{% assign w = site.data.some | where: '" + "a." * 4000 + "', 1 %}",
        "{% assign w = site.data.some | sort: '" + "a." * 4000 + "' %}",
    ],
    ids=lambda liquid: liquid[-30:],
)
def test_properties_that_take_much_time_are_reported(liquid: str, post: Post) -> None:
    begin = process_time()
    of = {f"_data/{name}.json": json.dumps([{"of": [2] * size}]) for name, size in (("big", 100_000), ("some", 2000))}
    imported = post(f"{liquid}\n", **of)
    assert within(process_time() - begin, 4)
    assert imported.said == ["SG601 _posts/2024-01-05-a.md:5"]
