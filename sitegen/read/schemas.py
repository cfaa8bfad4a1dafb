"""Turn the forms of files with YAML into JSON Schemas, by which an editor explains, completes and checks keys."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from sitegen.model.kernel import Scalar
from sitegen.model.site import Ref
from sitegen.read.forms import FILES, Either, FileForm, Form, ListOf, MapOf, OneOf, simple_type

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
}
_UNIONS: Mapping[Any, Schema] = {(dt.date, dt.datetime): MOMENT, get_args(Scalar): TEXT}


def schema_of(file: FileForm) -> Schema:
    """Return the JSON Schema of a kind of file, in draft 7, which editors for YAML read."""
    forms = {form.of: form for form in file.forms}
    return {"$schema": DRAFT, "title": file.path, **_mapping(file.forms[0], forms)}


def schemas() -> Mapping[str, Schema]:
    """Return the schema of each kind of file, by its name."""
    return {file.name: schema_of(file) for file in FILES}


def type_schema(hint: Any, forms: Mapping[Any, Form]) -> Schema:
    """Return the schema of the values of a type; `forms` has the form of each dataclass."""
    match simple_type(hint):
        case OneOf(words):
            return {"enum": [*words]}
        case Either(types) if types in _UNIONS:
            return _UNIONS[types]
        case Either(types):
            return {"anyOf": [type_schema(one, forms) for one in types]}
        case ListOf(item):
            return {"type": "array", "items": type_schema(item, forms)}
        case MapOf(value):
            return {"type": "object", "additionalProperties": type_schema(value, forms)}
        case plain if plain in _PLAIN:
            return _PLAIN[plain]
        case dataclass:
            return _mapping(forms[dataclass], forms)


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
