"""The registry of keys: it lists what the readers accept, and its schemas take what the readers take."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from sitegen.read import shape
from sitegen.read.config import parse_config
from sitegen.read.exercises import parse_exercise
from sitegen.read.forms import FILES, FileForm, Form
from sitegen.read.kernel import parse_kernel
from sitegen.read.own_directive import parse_own_directive
from sitegen.read.pages import parse_page, parse_post, parse_term
from sitegen.read.schemas import schemas
from sitegen.read.series import parse_series
from sitegen.read.source import split_front_matter
from sitegen.read.yaml_nodes import parse_yaml, without_places

ROOT = Path(__file__).parents[2]
KERNEL = "kernels/softmax/kernel.yaml"
READERS = {
    "site": lambda text: parse_config(text),
    "series": lambda text: parse_series(text, "series/route.yaml"),
    "kernel": lambda text: parse_kernel(text, KERNEL, {}),
    "post": lambda text: parse_post(f"---\n{text}---\n", "content/posts/softmax/index.md"),
    "page": lambda text: parse_page(f"---\n{text}---\n", "content/pages/about.md"),
    "term": lambda text: parse_term(f"---\n{text}---\n", "content/terms/warp.md"),
    "exercise": lambda text: parse_exercise(f"---\n{text}---\n", "content/exercises/sum/index.md"),
    "directive": lambda text: parse_own_directive(f"{{#\n{text}#}}\n", "templates/directives/film.html"),
}
"""The reader of each kind of file, which takes YAML."""
PLACES = {
    "an entry point": "entry_points: [{zzz: 1}]\n",
    "the countdown": "countdown: {zzz: 1}\n",
    "a target": "targets: {lab: {zzz: 1}}\n",
    "an author": "authors: {ada: {zzz: 1}}\n",
    "an entry of the menu": "menu: [{zzz: 1}]\n",
    "a phase": "phases: [{zzz: 1}]\n",
    "a topic": "phases: [{topics: [{zzz: 1}]}]\n",
    "a planned post": "phases: [{planned: [{zzz: 1}]}]\n",
    "an exercise of a phase": "phases: [{exercises: [{zzz: 1}]}]\n",
    "a tensor": "inputs: {x: {zzz: 1}}\n",
    "an implementation": "implementations: [{zzz: 1}]\n",
    "a launch": "implementations: [{launch: {zzz: 1}}]\n",
    "a wrong variant": "wrong: [{zzz: 1}]\n",
    "a sweep": "sweeps: [{zzz: 1}]\n",
    "an option": "options: {a: {zzz: 1}}\n",
}
"""A mapping of each kind with a key that no reader knows."""
ELSEWHERE = {"a workload"}
"""Forms whose keys `read_as` does not check."""


FORMS = [(file, form) for file in FILES for form in file.forms]


def accepted(file: FileForm, form: Form, monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """Return the keys that the reader knows where it meets an unknown one."""
    known: list[set[str]] = []
    tell = shape.unknown_word

    def unknown_word(what: str, word: str, span: Any, words: Any, code: str = "SG014") -> Any:
        known.extend([set(words)] if word == "zzz" else [])
        return tell(what, word, span, words, code)

    monkeypatch.setattr(shape, "unknown_word", unknown_word)
    READERS[file.name](PLACES.get(form.title, "zzz: 1\n"))
    return known


@pytest.mark.parametrize(
    ("file", "form"),
    [pair for pair in FORMS if pair[1].title not in ELSEWHERE],
    ids=lambda one: getattr(one, "name", "") or one.title,
)
def test_registry_lists_the_keys_that_the_reader_knows(
    file: FileForm, form: Form, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert accepted(file, form, monkeypatch)[:1] == [set(form.about)]


@pytest.mark.parametrize(("file", "form"), FORMS, ids=lambda one: getattr(one, "name", "") or one.title)
def test_every_key_has_a_sentence(file: FileForm, form: Form) -> None:
    assert [key for key, about in form.about.items() if not re.search(r"\.$|\.`$", about)] == []


# ------------------------------------------------------------------------------------------- schemas

SITES = ("", "docs", "tests/sites/every_form", "tests/web/site")


def data_of(text: str, path: str) -> Any:
    """Return the YAML of a file, of its front matter, or of the comment at its head."""
    text = text.removeprefix("{#").partition("#}")[0] if path.endswith(".html") else text
    yaml = split_front_matter(text, path)[0].yaml if path.endswith(".md") else text
    node, _ = parse_yaml(yaml or "", path)
    return without_places(node) if node else {}


def files_of(form: FileForm) -> Iterator[Path]:
    pattern = re.sub(r"<\w+>", "*", form.path)
    return (path for site in SITES for path in (ROOT / site).glob(pattern))


def mistakes(name: str, data: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in Draft7Validator(schemas()[name]).iter_errors(data)]


@pytest.mark.parametrize("form", FILES, ids=lambda form: form.name)
def test_files_of_this_project_fit_their_schemas(form: FileForm) -> None:
    files = sorted(files_of(form))
    assert files
    wrong = {str(path): mistakes(form.name, data_of(path.read_text(encoding="utf-8"), path.name)) for path in files}
    assert {path: found for path, found in wrong.items() if found} == {}


@pytest.mark.parametrize("form", FILES, ids=lambda form: form.name)
def test_wrong_key_of_a_file_does_not_fit_its_schema(form: FileForm) -> None:
    path = sorted(files_of(form))[0]
    data = data_of(path.read_text(encoding="utf-8"), path.name)
    assert mistakes(form.name, {**data, "zzz": 1}) == [
        "$: Additional properties are not allowed ('zzz' was unexpected)"
    ]


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("site", "title: A\nbase_url: https://a.org/\nentry_points: [{post: a, becuase: b}]\n", "$.entry_points[0]"),
        ("site", "title: A\nbase_url: https://a.org/\nfeeds: [tag]\n", "$.feeds[0]"),
        ("series", "title: A\nphases: [{title: One, planned: [{titel: B}]}]\n", "$.phases[0].planned[0]"),
        ("post", "title: A\ndate: 22 November\n", "$.date"),
        ("post", "title: A\n", "$"),
        ("exercise", "title: A\nsolution: [a]\n", "$.solution"),
    ],
)
def test_schema_names_the_place_of_a_mistake(name: str, text: str, place: str) -> None:
    found = mistakes(name, data_of(text, "file.yaml"))
    assert [one.partition(":")[0] for one in found][:1] == [place]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("dtypes", ["float33"]),
        ("wrong", [{"name": "a", "file": "a.py", "fails": "passed"}]),
        ("workloads", [{"M": "x"}]),
    ],
)
def test_schema_of_a_kernel_refuses_what_the_reader_refuses(key: str, value: Any) -> None:
    data = data_of((ROOT / "kernels/vector_add/kernel.yaml").read_text(encoding="utf-8"), KERNEL)
    assert len(mistakes("kernel", {**data, key: value})) == 1
