"""Extend Jinja's environment for pages, and define the error of a site's own template."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import jinja2

from sitegen.render.shared.language import translated


class TemplateFailure(jinja2.TemplateRuntimeError):
    """The error of a site's own template, with its place; `name` and `lineno` are empty when the place is unknown."""

    def __init__(self, message: str, name: str = "", lineno: int = 0) -> None:
        super().__init__(message)
        self.name, self.lineno = name, lineno

    def __reduce__(self) -> tuple[Any, ...]:
        return TemplateFailure, (self.message, self.name, self.lineno)


class Templates(jinja2.Environment):
    """An environment that puts the words of its language into a template before Jinja compiles it."""

    words: Mapping[str, str] = MappingProxyType({})

    def preprocess(self, source: str, name: str | None = None, filename: str | None = None) -> str:
        return translated(source, self.words)
