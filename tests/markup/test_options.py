"""Options at the head of a fence become values, or mistakes with their places."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from functools import partial

import pytest

from sitegen.markup.option_yaml import NotYamlError, read_mapping, read_value

DEEP = """
from sitegen.markup.parse import parse_document
from sitegen.model.markdown import Markdown

brackets = "[" * 10_000 + "]" * 10_000
text = "```{math}\\n{line} " + brackets + "\\nx\\n```\\n"
for line in (":label:", "#| label:"):
    document, mistakes = parse_document(Markdown(text.format(line=line), "content/posts/a.md"))
    print([mistake.code for mistake in mistakes], mistakes[0].message)
"""


def test_an_option_of_many_brackets_is_a_mistake_and_no_crash() -> None:
    code = DEEP.replace("{{", "{").replace("}}", "}").replace('"```{math}', '"```{{math}}')
    small_stack = partial(resource.setrlimit, resource.RLIMIT_STACK, (2**21, 2**21))  # which libyaml overflows
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=small_stack)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["['SG119'] this is not valid YAML: nested too deeply"] * 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[a, [b], {c: d}]", ("a", ("b",), {"c": "d"})),
        ("{a: [1, no]}", {"a": ("1", "no")}),
        ('"a b"', "a b"),
        ("''", ""),
    ],
)
def test_values_have_no_types(text: str, value: object) -> None:
    assert read_value(text) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[*a]", "an alias (`*name`) has no place in an option"),
        ("{a: 1, a: 2}", "`a` is given twice"),
        ("{[a]: 1}", "a key is a word"),
        ("[[[[[[[[[[a]]]]]]]]]]", "nested too deeply"),
        ("[a]\n--- b", "an option is one document"),
    ],
)
def test_what_is_no_value_says_why(text: str, reason: str) -> None:
    with pytest.raises(NotYamlError, match="^" + re.escape(reason)):
        read_value(text)


def test_entries_before_one_that_is_nested_too_deeply_are_read() -> None:
    entries = read_mapping(f"a: 1\nb: {'[' * 20}{']' * 20}\n")
    assert next(entries).value == "1"
    with pytest.raises(NotYamlError, match="nested too deeply"):
        next(entries)
