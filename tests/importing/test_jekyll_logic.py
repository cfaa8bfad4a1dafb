"""Loops, conditions and data of Liquid: what they make comes over, and what is not understood stays as a whole."""

from collections import Counter
from collections.abc import Callable
from time import process_time

import pytest

from sitegen.importing.jekyll import tags
from tests.importing.conftest import CONFIG, Imported
from tests.processor_time import within

Post = Callable[..., Imported]
DEEP, MANY = "[" * 900 + "]" * 900, f"[{', '.join(map(str, range(2000)))}]"
PEOPLE = "- name: Bo\n  role: chair\n  tags: [x, y]\n- name: Ada\n  quote: '\"A *fine* one.\"'\n  n: 2\n  born: false\n"


@pytest.mark.parametrize(
    ("liquid", "made"),
    [
        ("{% for p in site.data.none %}{{ p }}{% else %}Nobody.{% endfor %}", "Nobody."),
        ("{% for p in site.data.people reversed %}{{ p.name }} {% endfor %}", "Ada Bo "),
        ("{% for p in site.data.people limit:1 offset:1 %}{{ p.name }}{% endfor %}", "Ada"),
        ("{% for p in site.data.people %}{% if p.role %}{{ p.role }}{% else %}no{% endif %} {% endfor %}", "chair no "),
        ("{% for p in site.data.people %}{% unless p.n == 2 %}{{ p.name }}{% endunless %}{% endfor %}", "Bo"),
        (
            "{% for p in site.data.people %}{% if p.tags contains 'y' and p.n == nil %}B{% endif %}{% endfor %}",
            "B",
        ),
        ("{% for p in site.data.people %}{% if p.born or p.n > 1 %}{{ p.name }}{% endif %}{% endfor %}", "Ada"),
        ("{% for p in site.data.people %}{% if p.quote %}{{ p.quote }}{% endif %}{% endfor %}", '"A *fine* one."'),
        (
            "{% for p in site.data.people %}{{ forloop.index }}{% unless forloop.last %}, {% endunless %}{% endfor %}",
            "1, 2",
        ),
        (
            "{% for p in (1..9) %}{% if p==3 %}{% continue %}{% elsif p>4 %}{% break %}{% endif %}{{ p }}{% endfor %}",
            "124",
        ),
        ("{% assign s = site.data.people | sort: 'name' %}{% for p in s %}{{ p.name }} {% endfor %}", "Ada Bo "),
        ("{% assign s = site.data.people | map: 'name' | sort_natural | join: ', ' %}{{ s }}", "Ada, Bo"),
        (
            "{{ site.data.people | concat: site.data.table | uniq | size }}{{ 'x,x' | split: ',' | uniq }}",
            "4x",
        ),
        ("{% if page.title | slice: 0 == 'B' %}a{% endif %}{% if page.title == '|' %}b{% endif %}", "a"),
        ("{% capture a %}{{ 'b' | upcase }}{% endcapture %}{{ a }}", "B"),
        ("{% case page.title %}{% when 'B' %}b{% when 'C' or 'A' %}a{% else %}c{% endcase %}", "a"),
        ("{% for pair in site.data.of.row %}{{ pair[0] }}={{ pair[1] }} {% endfor %}", "k=1 l=2 "),
        ("{% for row in site.data.table %}{{ row.n }}{% endfor %}", "12"),
        ("{% for x in page.none %}{% endfor %}{{ site.data.people[0]['name'] }}{{ site.data.people.size }}", "Bo2"),
        ("{% for c in site.notes %}[{{ c.title }}]({{ c.url }}){% endfor %}", "[N](/notes-n/)"),
    ],
)
def test_logic_is_run(liquid: str, made: str, post: Post) -> None:
    files = {
        "_data/people.yml": PEOPLE,
        "_data/of/row.json": '{"k": 1, "l": 2}',
        "_data/table.csv": "n\n1\n2\n",
        "_notes/n.md": "---\ntitle: N\n---\nText.\n",
    }
    config = CONFIG + "collections:\n  notes:\n    output: true\n    permalink: /notes/n/\n"
    imported = post_of(post(f"{liquid}|\n", config, **files))
    assert imported == f"{made}|"


def post_of(imported: Imported) -> str:
    assert not [code for code in imported.said if "SG601" in code]
    return imported.body


@pytest.mark.parametrize(
    "liquid",
    [
        "{% for p in site.data.people %}{% unknown %}{% endfor %}",
        "{% for p in site.posts %}{{ p.title }}{% endfor %}",
        "{% for p in site.data.people %}{{ p | nothing }}{% endfor %}",
        "{% if nothing %}a{% endif %}",
        "{% for p in (1..99999999) %}a{% endfor %}",
        "{% for p in (1..2000) %}{% for q in (1..2000) %}{% endfor %}{% endfor %}",
        "{% for p in (1..2000) %}{% if p == 1 %}{% assign a = 9 %}{% endif %}{% assign a = a | times: a %}{% endfor %}",
        "{% for p in (1..2000) %}{% for q in (1..60) %}{{ site.data.many | sort | size }}{% endfor %}{% endfor %}",
        "{% for p in (1..60) %}{% if p == 1 %}{% assign a = 'x' %}{% endif %}"
        "{% capture a %}{{ a }}{{ a }}{% endcapture %}{% endfor %}",
        "{% capture a %}{% for p in (1..1100) %}ten signs.{% endfor %}{% endcapture %}",
        "{% for p in (1..2000) %}{% include long.md %}{% endfor %}",
        "{% if a " + "and a " * 5000 + "%}{% endif %}",
        "{% if " + "( " * 5000 + "%}{% endif %}",
        "{% for p in site.data.deep %}{{ p }}{% endfor %}",
    ],
)
def test_logic_that_is_not_understood_stays_as_a_whole_and_is_reported(liquid: str, post: Post) -> None:
    begin = process_time()
    long = {"_includes/long.md": f"{{% comment %}}{'a' * 1000}{{% endcomment %}}"}
    imported = post(
        f"{liquid}\n", **long, **{"_data/people.yml": PEOPLE, "_data/deep.json": DEEP, "_data/many.json": MANY}
    )
    assert within(process_time() - begin, 5)
    assert "SG601 _posts/2024-01-05-a.md:5" in imported.said
    assert imported.body.startswith(f"`{liquid}`"[:60])


def test_an_included_file_loops_over_a_list_that_it_gets(post: Post) -> None:
    row = (
        '<table>{% for v in include.of %}<tr id="{{ v.name | slugify }}"><td>{{ v.name }}</td></tr>{% endfor %}</table>'
    )
    imported = post("{% include t.html of=site.data.people %}", **{"_includes/t.html": row, "_data/people.yml": PEOPLE})
    assert imported.body == '<table><tr id="bo"><td>Bo</td></tr><tr id="ada"><td>Ada</td></tr></table>'
    assert imported.said == []


def test_a_mistake_in_what_a_loop_makes_has_the_line_of_the_loop(post: Post) -> None:
    row = '<tr style="color: red"><td>{{ p }}</td></tr>'
    imported = post(f"<table>\n{{% for p in (1..9) %}}\n{row}\n{{% endfor %}}\n</table>\n<b>")
    assert set(imported.said) == {"SG604 _posts/2024-01-05-a.md:6"}


def test_a_loop_may_include_a_file_many_times(post: Post) -> None:
    liquid = "{% for p in (1..500) %}{% include n.md of=p %}{% endfor %}\n"
    imported = post(liquid, **{"_includes/n.md": "{{ include.of }},"})
    assert imported.body == "".join(f"{number}," for number in range(1, 501))


def test_parameters_with_numbers_are_read_until_one_lacks(post: Post) -> None:
    liquid = (
        "{% for i in (0..9) %}{% capture q %}q{{ i }}{% endcapture %}\n"
        "{% if include.[q] == nil %}{% break %}{% endif %}\n"
        ' - <details markdown="1"><summary>{{ include.[q] }}</summary>\n'
        "     *No*: {{ include[q] | size }}\n     </details>\n"
        "{% endfor %}"
    )
    imported = post('{% include q.md\n  q0="Why?"\n  q1="How?" %}\n', **{"_includes/q.md": liquid})
    assert imported.said == []
    assert imported.body == (
        " - <details>\n   <summary>Why?</summary>\n\n   *No*: 4\n\n   </details>\n\n"
        " - <details>\n   <summary>How?</summary>\n\n   *No*: 4\n\n   </details>"
    )


def test_a_file_that_all_texts_include_is_run_once_only_where_it_names_no_text(
    import_site: Callable[..., Imported], monkeypatch: pytest.MonkeyPatch
) -> None:
    run: list[str] = []
    run_included = tags._IncludedLiquid.run

    def counted(liquid: tags._IncludedLiquid) -> tags.NumberedText:
        run.append(liquid.included[-1])
        return run_included(liquid)

    monkeypatch.setattr(tags._IncludedLiquid, "run", counted)
    links = "{% for n in site.notes %}[n]: {{ n.url }}\n{% endfor %}"
    files = {
        f"_posts/2024-01-0{day}-a.md": "---\ntitle: A{day}\n---\n[a][n] {% include l.md %} {% include t.md %}"
        for day in (1, 2)
    }
    files = {path: text.replace("{day}", path[-6]) for path, text in files.items()}
    imported = import_site(
        {
            **files,
            "_notes/n.md": "---\ntitle: N\n---\nText.\n",
            "_includes/l.md": links,
            "_includes/t.md": "{{ page.title }}",
        },
        CONFIG + "collections:\n  notes:\n    output: true\n",
    )
    texts = [str(text) for path, text in imported.files.items() if path.startswith("content/posts/")]
    assert ["A1" in texts[0].split("---")[2], "A2" in texts[1].split("---")[2]] == [True, True]
    assert all("[n]: /notes-n/" in text for text in texts)
    assert Counter(run) == {"_includes/l.md": 1, "_includes/t.md": 3}  # the second also alone, which names a text


@pytest.mark.parametrize(
    ("loop", "kept"),
    [
        ("{% for p in site.data.people %}{{ p.words }}{% endfor %}{% for p in site.posts %}{% endfor %}", False),
        ("{% for p in site.data.people %}{{ p.none }}{% endfor %}", False),
        ("{% for p in site.data.people %}<p>{{ p.words }}</p>{% endfor %}", True),
    ],
)
def test_a_page_that_is_made_of_data_comes_over(loop: str, kept: bool, import_site: Callable[..., Imported]) -> None:
    data = f"- words: {'many words ' * 11}\n"
    imported = import_site({"people.html": f"---\ntitle: People\n---\n{loop}\n", "_data/people.yml": data})
    assert ("content/pages/people.md" in imported.files, imported.said) == (
        kept,
        [] if kept else ["SG606 people.html:4"],
    )
