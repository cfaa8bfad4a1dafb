"""A directive is one module, and the program knows no more of it than the module declares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from markdown_it.token import Token

from sitegen.markup import parse, registry
from sitegen.markup.collected import Collected
from sitegen.markup.directive import Container, Directive, Fence, InlineRole
from sitegen.markup.directives import styles
from sitegen.markup.options import Setting, text
from sitegen.markup.parse import parse_document
from sitegen.model.site import Markdown
from sitegen.model.vocabulary import Vocabulary
from sitegen.render.shared.theme import with_styles


def shown(fence: Fence, into: Collected) -> str:
    into.kept.setdefault("echo", []).append(fence.argument)
    return f"<p>{into.spoken.say('Said')}: {fence.argument}</p>\n"


def boxed(box: Container) -> tuple[list[Token], Token]:
    return [Token("section_open", "section", 1, block=True)], Token("section_close", "section", -1, block=True)


ECHO = Directive(
    ("echo",), "Says it again.", {"loud": Setting(text, "How.")}, show=shown, words={"ko": {"Said": "\ub9d0"}}
)
BOX = Directive(("box",), "Puts a box around it.", wrap=boxed)
SHOUT = InlineRole(("shout",), "Says it aloud.", lambda token, _: token.content.upper(), said=str.upper)


@pytest.fixture
def new(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three more directives, which a module of the package declares."""
    listed, load = registry.iter_modules, registry.import_module
    module = SimpleNamespace(DECLARED=(ECHO, BOX, SHOUT))
    monkeypatch.setattr(registry, "iter_modules", lambda path: [*listed(path), SimpleNamespace(name="echo")])
    monkeypatch.setattr(registry, "import_module", lambda name: module if name.endswith(".echo") else load(name))
    caches = (registry.declared, registry.directives, registry.roles, registry._words, parse.text_parser)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def codes(markdown: str) -> list[tuple[str, str]]:
    return [(mistake.code, mistake.hint) for mistake in parse_document(Markdown(markdown, "a.md"))[1]]


@pytest.mark.usefixtures("new")
def test_what_a_module_declares_is_read_shown_and_kept() -> None:
    markdown = "# A {shout}`title`\n\n```{echo} b\n```\n\nwords\n:::{box}\n- *c*\n:::\n"
    document, mistakes = parse_document(Markdown(markdown, "a.md"))
    assert mistakes == ()
    assert document.headings[0].text == "A TITLE"
    assert "<p>Said: b</p>" in document.html
    assert "<section>\n<ul>\n<li><em>c</em></li>\n</ul>\n</section>" in document.html
    assert document.kept == {"echo": ("b",)}


@pytest.mark.usefixtures("new")
def test_a_name_that_is_nearly_that_of_a_module_is_a_mistake_that_names_it() -> None:
    assert codes("```{echoo} b\n```\n") == [("SG101", "did you mean `echo`?")]
    assert codes("{shoud}`b`\n") == [("SG102", "did you mean `shout`?")]


@pytest.mark.usefixtures("new")
def test_words_of_a_module_are_said_unless_a_catalogue_says_others() -> None:
    def said(spoken: Vocabulary) -> str:
        return parse_document(Markdown("```{echo} b\n```\n", "a.md"), spoken=spoken)[0].html

    assert "<p>\ub9d0: b</p>" in said(Vocabulary("ko-KR"))
    assert "<p>Aloud: b</p>" in said(Vocabulary("ko", {"Said": "Aloud"}))
    assert "<p>Said: b</p>" in said(Vocabulary("fr"))


def test_styles_beside_the_modules_stand_at_the_end_of_the_sites_own(tmp_path: Path) -> None:
    (tmp_path / "b.css").write_text(".b {}\n")
    (tmp_path / "a.css").write_text(".a {}\n")
    sheet = styles(tmp_path)
    assert with_styles({"site.css": b"p {}\n", "a.js": b""}, sheet) == {
        "site.css": b"p {}\n\n.a {}\n\n.b {}\n",
        "a.js": b"",
    }


def test_two_modules_with_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two modules declare `echo`"):
        registry._by_name([ECHO, ECHO])


@pytest.mark.parametrize("one", registry.declared(), ids=lambda one: one.names[0])
def test_everything_that_is_declared_has_a_sentence_for_the_manual(one: Directive | InlineRole) -> None:
    about = [one.about, *(setting.about for setting in getattr(one, "options", {}).values())]
    assert all(sentence[:1] != " " and sentence.endswith(".") for sentence in about)
    if isinstance(one, Directive):
        assert (one.show is None) != (one.wrap is None)
