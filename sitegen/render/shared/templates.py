"""Jinja's environment as pages need it, and the error of a template that a site brings along."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import jinja2

from sitegen.render.shared.language import translated


class TemplateFailure(jinja2.TemplateRuntimeError):
    """Why a template of a site cannot be rendered, and where; `name` and `lineno` are empty where that is unknown."""

    def __init__(self, message: str, name: str = "", lineno: int = 0) -> None:
        super().__init__(message)
        self.name, self.lineno = name, lineno

    def __reduce__(self) -> tuple[Any, ...]:
        return TemplateFailure, (self.message, self.name, self.lineno)


class Templates(jinja2.Environment):
    """Puts the words of its language into a template before that is compiled."""

    words: Mapping[str, str] = MappingProxyType({})

    def preprocess(self, source: str, name: str | None = None, filename: str | None = None) -> str:
        return translated(source, self.words)
