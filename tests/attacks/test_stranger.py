"""Attacks of somebody who has not seen the other tests: pipes, devices, links, depth and length in place of a file."""

from __future__ import annotations

import datetime as dt
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from jinja2 import DictLoader, StrictUndefined
from jinja2.exceptions import SecurityError

from sitegen.cli import main
from sitegen.editor.server import Session
from sitegen.importing.folders.convert import import_folder
from sitegen.importing.folders.hugo import HUGO
from sitegen.importing.folders.obsidian import OBSIDIAN
from sitegen.importing.jekyll.convert import import_jekyll
from sitegen.importing.jekyll.liquid import tokens
from sitegen.measure import exercise
from sitegen.measure.exercise import JOB, check_folder
from sitegen.read.python import syntax_mistake
from sitegen.render.shared import budget
from sitegen.render.shared.sandbox import OwnTemplates
from sitegen.render.shared.templates import TemplateFailure
from sitegen.results.dependencies import files_reached_by_text
from tests.processor_time import within

ROOT = Path(__file__).parents[2]
SITE = "title: T\nbase_url: https://example.org/\n"
POST = "---\ntitle: A\ndate: 2024-01-01\n---\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "content/posts").mkdir(parents=True)
    (tmp_path / "content/site.yaml").write_text(SITE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(*words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(main, words)
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    return ended.exit_code, ended.output


@pytest.mark.parametrize(
    "command",
    [
        ("accept", "FILE"),
        ("accept", "real.zip", "--bundle", "FILE"),
        ("run", "-o", "out.zip", "--bundle", "FILE"),
        ("try", "--bundle", "FILE"),
        ("import", "worklog", "FILE"),
        ("import", "notebook", "FILE"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("file", ["pipe", "/dev/zero", "link"])
def test_a_pipe_or_a_device_in_place_of_a_file_is_refused_at_once(
    site: Path, command: tuple[str, ...], file: str
) -> None:
    os.mkfifo("pipe")
    Path("link").symlink_to("/dev/zero")
    Path("real.zip").write_bytes(b"")
    code, output = said(*(file if word == "FILE" else word for word in command))
    assert code == 2 and f"'{file}' is not a regular file" in output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of an exercise, without a kernel."""
    (tmp_path / "mine" / ".exercise").mkdir(parents=True)
    return tmp_path / "mine"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 100_000, '{"id": NaN}', "[1]", '{"id": "x"}', '{"id": "x", "kernel": 3, "sources": [1]}'],
    ids=lambda text: text[:12] or "empty",
)
def test_an_exercise_that_is_none_is_said_in_one_line(folder: Path, text: str) -> None:
    (folder / JOB).write_text(text)
    assert said("exercise", "check", str(folder)) == (
        1,
        f"{JOB} is no exercise: start it again by `sitegen exercise start`\n",
    )


def test_an_exercise_in_a_pipe_or_of_endless_zeros_is_refused(folder: Path) -> None:
    wanted = (1, f"{JOB} is not a regular file of at most 16 MiB\n")
    (folder / JOB).symlink_to("/dev/zero")
    assert said("exercise", "check", str(folder)) == wanted
    (folder / JOB).unlink()
    os.mkfifo(folder / JOB)
    assert said("exercise", "check", str(folder)) == wanted
    (folder / JOB).unlink()
    (folder / JOB).write_bytes(b"\xff\xfe")
    assert said("exercise", "check", str(folder)) == (1, f"{JOB} is not a text in UTF-8\n")


@pytest.mark.parametrize("name", ["../../../escaped", "/tmp/escaped", "a/../../escaped"])
def test_an_exercise_whose_sources_lead_out_runs_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (folder / JOB).write_text(json.dumps({}))
    job = type("Job", (), {"sources": {name: "x"}, "reader_file": "k.py"})()
    job.kernel = type("Kernel", (), {"name": "k", "folder": "kernels/k"})()
    monkeypatch.setattr(exercise, "from_plain", lambda cls, data: job)
    assert check_folder(folder) == (False, (f"{JOB} names {name!r}, which leads out of the folder: nothing was run",))


def test_what_an_exercise_says_cannot_control_the_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / JOB).write_text("{}")
    monkeypatch.setattr(exercise, "check_folder", lambda folder: (True, ("\x1b[31mred\x1b]0;title\x07",)))
    code, output = said("exercise", "check", str(folder))
    assert code == 0 and "\x1b" not in output and "\x07" not in output


def test_an_address_that_is_too_long_as_a_whole_is_an_error_and_nothing_is_written(site: Path) -> None:
    for address in ("/" + "a/" * 3000, "/" + "한/" * 400):
        text = POST.replace("date:", f"permalink: {address}\naliases: [{address}z/]\ndate:")
        (site / "content/posts/a.md").write_text(f"{text}Words.\n")
        code, output = said("build", "--quiet")
        assert code == 1 and output.count("is too long") == 2 and "an address at most 1000" in output
        assert not (site / "public").exists()


DEEP = "[" * 5000 + "]" * 5000


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("hugo.toml", f"a = {DEEP}"),
        ("hugo.json", DEEP),
        ("hugo.yaml", f"a: {DEEP}"),
        ("content/b.md", f"---\na: {DEEP}\n---\n"),
    ],
    ids=lambda text: text[:12],
)
def test_settings_that_nest_without_end_are_a_warning(tmp_path: Path, path: str, text: str) -> None:
    (tmp_path / "content").mkdir()
    (tmp_path / "content/a.md").write_text(f"{POST}Words.\n")
    (tmp_path / path).write_text(text)
    plan = import_folder(tmp_path, HUGO, dt.date(2026, 11, 25))
    assert "content/pages/a.md" in plan.files or "content/posts/a.md" in plan.files
    assert any("cannot be read" in one.message for one in plan.diagnostics)


def test_links_out_of_a_folder_and_pipes_in_it_are_left_out_of_an_import(tmp_path: Path) -> None:
    old = tmp_path / "old"
    (old / "content/posts").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(b"secret")
    (old / "content/posts/secret.png").symlink_to(tmp_path / "secret.png")
    (old / "content/posts/note.md").symlink_to(tmp_path / "secret.png")
    for name in ("f.png", "z.md"):
        os.mkfifo(old / "content/posts" / name)
    (old / "content/posts/a.md").write_text(f"{POST}![w](secret.png) ![w](f.png)\n")
    plan = import_folder(old, HUGO, dt.date(2026, 11, 25))
    assert sorted(plan.files) == ["content/posts/a.md", "content/site.yaml"]
    left_out = [one.span.path for one in plan.diagnostics if "left out" in one.message]
    assert left_out == [f"content/posts/{name}" for name in ("f.png", "note.md", "secret.png", "z.md")]


@pytest.mark.parametrize(
    "unclosed", ["{% raw %} ", "{% comment %} ", "{% a ", "{{ a ", "{% if x %} ", "{% raw %} {% endcomment %} "]
)
@pytest.mark.parametrize("before", ["", "}} ", "%} ", "{% endraw %} "])
def test_liquid_of_many_beginnings_without_an_end_is_read_at_once(unclosed: str, before: str) -> None:
    text, began = before + unclosed * 20_000, time.monotonic()
    pieces = list(tokens(text))
    assert "".join(piece.source for piece in pieces) == text
    assert time.monotonic() - began < 5.0


@pytest.mark.parametrize(
    "expression",
    [
        "'x'.ljust(10**10)",
        "'x'.zfill(width=10**10)",
        "'x'|center(10**10)",
        "'a\nb'|indent(10**10)",
        "[1]|batch(10**10, 0)|list",
        "[1]|slice(10**10)|list",
        "{'a': 1}|tojson(indent=10**10)",
        "'{:10000000000}'.format(1)",
        "'{:{}}'.format(1, 10**10)",
        "'{:{w}}'.format(1, w=10**10)",
        "'%10000000000d' % 1",
        "'%*d' % (10**10, 1)",
        "'%.*f' % (10**10, 1.0)",
        "'%10000000000d'|format(1)",
        "'%-*d'|format(10**10, 1)",
    ],
)
def test_template_that_asks_for_a_gigabyte_is_refused(expression: str) -> None:
    with pytest.raises((SecurityError, TemplateFailure), match="above 1000000 is refused"):
        OwnTemplates().from_string("{{ " + expression + " }}").render()


def test_large_numbers_may_be_shown() -> None:
    text = "{{ '{:,}'.format(16777216) }} {{ '%d' % 16777216 }} {{ 16777216|tojson }} {{ 'x'.ljust(3) }}| "
    text += "{{ 16777216|center }} {{ '%d' * 40 % ((1,) * 39 + (16777216,)) }} {{ ('x ' * 400000)|wordwrap|length }}"
    shown = OwnTemplates().from_string(text).render()
    assert shown.split() == [
        *("16,777,216", "16777216", "16777216", "x", "|", "16777216"),
        *("1" * 39 + "16777216", "799999"),
    ]


def test_an_editor_may_name_a_file_that_no_file_can_be(site: Path) -> None:
    session = Session(SimpleNamespace(), site)  # type: ignore[arg-type]
    for uri in ("file:///%00", f"file:///{'a' * 5000}", "", "untitled:x", "http://evil/x.md"):
        assert session._path(uri) == ""
    session.site.close()


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b"Content-Length: 100000000000000\r\n\r\n{}", "a message says that it has 100000000000000 bytes"),
        (b"x" * 10_000, "a line in the head of a message has more than 4096 bytes"),
    ],
    ids=["message", "head"],
)
def test_a_message_of_an_editor_without_bound_ends_the_server(site: Path, sent: bytes, message: str) -> None:
    command, path = [sys.executable, "-m", "sitegen", "lsp"], {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, cwd=site, env=path, input=sent, capture_output=True, timeout=60)
    assert ended.returncode == 1 and ended.stderr.decode().startswith(f"sitegen: {message}")


ENDLESS_FORMS = [
    *("{% highlight python %}\n\n", "{% if x %} ", "{% details %} ", "{% raw %} ", "{{ a ", "{% a "),
    *("{::comment}\n\n", "{::comment} a ", "{::nomarkdown}\n\n", "{::a}\n\n", "{: .a}\n\n", "[^a]: x\n\n", "\n"),
    *("<div>\n\n", "<div>", "<div markdown='1'>\n\n", "<script>\n\n", "<x-a>\n\n", "<span> ", "<img ", "<a href='"),
    *("<d-cite>", "<!-- ", "<!-- \n\n", "$$ a\n\n", "$$ ", "$a ", r"\\( ", r"\\[ ", "\\begin{align}\n\n", "```\n\n"),
    *("> a\n\n", "**a ", "[a](", "![a](", "[a]: b\n\n", "*[a]: b\n\n", "| a\n\n", "==a", "%%", "[[a", "> [!a"),
]


@pytest.mark.parametrize("kind", ["jekyll", "obsidian"])
@pytest.mark.parametrize("form", ENDLESS_FORMS)
def test_an_import_of_many_beginnings_without_an_end_takes_time_in_their_number(
    tmp_path: Path, kind: str, form: str
) -> None:
    few, many = (seconds_of_import(tmp_path / str(count), kind, form * count) for count in (2_000, 8_000))
    assert many < max(2.0, 8 * few)


def seconds_of_import(root: Path, kind: str, text: str) -> float:
    """Return the processor time that the import of one text takes."""
    (root / "_posts").mkdir(parents=True)
    (root / "_config.yml").write_text("title: T\n")
    (root / "_posts/2024-01-01-a.md").write_text(POST + text)
    began = time.process_time()
    plan = import_jekyll(root) if kind == "jekyll" else import_folder(root, OBSIDIAN, dt.date(2026, 11, 25))
    assert plan.files
    return time.process_time() - began


@pytest.mark.parametrize(
    "template",
    [
        "{% set ns = namespace(x='x') %}{% for i in range(64) %}\n{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for i in range(64) %}\n{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for i in range(64) %}\n{% set ns.x = ns.x * 2 %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for i in range(64) %}\n{% set ns.x %}"
        "{{ ns.x }}{{ ns.x }}{% endset %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for i in range(64) %}\n{% set ns.x = '%s%s' % (ns.x, ns.x) %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for i in range(64) %}\n{% set ns.x = '{0}{0}'.format(ns.x) %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for i in range(64) %}\n{% set ns.x = [ns.x, ns.x]|join %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(64) %}\n{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(64) %}\n{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
        "\n{% macro m(x) %}{{ x }}{{ x }}{% endmacro %}"
        "{% set ns = namespace(x='x') %}{% for i in range(64) %}{% set ns.x = m(ns.x) %}{% endfor %}",
        "{% set x = 'x' * 10**6 %}\n{{ x.replace('x', x) }}",
        "{% set x = 'x' * 10**6 %}\n{{ x|replace('', x) }}",
        "{% set x = 'x' * 10**6 %}\n{{ x.join(x) }}",
        "{% set x = 'x' * 10**6 %}\n{{ x|join(x) }}",
        "{% set x = 'x' * 10**6 %}\n{{ ([x] * 10**6)|join }}",
        "{% set x = 'x' * 10**6 %}\n{{ ([x] * 10**6)|map('upper')|join }}",
        "{% set x = 'x' * 10**6 %}\n{{ ([x] * 10**6)|map('upper')|list }}",
        "{% set x = 'x' * 10**6 %}\n{{ [x] * 10**6 }}",
        "{% set x = 'x' * 10**6 %}\n{{ ([x] * 10**6)|string }}",
        "{% set x = 'x' * 10**6 %}\n{{ ([x] * 10**6)|tojson }}",
        "{% set x = 'x' * 10**6 %}\n{{ '' ~ [x] * 10**6 }}",
        "{% set x = [1] * 10**6 %}\n{{ ([x] * 10**6)|sum(start=[]) }}",
        "{% set x = '\\n' * 10**6 %}\n{{ x|indent(10**6, blank=true) }}",
        "{% set x = 'x' * 10**6 %}\n{{ x|wordwrap(1, true, x) }}",
        "{% set x = 'x' * 10**6 %}\n{{ x.translate({120: x}) }}",
        "{% set x = '\t' * 10**6 %}\n{{ x.expandtabs(10**6) }}",
        "{% set x = '%999999d' * 10**4 %}\n{{ x|format(1) }}",
        "{% set x = 'x' * 10**6 %}{% for i in range(64) %}\n{{ x }}{% endfor %}",
    ],
)
def test_a_template_that_makes_a_text_without_bound_is_refused_at_its_line(template: str) -> None:
    templates = OwnTemplates(loader=DictLoader({"a.html": template}), undefined=StrictUndefined, autoescape=True)
    templates.own = {"a.html"}
    began = time.process_time()
    with pytest.raises(TemplateFailure, match=r"more than (1|16|128)000000 ") as failure:
        templates.get_template("a.html").render()
    assert (failure.value.name, failure.value.lineno) == ("a.html", 2)
    assert within(time.process_time() - began, 5.0)


X = "{% set x = 'x' * 10**6 %}"
LOOP = X + "{% set ns = namespace(l=[]) %}{% for i in range(5000) %}\n{% set ns.l = LIST %}{% endfor %}"
MANY = "{% for i in range(99999) %}"
LISTS = {
    "joined": "[ns.l, x ~ i]",
    "a longer list each time": "ns.l + [x ~ i]",
    "slices": "[ns.l, x[i:]]",
    "a method": "[ns.l, x.upper()]",
    "a filter": "[ns.l, x|replace('y', '')]",
    "escaped": "[ns.l, ('<' * 10**5)|e]",
    "formatted": "[ns.l, '%900000d' % i]",
    "printed lists": "[ns.l, [x]|string]",
    "attributes": "[ns.l, {'a': x}|xmlattr]",
    "lists of numbers": "[ns.l, [i] * 10**6]",
    "ranges": "[ns.l, range(99999)|list]",
    "groups": "[ns.l, range(99999)|groupby('real')]",
    "letters": "[ns.l, ('\U0001f600' * 10**6)|list]",
    "words": "[ns.l, x.split('x')]",
    "large numbers": "[ns.l, 2**400000 - i]",
    "negated numbers": "[ns.l, -(2**400000)]",
    "cyclers": "[ns.l, cycler(x ~ i)]",
    "long literals": f"[ns.l, [{'i, ' * 10000}]]",
}
ROUNDS = {
    "empty loops": MANY + MANY + "{% endfor %}{% endfor %}",
    "loops with a test": MANY + "{% for j in range(9999) if j < 0 %}{% endfor %}{% endfor %}",
    "a macro that calls itself twice": "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}"
    "{{ m(64) }}",
    "a loop that calls itself twice": "{% for i in [64] recursive %}"
    "{% if i %}{{ loop([i-1]) }}{{ loop([i-1]) }}{% endif %}{% endfor %}",
    "a template that includes itself twice": "{% set n = (n|default(64)) - 1 %}"
    "{% if n %}{% include 'a.html' %}{% include 'a.html' %}{% endif %}",
    "sums": MANY + "{{ range(99999)|sum }}{% endfor %}",
    "a text in a variable": X + "{% set t %}" + MANY + "{{ x|lower }}{% endfor %}{% endset %}",
    "an escaped text in a variable": X + "{% set t %}" + MANY + "{{ x ~ '<' }}{% endfor %}{% endset %}",
    "comparisons": X + "{% set y = x ~ '' %}" + MANY + MANY + "{% if x == y %}{% endif %}{% endfor %}{% endfor %}",
    "divisions": "{% set x = 7**300000 %}{% set y = 3**200000 %}" + MANY + "{% set z = x // y %}{% endfor %}",
}


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process have 500 MB of memory more than it has, and a page a second, so that the tests take less."""
    monkeypatch.setattr(budget, "MOST_SECONDS", 1.0)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 500_000_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def refusal(text: str) -> tuple[str, int]:
    """Return the error of a template, and its line."""
    templates = OwnTemplates(loader=DictLoader({"a.html": text}), undefined=StrictUndefined, autoescape=True)
    templates.own = {"a.html"}
    began = time.process_time()
    with pytest.raises(TemplateFailure) as failure:
        templates.get_template("a.html").render()
    assert within(time.process_time() - began, 6.0)
    assert failure.value.name == "a.html"
    return str(failure.value), failure.value.lineno


@pytest.mark.parametrize("made", LISTS.values(), ids=LISTS)
def test_a_template_cannot_fill_the_memory_with_many_small_things(made: str, little_memory: None) -> None:
    message, line = refusal(LOOP.replace("LIST", made))
    assert "the templates of one page " in message
    assert line in (1, 2)


@pytest.mark.parametrize("text", ROUNDS.values(), ids=ROUNDS)
def test_a_template_cannot_work_without_end(text: str, little_memory: None) -> None:
    message, _ = refusal(text)
    assert "the templates of one page " in message


def test_digits_of_a_rounded_number_are_bounded() -> None:
    assert "above 1000000" in refusal("{{ 5|round(10**6 + 1, 'ceil') }}")[0]
    assert "above 1000000" in refusal("{{ 5|round(-1000001) }}")[0]


SHARED = """{% set ns = namespace(a=[1], b=[1], s=(1,)) %}{% for i in range(40) %}{% set ns.a = [ns.a, ns.a] %}
{% set ns.b = [ns.b, ns.b] %}{% set ns.s = (ns.s, ns.s) %}{% endfor %}"""
"""Lists and tuples that hold a value 2 to the power of 40 times."""
UNSTOPPABLE = [
    *("{{ ns.a == ns.b }}", "{{ ns.a < ns.b }}", "{{ 1 if ns.a != ns.b }}", "{{ ns.a in [ns.b] }}"),
    *("{{ ns.a not in [ns.b] }}", "{{ ns.a is eq(ns.b) }}", "{{ [ns.a]|select('==', ns.b)|list|length }}"),
    *("{{ [ns.a].index(ns.b) }}", "{{ [ns.a].count(ns.b) }}", "{{ [ns.a, ns.b]|sort|length }}", "{{ ns.s in {} }}"),
    *("{{ {1: ns.a}.items() == {1: ns.b}.items() }}", "{{ [ns.a, ns.b]|max|length }}", "{{ {ns.s: 1}|length }}"),
    *("{{ {}.get(ns.s) }}", "{{ {}[ns.s] }}", "{{ dict([(ns.s, 1)])|length }}", "{{ [ns.s]|unique|list|length }}"),
    *("{{ dict([ns.s, 1]|batch(2))|length }}", "{{ namespace([(ns.s, 1)]) }}", "{{ ns.s is in([]) }}"),
    "{% for x in [ns.a, ns.b] %}{{ loop.changed(x) }}{% endfor %}",
    "{{ dict(range(0, 10 ** 5 * (2 ** 61 - 1), 2 ** 61 - 1)|batch(2))|length }}",  # all keys have the hash 0
    "{% set a, b = 2 ** 300000, 3 ** 90000 %}{% for i in range(9000) %}{% set x = a // b %}{% endfor %}",
    "{{ ([2 ** 300000] * 10 ** 6)|sum > 1 }}",
    "{% for i in range(100) %}{{ ('ab ' * 300000)|urlize|length }}{% endfor %}",
    "{% macro a(n) %}{% if n %}{{ a(n - 1) }}{{ a(n - 1) }}{% endif %}{% endmacro %}{{ a(60) }}",
]


@pytest.mark.parametrize("template", UNSTOPPABLE)
def test_work_that_python_cannot_interrupt_is_refused_before_it_begins(
    template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a slow machine the limit of time would end some templates before that of what they make.
    monkeypatch.setattr(budget, "MOST_SECONDS", 60.0)
    began = time.thread_time()
    with pytest.raises((SecurityError, TemplateFailure), match=r"refused|make more than"):
        OwnTemplates().from_string(SHARED + template).render()
    assert within(time.thread_time() - began, 10)


def test_a_sum_of_lists_takes_time_in_its_length() -> None:
    text = "{{ ([['a']] * 100000)|sum(start=[])|length }} {{ ([{'k': (1,)}] * 3)|sum('k', start=())|length }}"
    began = time.thread_time()
    assert OwnTemplates().from_string(text).render() == "100000 3"
    assert within(time.thread_time() - began, 1)
    assert OwnTemplates().from_string("{{ [1, 2]|sum }} {{ [{'k': 3}]|sum('k', 4) }}").render() == "3 7"
    with pytest.raises((TypeError, TemplateFailure), match="`sum` cannot add str to list"):
        OwnTemplates().from_string("{{ ['a']|sum(start=[]) }}").render()


def test_comparisons_and_keys_of_a_page_give_what_jinja_gives() -> None:
    text = (
        "{{ 1 < 2 < 3 }} {{ 1 == 1.0 }} {{ 'a' in 'abc' }} {{ 'k' in {'k': 1} }} {{ [1] == [1] }} {{ 2 not in (1,) }}"
        " {{ {(1, 2): 'x'}[(1, 2)] }} {{ dict([('a', 1)], b=2)['b'] }} {{ {'a': 1}.get('a') }} {{ 3 is gt 2 }}"
    )
    assert OwnTemplates().from_string(text).render() == "True True True True True True x 2 1 True"


def test_each_page_has_a_budget_of_its_own() -> None:
    template = OwnTemplates().from_string("{% for i in range(60) %}{% set x = 'x' * 10**6 %}{% endfor %}{{ page }}")
    assert [template.render(page=n) for n in range(5)] == ["0", "1", "2", "3", "4"]


def test_all_pages_together_cannot_fill_the_memory() -> None:
    template = OwnTemplates().from_string("{% for i in range(15) %}{{ 'x' * 10**6 }}{% endfor %}")
    with pytest.raises(TemplateFailure, match="more than 1000000 characters a page"):
        for n in range(10):
            template.render(page=n)


def test_a_directive_that_works_without_end_is_stopped_once(site: Path, little_memory: None) -> None:
    """A page with a thousand uses of the directive would take a thousand times as long."""
    (site / "templates/directives").mkdir(parents=True)
    text = "{# about: Counts. #}\n" + ROUNDS["comparisons"]
    (site / "templates/directives/count.html").write_text(text)
    (site / "content/posts/a.md").write_text(POST + "```{count}\n```\n\n" * 20)
    began = time.process_time()
    code, output = said("check")
    assert within(time.process_time() - began, 10.0)
    assert code == 1 and output.count("the template of `{count}` fails") == 20
    assert "correct templates/directives/count.html:" in output


@pytest.mark.parametrize("path", ["content/words.txt", "content/site.yaml"])
@pytest.mark.parametrize("kind", ["a pipe", "a folder", "a link to nowhere"])
def test_a_file_of_one_command_that_is_not_regular_is_reported(site: Path, path: str, kind: str) -> None:
    place = site / path
    place.unlink(missing_ok=True)
    {"a pipe": os.mkfifo, "a folder": os.mkdir, "a link to nowhere": lambda at: at.symlink_to("nowhere")}[kind](place)
    code, output = said("check", "--spelling")
    assert code == 1 and "error[SG022]" in output and f"{path}:1:1" in output


@pytest.fixture
def deep_folders() -> Iterator[Callable[[Path], None]]:
    """Make 1,500 folders in each other, and remove them again: `shutil.rmtree` of this Python cannot."""
    made: list[Path] = []

    def make(place: Path) -> None:
        made.append(place)
        place.mkdir(parents=True, exist_ok=True)
        folder = os.open(place, os.O_RDONLY)
        for _ in range(1500):
            os.mkdir("a", dir_fd=folder)
            folder, above = os.open("a", os.O_RDONLY, dir_fd=folder), folder
            os.close(above)
        os.close(folder)

    yield make
    subprocess.run(["rm", "-rf", *made], check=True)


@pytest.mark.parametrize("room", ["content/posts", "content/worklog", "kernels", "series", "templates"])
def test_folders_in_each_other_are_no_recursion(site: Path, room: str, deep_folders: Callable[[Path], None]) -> None:
    deep_folders(site / room)
    code, output = said("check")
    assert code == 0 and "Traceback" not in output


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("content/posts/a.md", "---\ntitle: A\ndate: 2024-01-01\nupdated: 0001-01-01T00:00:00+23:59\n---\n"),
        ("content/posts/a.md", "---\ntitle: A\ndate: 9999-12-31T23:59:59-23:59\n---\n"),
        ("content/posts/a.md", "---\ntitle: A\ndate: 0001-01-01\n---\n"),
        ("content/worklog/0001-01-01.md", "Text.\n"),
        ("content/worklog/9999-12-31.md", "Text.\n"),
        ("content/worklog/a.md", "---\ndate: 9999-12-31\n---\nText.\n"),
        ("content/site.yaml", f"{SITE}countdown: {{goal: G, date: 9999-12-31}}\n"),
    ],
)
def test_a_date_at_an_end_of_the_calendar_is_a_mistake(site: Path, path: str, text: str) -> None:
    (site / path).parent.mkdir(exist_ok=True)
    (site / path).write_text(text)
    output = said("build")[1] + said("check")[1]
    assert "impossible date" in output and f"{path}:" in output
    assert "write a year from 1000 to 9000" in output or "0001-01-01.md" in path or "9999-12-31.md" in path


DIARY = "0001-01-01\n\nFirst.\n\n2024-01-01\n\nNow.\n\n9999-12-31\n\nLast.\n"


def test_dates_in_a_diary_at_the_ends_of_the_calendar_build(site: Path) -> None:
    (site / "content/worklog").mkdir()
    (site / "content/worklog/diary.md").write_text(DIARY)
    assert said("build")[0] == 0
    assert said("build", "--as-of", "9999-12-31")[0] == 2


def test_thousands_of_needs_and_concepts_are_compared_in_seconds(site: Path) -> None:
    needs, teaches = (f"[{', '.join(f'{letter}{n}' for n in range(3000))}]" for letter in "tu")
    front = f"title: A\ndate: 2024-01-01\nneeds: {needs}\nteaches: {teaches}\n"
    (site / "content/posts/a.md").write_text(f"---\n{front}---\n")
    began = time.process_time()
    assert said("check")[0] == 0
    assert within(time.process_time() - began, 20)


@pytest.mark.parametrize("source", ["(" * 50_000, "x = " + "-" * 50_000 + "1", "x = " + "1 + " * 20_000 + "1"])
def test_python_that_is_nested_too_deeply_is_a_mistake_or_none(site: Path, source: str) -> None:
    mistake = syntax_mistake(source, "kernels/a/a.py")
    assert mistake is None or mistake.code == "SG036"
    assert files_reached_by_text(source, "kernels/a/a.py", {}) == ()


def test_a_notebook_of_another_form_is_described_without_an_error_of_python(site: Path) -> None:
    post = site / "content/posts/a/index.ipynb"
    post.parent.mkdir()
    for wrong in (
        {"cells": [1]},
        {"cells": [{"cell_type": 1, "source": 2}]},
        {"cells": [{"cell_type": "code", "source": 3}]},
    ):
        post.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, **wrong}))
        output = said("check")[1]
        assert "Traceback" not in output and "NoneType" not in output and "not iterable" not in output
