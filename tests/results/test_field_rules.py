"""The rules of a record's fields leave out none that a page prints as it stands."""

from __future__ import annotations

from dataclasses import fields

import pytest

from sitegen.model.record import Environment
from sitegen.results.field_rules import RULES

TEXT_FIELDS = [field.name for field in fields(Environment) if field.type == "str"]


@pytest.mark.parametrize("name", TEXT_FIELDS)
def test_every_text_of_the_environment_has_a_rule(name: str) -> None:
    assert name in RULES[Environment]


def test_the_environment_has_texts() -> None:
    assert len(TEXT_FIELDS) > 5
