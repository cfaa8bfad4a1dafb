"""Turn templates/directives/ and content/data/ of a site into the `Additions` of its markup."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
from markdown_it.token import Token
from markupsafe import Markup

from sitegen import inside
from sitegen.diagnostics import Diagnostic, Span
from sitegen.markup import options as o
from sitegen.markup.additions import Additions, Unreadable
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Container, Directive, Fence, needs
from sitegen.markup.rawhtml import cleaned, never_closed
from sitegen.markup.registry import directives as built_in
from sitegen.pipeline.plugins import NamedPlugin
from sitegen.read.own_directive import FOLDER, Content, OwnDirective, directive_name, parse_own_directive
from sitegen.read.source import decode
from sitegen.read.texts import unreadable
from sitegen.read.yaml_nodes import parse_yaml, without_places
from sitegen.render.shared.budget import OverBudgetError
from sitegen.render.shared.sandbox import OwnTemplates

DATA = "content/data"
_DATA_FILE = re.compile(rf"{DATA}/([a-z][a-z0-9_-]*)\.yaml")
_CONTENT = "\ue000content\ue000"
"""Stands for the Markdown of a fence in the output of its template; a private character, which no text means."""


def site_additions(root: Path, plugins: Sequence[NamedPlugin] = ()) -> tuple[Additions, tuple[Diagnostic, ...]]:
    """Return the directives and the data of the site in a folder, and the mistakes in their files."""
    mistakes: list[Diagnostic] = []
    data = _data(root, mistakes)
    return Additions({**_of_plugins(plugins), **_directives(root, data, mistakes)}, data), tuple(mistakes)


def is_addition(path: str) -> bool:
    """Tell whether a file of a site decides how texts are parsed."""
    return path.startswith((f"{FOLDER}/", f"{DATA}/"))


def _data(root: Path, mistakes: list[Diagnostic]) -> dict[str, Any]:
    data = {}
    for path in inside.files_below(root, DATA):
        if match := _DATA_FILE.fullmatch(path):
            node, wrong = parse_yaml(_text(root, path, mistakes), path)
            mistakes += wrong
            data[match[1].replace("-", "_")] = Unreadable() if wrong else without_places(node) if node else None
    return data


def _of_plugins(plugins: Sequence[NamedPlugin]) -> dict[str, Directive]:
    """Return the directives of plugins; those of sitegen win."""
    every = (directive for one in plugins for directive in one.plugin.directives)
    return {name: directive for directive in every for name in directive.names if name not in built_in()}


def _directives(root: Path, data: Mapping[str, Any], mistakes: list[Diagnostic]) -> dict[str, Directive]:
    texts = {name: path for path in inside.files_below(root, FOLDER) if (name := directive_name(path))}
    templates = {name: _text(root, path, mistakes) for name, path in texts.items()}
    environment = OwnTemplates(
        loader=jinja2.DictLoader(templates), undefined=jinja2.StrictUndefined, autoescape=True, trim_blocks=True
    )
    environment.own = frozenset(templates)
    made = {}
    for name, path in texts.items():
        head, wrong = parse_own_directive(templates[name], path)
        mistakes += wrong
        if name in built_in():
            message = f"sitegen has a directive `{name}` already"
            mistakes.append(Diagnostic("SG139", message, Span(path), "name the file differently"))
        else:
            made[name] = (
                Directive((name,), "", show=lambda *_: "") if wrong else _directive(name, head, environment, data)
            )
    return made


def _text(root: Path, path: str, mistakes: list[Diagnostic]) -> str:
    try:
        text, wrong = decode(inside.read_bytes(root, path), path)
    except OSError as error:
        mistakes.append(unreadable(path, error))
        return ""
    mistakes += wrong
    return text


def _directive(name: str, head: OwnDirective, environment: OwnTemplates, data: Mapping[str, Any]) -> Directive:
    settings = {key: o.Setting(partial(_value, one.values), one.about) for key, one in head.options.items()}
    template = _Template(name, head, settings, environment, data)
    if head.content is Content.MARKDOWN:
        return Directive((name,), head.about, settings, wrap=template.wrap, has_options=bool(settings))
    return Directive((name,), head.about, settings, show=template.show)


def _value(words: Sequence[str], value: o.Value) -> o.Value:
    """Return the value of an option.  Raises Unfit for a word that the option does not take."""
    if words and value not in words:
        raise o.named("value", str(value), words)
    return value


class _Template:
    """The template of a directive."""

    def __init__(
        self,
        name: str,
        head: OwnDirective,
        settings: Mapping[str, o.Setting],
        environment: OwnTemplates,
        data: Mapping[str, Any],
    ) -> None:
        self.name, self.head, self.settings, self.environment, self.data = name, head, settings, environment, data
        self.over_budget: jinja2.TemplateError | None = None
        """The error of a use that had used up its budget.  Later uses get the same error, so that a page with a
        thousand of them ends soon."""

    def show(self, fence: Fence, into: Collected) -> str:
        """Return the HTML of a fence with options, and perhaps with a text."""
        options = o.read_options(fence.content, fence.line + 1, into)
        if options.rest.strip() and self.head.content is Content.NONE:
            into.error("SG111", f"the directive `{{{self.name}}}` has options and no text", fence.span)
        if self.head.argument and not fence.argument:
            needs(fence, self.head.argument, into)
        html = self._html(fence.argument, options, options.rest, fence.line, into)
        return cleaned(html, fence.line, into)

    def wrap(self, box: Container) -> tuple[list[Token], Token]:
        """Return the HTML before and behind the Markdown of a fence, which the page's rules for HTML check."""
        line, into = box.lines[0], box.into
        options = o.read_options("\n".join(box.head), line + 1, into)
        if self.head.argument and not box.argument:
            span = into.span_of("{" + self.name + "}", line)
            into.error("SG111", f"the directive `{{{self.name}}}` needs {self.head.argument}", span)
        html = self._html(box.argument, options, Markup(_CONTENT), line, into)
        before, _, behind = html.partition(_CONTENT)
        first, last = (
            Token("html_block", "", 0, content=part, map=[*box.lines], level=box.level, block=True)
            for part in (f"{before}\n", f"{behind}\n")
        )
        return [first], last

    def _html(self, argument: str, options: o.Options, content: str, line: int, into: Collected) -> str:
        values = o.checked(options, self.settings, f"`{{{self.name}}}`", into)
        span = into.span_of("{" + self.name + "}", line)
        for key, option in self.head.options.items():
            if option.required and key not in options.by_name:
                into.error("SG111", f"the directive `{{{self.name}}}` needs the option `{key}`", span)
        given = {key: values.get(key, option.default) for key, option in self.head.options.items()}
        try:
            html = self._rendered(argument=argument, options=given, content=content)
        except jinja2.TemplateError as error:
            place = f"{FOLDER}/{self.name}.html" + (f":{lineno}" if (lineno := getattr(error, "lineno", 0)) else "")
            into.error("SG139", f"the template of `{{{self.name}}}` fails: {error.message}", span, f"correct {place}")
            return str(content)
        if tag := never_closed(html):
            message = f"the template of `{{{self.name}}}` never closes `<{tag}>`"
            into.error("SG139", message, span, f"add `</{tag}>` in {FOLDER}/{self.name}.html")
            return str(content)
        return html.replace("\0", "")

    def _rendered(self, **values: Any) -> str:
        """Return the output of the template.  Raises TemplateError."""
        if self.over_budget:
            raise self.over_budget
        try:
            return self.environment.get_template(self.name).render(data=self.data, **values)
        except jinja2.TemplateError as error:
            if isinstance(error.__cause__, OverBudgetError):
                self.over_budget = error
            raise
