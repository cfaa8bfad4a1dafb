"""Templates of a stranger's site: they read what a page shows, and reach nothing else."""

from __future__ import annotations

import datetime as dt
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
import pytest

from sitegen.pipeline.in_memory import build_in_memory
from sitegen.render.shared.default_theme import default_folder
from sitegen.write.scaffold import create, new_site_files

ROOT = Path(__file__).parents[2]
DAY = dt.date(2026, 12, 31)
Command = Callable[..., subprocess.CompletedProcess[str]]
REACH = [
    "{{ cycler.__init__.__globals__.os.popen('touch it-ran').read() }}",
    "{{ lipsum.__globals__['os'].popen('touch it-ran').read() }}",
    "{{ lipsum['__globals__']['os'].system('touch it-ran') }}",
    "{{ joiner.__init__.__globals__.__builtins__.open('it-ran', 'w') }}",
    "{{ namespace.__init__.__globals__['__builtins__']['open']('it-ran', 'w') }}",
    "{{ (cycler|attr('__init__')|attr('__globals__'))['os'].system('touch it-ran') }}",
    "{{ [cycler]|map(attribute='__init__.__globals__.os')|map('attr', 'system')|list|first('touch it-ran') }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ frame.__class__.__init__.__globals__ }}",
    "{{ frame.versions.__class__.__base__.__subclasses__() }}",
    "{{ self._TemplateReference__context.environment.loader }}",
    "{{ '{0.__class__.__init__.__globals__}'.format(frame) }}",
    "{{ '{0.__class__.__mro__}'|format(frame) }}{{ ('{a.__class__.__init__}').format_map({'a': frame}) }}",
    "{% macro m() %}{% endmacro %}{{ m.__init__.__globals__ }}{{ m._func.__globals__ }}",
    "{% set ns = namespace(x=1) %}{% set ns.__class__ = cycler %}{{ ns.__init__.__globals__ }}",
    "{{ frame.__init__() }}{{ [frame]|sort(attribute='__class__.__init__') }}",
    "{{ (frame|attr('__class__')).__init__.__globals__ }}{{ [frame]|groupby('__class__') }}",
    "{% set f = '{0.__class__}'.format %}{{ f(frame) }}{{ [frame]|map('attr', '__class__')|first }}",
    "{% for x in [1] %}{{ loop.__class__.__init__.__globals__ }}{% endfor %}",
]
ENDLESS = {
    "{% for i in range(10 ** 9) %}x{% endfor %}": "Range too big",
    "{{ 10 ** (10 ** 9) }}": "**",
    "{{ ('a' * 10 ** 12)|length }}": "*",
    "{{ ([0] * 10 ** 12)|length }}": "*",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}": "nested too deeply",
}
FAILS = {
    "{{ 1 // 0 }}": "ZeroDivisionError",
    "{{ page + 1 }}": "TypeError",
    "{{ 'a' + 1 }}": "TypeError",
    "{{ nothing.there }}": "'nothing' is undefined",
    "{{ nothing() }}": "'nothing' is undefined",
    "{{ lipsum(n=10 ** 4) }}": "may not call `generate_lorem_ipsum`",
    "{{ '%d'|format('a') }}": "TypeError",
    "{% include 'a' ~ 1 %}": "no template `a1`",
    "{% for a in [1] %}" * 25 + "{% endfor %}" * 25: "nested",
    "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}": "nested too deeply",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    root = tmp_path / "site"
    create(root, new_site_files("Kernels", dt.date(2026, 11, 21)))
    return root


def with_template(site: Path, text: str, name: str = "partials/colophon.html") -> None:
    path = site / "templates" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def sitegen(run_command: Command, cache: Path) -> Command:
    """Run a command of sitegen in a site, with a cache that all tests here share, as all sites of a person do."""
    return partial(run_command, XDG_CACHE_HOME=str(cache))


MEASURED = """---
title: Measured
date: 2026-11-20
---
```{benchmark} vector_add
```

```{roofline} vector_add
```

```{code-cell} python
#| label: first
1 + 1
```
"""


@pytest.fixture(params=["of every form", pytest.param("of this project", marks=pytest.mark.soak)])
def whole_site(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A site with all kinds of pages, lists and measurements."""
    root = tmp_path / "whole"
    if request.param == "of this project":
        for part in ("content", "series", "kernels"):
            shutil.copytree(ROOT / part, root / part)
    else:
        shutil.copytree(ROOT / "tests" / "sites" / "every_form", root)
        shutil.copytree(ROOT / "kernels" / "vector_add", root / "kernels" / "vector_add")
        create(root, {"content/posts/measured/index.md": MEASURED})
    return root


@pytest.mark.parametrize("template", REACH)
def test_template_that_reaches_for_python_is_refused_at_its_line(site: Path, template: str, sitegen: Command) -> None:
    with_template(site, f"<p>\n{template}</p>\n")
    done = sitegen(site, "build")
    assert not (site / "it-ran").exists()
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "error[SG502]" in done.stderr and "templates/partials/colophon.html:2:1" in done.stderr


@pytest.mark.parametrize("words", [("build",), ("check",)])
def test_command_in_a_template_does_not_run(site: Path, words: tuple[str, ...], sitegen: Command) -> None:
    with_template(site, "{% set x = cycler.__init__.__globals__.os.popen('touch it-ran').read() %}", "base.html")
    sitegen(site, *words)
    assert not (site / "it-ran").exists()


def test_word_of_a_catalogue_is_no_program(site: Path, sitegen: Command) -> None:
    """Words of a catalogue become part of templates before these are compiled."""
    words = '{"Posts": "{{ cycler.__init__.__globals__.os.popen(\'touch it-ran\').read() }}"}'
    with_template(site, words, "languages/en.json")
    done = sitegen(site, "build")
    assert not (site / "it-ran").exists()
    assert "Traceback" not in done.stderr


def test_template_that_was_compiled_without_the_sandbox_is_not_used_in_it(site: Path, sitegen: Command) -> None:
    """The default theme is compiled first; a site then brings a template whose text is the same."""
    assert sitegen(site, "build").returncode == 0
    shutil.copytree(default_folder(), site / "templates", ignore=shutil.ignore_patterns("assets"))
    with_template(site, "{{ cycler.__init__.__globals__.os.system('touch it-ran') }}")
    assert sitegen(site, "build").returncode == 1
    shutil.rmtree(site / "templates")
    assert sitegen(site, "build").returncode == 0
    assert not (site / "it-ran").exists()


@pytest.mark.parametrize(("template", "said"), ENDLESS.items())
def test_template_that_would_never_end_is_refused(site: Path, template: str, said: str, sitegen: Command) -> None:
    with_template(site, template)
    done = sitegen(site, "build")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "error[SG502]" in done.stderr and said in done.stderr


@pytest.mark.parametrize(("template", "said"), FAILS.items())
def test_template_that_fails_is_a_mistake_of_its_author_and_no_traceback(
    site: Path, template: str, said: str, sitegen: Command
) -> None:
    with_template(site, template)
    done = sitegen(site, "build")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "error[SG502]" in done.stderr and said in done.stderr


def test_theme_gives_the_same_bytes_in_the_sandbox(whole_site: Path) -> None:
    plain = build_in_memory(whole_site, as_of=DAY, with_forms=False)
    shutil.copytree(default_folder(), whole_site / "templates", ignore=shutil.ignore_patterns("assets"))
    own = build_in_memory(whole_site, as_of=DAY, with_forms=False)
    assert not plain.failed and not own.failed
    assert own.files == plain.files


ALLOWED = {
    "{% set ns = namespace(n=0) %}{% for x in range(3) %}{% set ns.n = ns.n + x %}{% endfor %}{{ ns.n }}": "3",
    "{% set turn = cycler('a', 'b') %}{{ turn.next() }}{{ turn.next() }}{{ turn.current }}": "aba",
    "{% set and_ = joiner('+') %}{{ and_() }}1{{ and_() }}2": "1+2",
    "{% for a in [1, [2]] recursive %}{{ loop(a) if a is not number else a }}{% endfor %}": "12",
    "{% for a in 'pq' %}{{ loop.cycle('x', 'y') }}{{ loop.index }}{% endfor %}": "x1y2",
    "{% macro m(a) %}[{{ a }}]{% endmacro %}{{ m(1) }}": "[1]",
    "{% macro m(a) %}[{{ a }}{{ caller() }}]{% endmacro %}{% call m(2) %}!{% endcall %}": "[2!]",
    "{{ '{:>4}'.format(7) }}{{ 'a-b'.split('-')|join('+') }}": "   7a+b",
    "{{ 'ab' * 2 }}{{ 2 ** 8 }}{{ dict(a=1).get('a') }}": "abab2561",
    "{{ frame.language.upper() }}{{ page|attr('nothing')|default('no') }}": "ENno",
    "{% import 'macros/parts.html' as parts %}{{ parts.nothing is defined }}": "False",
}


def test_template_may_use_what_jinja_offers(site: Path, sitegen: Command) -> None:
    with_template(site, "".join(f"<p>({template})</p>\n" for template in ALLOWED))
    done = sitegen(site, "build")
    assert done.returncode == 0, done.stderr
    expected = "".join(f"<p>({shown})</p>\n" for shown in ALLOWED.values())
    assert expected in (site / "public" / "about" / "index.html").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------- what templates get

PLAIN = (str, int, float, type(None), dt.date, dt.time)


def surprises(value: Any, place: str) -> list[str]:
    """Return the places of values that are no text, number, date, sequence, mapping or dataclass of sitegen."""
    if isinstance(value, PLAIN):
        return []
    if isinstance(value, (tuple, list)):
        return [one for item in value for one in surprises(item, f"{place}[]")]
    if isinstance(value, dict):
        return [one for pair in value.items() for one in surprises(pair, f"{place}[]")]
    if not is_dataclass(value) or not type(value).__module__.startswith("sitegen."):
        return [f"{place}: {type(value)}"]
    names = {name for name in dir(value) if not name.startswith("_")} | {field.name for field in fields(value)}
    return [one for name in sorted(names) for one in surprises(getattr(value, name), f"{place}.{name}")]


def test_templates_get_data_and_no_function_path_or_module(whole_site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: set[str] = set()
    printed: set[str | None] = set()
    render = jinja2.Template.render

    def look(self: jinja2.Template, **values: Any) -> str:
        printed.add(self.name)
        found.update(one for name, value in values.items() for one in surprises(value, f"{self.name} {name}"))
        return render(self, **values)

    monkeypatch.setattr(jinja2.Template, "render", look)
    assert build_in_memory(whole_site, as_of=DAY, with_forms=False).files
    assert {"ceilings.html", "changes.html", "kernel.html", "partials/cell.html", "partials/table.html"} <= printed
    assert sorted(found) == []
