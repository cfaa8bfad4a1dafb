"""Turn the forms of files with YAML into JSON Schemas, by which an editor explains, completes and checks keys."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from sitegen.model.site import Ref
from sitegen.read.forms import FILES, Either, FileForm, Form, ListOf, MapOf, OneOf

Schema = dict[str, Any]
DRAFT = "http://json-schema.org/draft-07/schema#"
TEXT: Schema = {"type": ["string", "number", "boolean"]}
"""Text: YAML takes a word such as `2026` for a number, and the readers take its text."""
_DATE, _TIME = r"\d{4}-\d\d-\d\d", r"[Tt ]+\d\d:\d\d(:\d\d(\.\d+)?)?\s*([Zz]|[+-]\d\d:?\d\d)?"
DAY: Schema = {"type": "string", "pattern": f"^{_DATE}$"}
MOMENT: Schema = {"type": "string", "pattern": f"^{_DATE}({_TIME})?$"}
_PLAIN: Mapping[Any, Schema] = {
    str: TEXT,
    Ref: TEXT,
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    dt.date: DAY,
    Any: {},
}


def schema_of(file: FileForm) -> Schema:
    """Return the JSON Schema of a kind of file, in draft 7, which editors for YAML read."""
    forms = {form.of: form for form in file.forms}
    return {"$schema": DRAFT, "title": file.path, **_mapping(file.forms[0], forms)}


def schemas() -> Mapping[str, Schema]:
    """Return the schema of each kind of file, by its name."""
    return {file.name: schema_of(file) for file in FILES}


def type_schema(hint: Any, forms: Mapping[Any, Form]) -> Schema:
    """Return the schema of the values of a type; `forms` has the form of each dataclass."""
    match hint:
        case OneOf():
            return {"enum": [*hint.words]}
        case Either():
            return {"anyOf": [type_schema(one, forms) for one in hint.types]}
        case ListOf():
            return {"type": "array", "items": type_schema(hint.type, forms)}
        case MapOf():
            return {"type": "object", "additionalProperties": type_schema(hint.type, forms)}
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _union([arg for arg in args if arg is not NoneType], forms)
    if origin is tuple:
        return type_schema(ListOf(args[0]), forms)
    if origin is not None and issubclass(origin, Mapping):
        return type_schema(MapOf(args[1]), forms)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if dataclasses.is_dataclass(hint):
        return _mapping(forms[hint], forms)
    assert issubclass(hint, StrEnum)
    return {"enum": [*map(str, hint)]}


def _union(types: list[Any], forms: Mapping[Any, Form]) -> Schema:
    if dt.datetime in types:
        return MOMENT
    if len(types) == 1:
        return type_schema(types[0], forms)
    return TEXT  # numbers, words and truth values: a param of a kernel


def _mapping(form: Form, forms: Mapping[Any, Form]) -> Schema:
    keys = {key: _key(form, key, forms) for key in form.about}
    others = False if form.others is None else type_schema(form.others, forms)
    return {
        "type": "object",
        "properties": keys,
        "required": [key for key in form.about if form.is_required(key)],
        "additionalProperties": others,
    }


def _key(form: Form, key: str, forms: Mapping[Any, Form]) -> Schema:
    schema = type_schema(form.type_of(key), forms)
    described = {"description": form.about[key], **schema}
    return described if form.is_required(key) else _or_empty(described)


def _or_empty(schema: Schema) -> Schema:
    """Return a schema that also takes `key:` without a value, which the readers take for a key that is not there."""
    for word, empty in (("enum", None), ("anyOf", {"type": "null"})):
        if word in schema:
            return {**schema, word: [*schema[word], empty]}
    return {**schema, "type": [*_types(schema), "null"]} if "type" in schema else schema


def _types(schema: Schema) -> Iterable[str]:
    types = schema["type"]
    return [types] if isinstance(types, str) else types
