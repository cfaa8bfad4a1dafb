"""Collect every directive and role from the modules of `directives/`, by name.

A new directive is one module there with a tuple `DECLARED`; nothing else names it.  Its styles, if it needs any, are a
file of the same name with the ending `.css`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

from sitegen.markup import directives as package
from sitegen.markup.directive import Declared, Directive, InlineRole
from sitegen.model.vocabulary import Vocabulary

OneOfBoth = TypeVar("OneOfBoth", Directive, InlineRole)


@cache
def declared() -> tuple[Declared, ...]:
    """Return everything that the modules declare, in the order of their names."""
    names = sorted(module.name for module in iter_modules(package.__path__))
    return tuple(one for name in names for one in import_module(f"{package.__name__}.{name}").DECLARED)


@cache
def directives() -> Mapping[str, Directive]:
    """Return the directives by each of their names."""
    return _by_name([one for one in declared() if isinstance(one, Directive)])


@cache
def roles() -> Mapping[str, InlineRole]:
    """Return the roles by each of their names."""
    return _by_name([one for one in declared() if isinstance(one, InlineRole)])


def with_words(spoken: Vocabulary) -> Vocabulary:
    """Return a vocabulary with the words of the directives added; a catalogue's own words win."""
    words = _words(spoken.tag) or _words(spoken.tag.partition("-")[0])
    return replace(spoken, words={**words, **spoken.words}) if words else spoken


@cache
def _words(tag: str) -> Mapping[str, str]:
    return {english: said for one in declared() for english, said in one.words.get(tag, {}).items()}


def _by_name(all_of_a_kind: list[OneOfBoth]) -> Mapping[str, OneOfBoth]:
    by_name: dict[str, OneOfBoth] = {}
    for one in all_of_a_kind:
        for name in one.names:
            if name in by_name:
                raise ValueError(f"two modules declare `{name}`")
            by_name[name] = one
    return by_name
