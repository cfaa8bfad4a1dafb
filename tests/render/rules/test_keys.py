"""Everything that a template can show is in the key of its page."""

import dataclasses
import datetime as dt
import importlib
import pkgutil
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest
from markupsafe import Markup

from sitegen.linking.link import link_site
from sitegen.render.inputs.evidence import gather
from sitegen.render.inputs.sources import Sources
from sitegen.render.rules.dependencies import VIEW
from sitegen.render.rules.keys import digest_of
from sitegen.render.rules.site_rules import sheets
from sitegen.render.shared.frame import Printer
from sitegen.render.shared.theme import environment, load_theme

DAY = dt.date(2026, 11, 23)
SHOWN = (str, int, float, bool, bytes, type(None), Markup, dt.date, dt.datetime)


@dataclass(frozen=True)
class View:
    one: object
    two: object = None


@dataclass(frozen=True)
class Other:
    one: object
    two: object = None


DIFFERENT = (
    *(None, True, 0.5, "a", b"a", (), ("a",), ("a", "b"), (("a",), "b"), {"a": "b"}, {"b": "a"}),
    *(Markup("b"), dt.date(2026, 11, 23), View("a"), View("a", "b"), View("b", "a"), Other("a"), View(View("a"))),
)


def test_values_that_differ_have_other_digests() -> None:
    assert len({digest_of(value) for value in DIFFERENT}) == len(DIFFERENT)


@pytest.mark.parametrize("value", [object(), View(iter("a")), {"a": {1, 2}}, (len,)])
def test_a_value_of_which_no_digest_is_known_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="of which there is no digest"):
        digest_of(value)


def views() -> Iterator[type]:
    """Return the dataclasses of all modules that make pages."""
    for folder in ("pages", "outputs", "measurements", "shared"):
        package = importlib.import_module(f"sitegen.render.{folder}")
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(module.name)).values():
                if dataclasses.is_dataclass(value) and isinstance(value, type) and value.__module__ == module.name:
                    yield value


def leaves(kind: Any) -> Iterator[Any]:
    """Return the types of which a value of a type can consist."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (tuple, list, typing.Union, types.UnionType, Mapping, dict, Sequence):
        for argument in arguments:
            yield from leaves(argument) if argument not in (..., ()) else ()
    else:
        yield kind


NO_VIEWS = {"BenchmarkColumn", "Column", "Letters", "Printer", "Theme", "Written", "_Word"}
"""Dataclasses that no template receives."""


def test_every_field_of_a_view_has_a_type_of_which_a_digest_is_known() -> None:
    unknown = set()
    for view in views():
        names = {**vars(importlib.import_module(view.__module__)), **vars(typing)}
        if view.__name__ in NO_VIEWS:
            continue
        for name, kind in typing.get_type_hints(view, names).items():
            for leaf in leaves(kind):
                known = leaf in SHOWN or leaf in (Any, object) or (isinstance(leaf, type) and issubclass(leaf, Enum))
                if not known and not dataclasses.is_dataclass(leaf):
                    unknown.add(f"{view.__name__}.{name}: {leaf}")
    assert unknown == set()


def test_what_is_noted_while_a_page_is_printed_is_its_key(make: SimpleNamespace) -> None:
    """A key that differs from the noted one would make the next update print the page again."""
    theme, site, records = load_theme(), make.site(), make.records(make.full_record())
    documents = make.documents_of(site)
    linked = link_site(site, documents, as_of=DAY, files=make.files)[0]
    fragments = {name: document.html for name, document in documents.items()}
    assets = {name: f"assets/{name}" for name in theme.assets}
    sources = Sources(linked, documents, fragments, DAY, assets, lambda: gather(site, documents, records), dict)
    printer, printed = Printer(sources, environment(theme)), list(sheets(sources))
    looked = {sheet.name: sheet.dependencies() for sheet in sheets(sources)}
    for sheet in printed:
        sheet.make(printer)
    noted = {sheet.name: sheet.dependencies() for sheet in printed}
    assert noted == looked
    assert all(parts[-1].name == VIEW for parts in noted.values())
