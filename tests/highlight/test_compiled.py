"""The compiled lexers make exactly the tokens of Pygments, for any text."""

from __future__ import annotations

import gzip
import importlib
import random
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path

import pygments
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexer import RegexLexer, bygroups, default, this, using, words
from pygments.token import Keyword, Name, Operator, Punctuation, String, Text, Whitespace

from sitegen.highlight.compiled import CompiledLexer, trees
from sitegen.highlight.compiled.rules import Unsupported
from sitegen.highlight.lines import (
    VERIFIED,
    _class_of,
    _compiled_lexer,
    _lexer_class,
    fingerprint,
    highlighted_lines,
    limit_passed,
    warm,
)
from sitegen.highlight.listing import lines, show

ROOT = Path(__file__).parents[2]
LISTINGS = {path.stem: path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "listings").glob("*.txt")}
"""Short texts that are hard to read, by language."""
SAMPLES = LISTINGS | {"cpp": LISTINGS["cuda"], "triton": LISTINGS["python"]}
SUFFIXES = {".py": ["python", "triton"], ".cu": ["cuda", "cpp", "c"], ".css": ["css"], ".js": ["js"], ".html": ["html"]}
PLAINS = (str(Name), str(Punctuation), str(Operator), str(Whitespace), str(Text))
"""The kinds that a reader may skip; on a page, these are the tokens without a class."""
END, BETWEEN = "\ue000", "\ue001"
ODD = [
    "", "\n", "\r\n", "\r", "\n\n\n", "\ufeffx = 1\n", "\ufeff\ufeff", "x", "x\x0cy\x0b\n\x0c", "\t \n \t", "  \n",
    "é", "λ²³٣", "naïve = 1 # ü\n", "a\u2028b\x85c\x1cd", "ſ K ı İ", "\u200b\u00a0x\u3000", "😀 = '😀'", '"', "'",
    '"""', "'''", '"a\nb"', "'a\\", "/*", "/* a", "//", "#", "#!", "# x", "\\", "\\\n", "a\\\nb", "{", "}", "(" * 40,
    "[[", "]]", "<<EOF\na", "<<EOF\na\nEOF\n", "$(", "${", "`", "`a", "R'a", 'R"x(a)y")x"', "1.e", "0x", ".5", "..",
    "1..", "-", "--1", "a->b", "::", "a::b", ":", "a:", "@", "%", "%%p1", "f'{x", "f'{x}'", "f'{{'", "if", "if\n",
    "\nif", "def", "def f", "class A", "import a", "#include", "#include <a>\n", "#if 0\nx\n#endif", "case 1: match",
    "yield from x", "x" * 5000, "é" * 500, "\n" * 500, "<script>", "</script>", "<!--", "&amp;", "\\u0041b", "a$b",
    "b'\\'", "\x00a", "a\x00", "?", "!", "!@#$%^&*()", "\u0301", "_", "__", "__x__", "\x7f",
]  # fmt: skip
INSERTED = [
    *ODD[:-12],
    "\n    ",
    " ",
    "struct ",
    "case ",
    "else\n",
    "\n#endif\n",
    'u8"',
    "rb'",
    "//",
    "*/",
    '"""',
    ";",
    "}",
    "=>",
]


@cache
def readers(language: str) -> tuple[list[CompiledLexer], RegexLexer]:
    """Return a reader for each kind that may be skipped, and Pygments'."""
    lexer = _lexer_class(language)
    assert lexer is not None and issubclass(lexer, RegexLexer)
    return [CompiledLexer(lexer, str, shown_token, plain) for plain in PLAINS], lexer(stripnl=False)


def shown_token(kind: str, text: str) -> str:
    return f"{kind}{BETWEEN}{text}{END}" if text else ""


def tokens_of(pieces: Sequence[str], plain: str) -> Iterator[tuple[str, str]]:
    for text, shown in zip(pieces[::2], pieces[1::2], strict=True):
        yield plain, text
        for token in shown.split(END)[:-1]:
            kind, _, text = token.partition(BETWEEN)
            yield kind, text


def joined(tokens: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the tokens with neighbours of one kind joined."""
    result: list[tuple[str, str]] = []
    for kind, text in tokens:
        if text and result and result[-1][0] == kind:
            result[-1] = (kind, result[-1][1] + text)
        elif text:
            result.append((kind, text))
    return result


def lines_of(tokens: Iterable[tuple[str, str]]) -> list[str]:
    """Return the HTML of lines, made in the simplest way."""
    result: list[list[str]] = [[]]
    for kind, text in joined(tokens):
        for number, piece in enumerate(text.split("\n")):
            if number:
                result.append([])
            shown = escape(piece, quote=False)
            result[-1].append(f'<span class="{kind}">{shown}</span>' if kind and piece.strip() else shown)
    return ["".join(line) for line in result]


def same_tokens(language: str, text: str, plains: Iterable[int] = range(len(PLAINS))) -> int:
    """Compare the tokens of both readers, and return their number."""
    fast, slow = readers(language)
    expected = list(slow.get_tokens(text))
    for plain in plains if not {END, BETWEEN} & set(text) else ():
        found = joined(tokens_of(fast[plain].pieces(text), PLAINS[plain]))
        assert found == joined((str(kind), part) for kind, part in expected)
    code = text.rstrip("\n").replace("\0", "\ufffd")
    in_classes = lines_of((_class_of(kind), part) for kind, part in slow.get_tokens(code))
    if limit_passed(code, language):
        return len(expected)
    shown = highlighted_lines.__wrapped__(text, language)
    assert list(shown) == (in_classes if len(in_classes) == 1 or in_classes[-1] else in_classes[:-1])
    return len(expected)


def test_every_verified_language_is_read_fast_and_has_a_sample() -> None:
    lexers = {language: _lexer_class(language) for language in SAMPLES}
    assert {lexer.name for lexer in lexers.values() if lexer} == VERIFIED
    for lexer in lexers.values():
        assert lexer and _compiled_lexer(lexer)


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_sample_in_pieces(language: str) -> None:
    text = SAMPLES[language]
    same_tokens(language, text)
    for line in text.splitlines(keepends=True):
        same_tokens(language, line, [0])


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_odd_text(language: str) -> None:
    for text in ODD:
        same_tokens(language, text)
        same_tokens(language, LISTINGS["c"][:40] + text, [0])


CHANGES = [
    (r"([A-Za-z_]\w*)", r"\1é"),
    (r"([A-Za-z_]\w*)", r"é\1"),
    (r"([A-Za-z_]\w*)", r".\1"),
    (r"([A-Za-z_]\w*)", r"\1\1"),
    (r"([A-Za-z_]\w*)", r"\1$"),
    (r"([A-Za-z_]\w*)", r"1\1"),
    (r"([A-Za-z_]\w*)", r"\n\1\n"),
    (r"([A-Za-z_]\w*)", r"\1 "),
    (r"[ \t]+", ""),
    (r"[ \t]+", "\u00a0"),
    (r"\n[ \t]*", "\n"),
    (r"\n", " "),
    (r"\n", "\n\n \t"),
    (r"\n", "\\\n"),
    (r"[\"'`]", ""),
    (r"[(){}\[\]]", ";"),
    (r"(\W)", r"\1\1"),
    (r"\d", "٣"),
]


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_sample_with_one_thing_changed_everywhere(language: str) -> None:
    for number, (old, new) in enumerate(CHANGES):
        same_tokens(language, re.sub(old, new, SAMPLES[language]), [number % len(PLAINS)])
    same_tokens(language, SAMPLES[language].swapcase(), [0])


def sources(suffix: str) -> list[Path]:
    """Return the sources of this repository, without the packages that npm installs below tests/web."""
    folders = ("kernels", "sitegen", "templates", "tests", "content")
    found = (path for folder in folders for path in (ROOT / folder).rglob(f"*{suffix}"))
    return sorted(path for path in found if path.is_file() and "node_modules" not in path.parts)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_sources_of_this_repository(suffix: str) -> None:
    paths = sources(suffix)
    chosen = random.Random(1).sample(paths, min(12, len(paths)))
    assert sum(same_file(path, SUFFIXES[suffix], [at % len(PLAINS)]) for at, path in enumerate(chosen)) > 0


def same_file(path: Path, languages: Iterable[str], plains: Iterable[int]) -> int:
    text = path.read_text(encoding="utf-8", errors="replace")[:60_000]
    return sum(same_tokens(language, text, plains) for language in languages)


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a language and its sample with a piece removed and another piece inserted."""
    language = draw(st.sampled_from(sorted(SAMPLES)))
    begin = draw(st.integers(0, len(SAMPLES[language])))
    text = SAMPLES[language][begin : begin + draw(st.sampled_from([30, 150, 600]))]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(INSERTED)) + text[at + draw(st.integers(0, 5)) :]
    return language, text


@given(damaged(), st.integers(0, len(PLAINS) - 1))
def test_damaged_text(listing: tuple[str, str], plain: int) -> None:
    same_tokens(*listing, [plain])


NUMERALS = st.text("0123456789abcefjlnouxXBEFLU_.'+-٣", min_size=1, max_size=7)
BETWEEN_NUMERALS = st.sampled_from([" ", "\n", ";", ", ", "(", "x", "é", "..", "\n    ", " = "])


@pytest.mark.parametrize("language", sorted(SAMPLES))
@given(numerals=st.lists(st.tuples(NUMERALS, BETWEEN_NUMERALS), max_size=12))
def test_whatever_begins_with_a_digit(language: str, numerals: list[tuple[str, str]]) -> None:
    same_tokens(language, "".join(f"{digits}{between}" for digits, between in numerals), [0, 2])


PATTERNS = [
    r"\s+", r"\n", r"[ \t]+", r"[^\S\n]+", r"^\s*#", r"^[ \t]*(?:if|x)\b", r"^if", r"\A#.*", r"#.*$", r"\w+",
    r"[a-z_]\w*", r"[a-zA-Z_][a-zA-Z0-9_]*", r"(?:[\w$]|\\u)+", r"(?!\d)\w+", r"if\b", r"(?:if|x|ab)\b",
    r"(?<!\.)(?:x|y|if)\b", r"ab?", r"a|ab", r"x(?=\s)", r"if(?!\w)", r"(?i)X|IF", r"\bx", r"x\s+y", r"\d+", r"\.\d+",
    r"-?\d+(?:\.\d*)?", r"[.=-]", r"==|=", r"=+", r"\.", r'"', r'[^"\\\n]+', r'[^"\\]+', r"\\.", r"\\\n", r"\\",
    r'"[^"\n]*"', r"(?:\\.|[^\"])+?", r"(?s)x.*?y", r"(?:a|[^a\n])*x", r"(?:[^x]|x(?!y))*xy", r"[^\w\s]", r".",
    r"[^\n]+", r"\S", r"é+", r"[à-ü]", r"\$\{?", r"\}", r"0x[0-9a-f]+", r"\d+\.\d*", r"\d+(?:e[-+]?\d+)?", r"[01]+b",
    r"\d+\b", r"(?<!x)\d+", r"\d+(?!x)", r"1|1\.", r"0(?:_?[0-7])+", r"[1-9]\d*",
]  # fmt: skip
IN_GROUPS = [
    r"(x)(\s+)(y)", r"(\w+)(\s*)(=)", r"^(\s*)(if)\b", r"(if)?(x)", r"(a)(b)?", r"(\.)(\w+)", r'(")(.)\1', r"(x)|(y)",
]  # fmt: skip
LISTS = [
    words(("if", "x", "x y", "ab"), suffix=r"\b"), words(("x", "a"), r"(?<!\.)", r"\b"),
    words(("a", "if"), "_", r"\b"),
]  # fmt: skip
KINDS_OF_TOKENS = st.sampled_from([Text, Whitespace, Name, Keyword, String])
TARGETS = st.sampled_from([None, None, None, "a", "b", "#pop", "#pop:2", "#push", ("a", "b"), ("#pop", "b")])


@st.composite
def rules(draw: st.DrawFn) -> tuple[object, ...]:
    """Draw a rule of a lexer's table that reads at least one character."""
    pattern = draw(st.sampled_from([*PATTERNS, *PATTERNS, *IN_GROUPS, *LISTS]))
    action = draw(KINDS_OF_TOKENS)
    if pattern in IN_GROUPS:
        parts = [action, draw(KINDS_OF_TOKENS), draw(st.sampled_from([None, Name, using(this)]))]
        action = bygroups(*parts[: re.compile(pattern).groups])
    target = draw(TARGETS)
    return (pattern, action) if target is None else (pattern, action, target)


STATES = st.fixed_dictionaries({state: st.lists(rules(), min_size=1, max_size=9) for state in ("root", "a", "b")})
LETTERS = st.sampled_from([*'abxy_.0111e٣-="\\#${} \t\n', "é", "if", "IF"])


@given(
    STATES, st.lists(st.lists(LETTERS, max_size=25).map("".join), min_size=4, max_size=4), st.sampled_from([Text, Name])
)
def test_any_table_of_rules(states: dict[str, list[object]], texts: list[str], plain: object) -> None:
    states = {state: [*table, default("#pop")] if state == "b" else table for state, table in states.items()}
    lexer = type(RegexLexer)("Any", (RegexLexer,), {"name": "Any", "tokens": states})
    fast, slow = CompiledLexer(lexer, str, shown_token, str(plain)), lexer(stripnl=False)
    for text in texts:
        expected = joined((str(kind), part) for kind, part in slow.get_tokens(text))
        assert joined(tokens_of(fast.pieces(text), str(plain))) == expected


@pytest.mark.soak
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_all_sources_of_this_repository(suffix: str) -> None:
    for path in sources(suffix):
        same_file(path, SUFFIXES[suffix], range(len(PLAINS)))


@pytest.mark.soak
def test_standard_library() -> None:
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("**/*.py")):
        if "site-packages" not in path.parts:
            same_file(path, ["python"], [0])


@pytest.mark.soak
@pytest.mark.parametrize("language", ["ptx", "nvsass"])
def test_compiled_code_of_records(language: str) -> None:
    for path in sorted((ROOT / "kernels").glob(f"*/results/artefacts/*.{language.removeprefix('nv')}.gz")):
        same_tokens(language, gzip.decompress(path.read_bytes()).decode("utf-8", "replace")[:60_000])


@pytest.mark.soak
@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_much_damaged_text(language: str) -> None:
    chosen = random.Random(2)
    for _ in range(3000):
        begin = chosen.randrange(len(SAMPLES[language]))
        text = SAMPLES[language][begin : begin + chosen.choice([30, 150, 600])]
        for _ in range(chosen.randrange(8)):
            at = chosen.randrange(len(text) + 1)
            text = text[:at] + chosen.choice(INSERTED) + text[at + chosen.randrange(6) :]
        same_tokens(language, text)


def test_loops_of_early_versions_of_python_3_11(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "POSSESSIVE", False)
    for language in ("python", "cuda", "bash"):
        fast, slow = CompiledLexer(_lexer_class(language), str, shown_token, str(Name)), readers(language)[1]
        found = joined(tokens_of(fast.pieces(SAMPLES[language]), str(Name)))
        assert found == joined((str(kind), text) for kind, text in slow.get_tokens(SAMPLES[language]))


KINDS = st.sampled_from(["", "k", "s", "c"])
TEXTS = st.text(st.sampled_from(["a", "<", "&", '"', " ", "\n", "\t", "\u2028", "é"]), max_size=6)


@given(st.lists(st.tuples(KINDS, TEXTS), max_size=12))
def test_lines_of_any_tokens(tokens: list[tuple[str, str]]) -> None:
    pieces = [piece for kind, text in tokens for piece in (["", show(kind, text)] if kind else [text, ""])]
    assert lines(pieces) == lines_of(tokens)


@pytest.mark.parametrize(("language", "suffix"), [("cuda", ".cu"), ("triton", ".py"), ("c", ".cu")])
def test_what_has_no_class_is_skipped(language: str, suffix: str) -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "kernels").rglob(f"*{suffix}"))]
    read = sum(len(_compiled_lexer(_lexer_class(language)).pieces(text)) // 2 for text in texts)
    assert read < 0.4 * sum(len(list(readers(language)[1].get_tokens(text))) for text in texts)


@pytest.mark.parametrize("language", ["yaml", "json", "make", "console", "php"])
def test_lexer_that_does_more_than_its_tables_say_is_left_to_pygments(language: str) -> None:
    lexer = _lexer_class(language)
    assert lexer and lexer.name not in VERIFIED
    with pytest.raises(Unsupported):
        CompiledLexer(lexer, str, show)
    assert '<span class="' in "".join(highlighted_lines(f"a: 1 # {language}\n$ b\nc = {{}}\n<?php 1", language))


def test_whatever_goes_wrong_pygments_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    page = importlib.import_module("sitegen.highlight.lines")
    tried = []

    def broken(_: CompiledLexer, code: str) -> list[str]:
        tried.append(code)
        raise AttributeError("re._parser is another one")

    expected = page.highlighted_lines.__wrapped__(SAMPLES["python"], "python")
    monkeypatch.setattr(page, "_NOT_COMPILED", set())
    monkeypatch.setattr(CompiledLexer, "pieces", broken)
    with pytest.warns(UserWarning, match="Python listings are read slowly"):
        assert page.highlighted_lines.__wrapped__(SAMPLES["python"], "python") == expected
    assert page.highlighted_lines.__wrapped__(SAMPLES["python"], "python") == expected
    assert len(tried) == 1


def test_what_is_warm_needs_no_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    warm(["python", "cuda", "no such language", "", "yaml"])
    monkeypatch.setattr(trees, "compiled", None)
    for language, code in (("python", 'x = max(1, "a")  # b\ndef'), ("cuda", '#include "a"\nint x = 1; // b\n')):
        expected = lines_of((_class_of(kind), text) for kind, text in readers(language)[1].get_tokens(code))
        assert lines(_compiled_lexer(_lexer_class(language)).pieces(code)) == expected


def test_names_are_known_without_loading_lexers() -> None:
    code = """
import sys
from sitegen.highlight.lines import is_known, known_languages, language_name
assert [language_name(name) for name in ("cu", "rust", "py", "txt", "x")] == ["CUDA C++", "Rust", "Python", "", "x"]
assert is_known("julia") and not is_known("nonsense") and "fortran" in known_languages()
print(*(name for name in sys.modules if name.startswith("pygments.lexers.")))
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {f"pygments.lexers.{name}" for name in ("python", "rust", "julia", "c_like", "ptx")} & set(loaded)


def test_fingerprint_names_pygments_and_is_the_same_in_every_process() -> None:
    code = "from sitegen.highlight.lines import fingerprint; print(fingerprint())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert fingerprint() == other and pygments.__version__ in other
