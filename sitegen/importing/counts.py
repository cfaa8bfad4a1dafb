"""Compare the texts of a source with the texts that were made of them: words, images, code, formulas and links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sitegen.importing.closed import COMMENT, closed, element
from sitegen.importing.mending.places import FENCE
from sitegen.read.source import split_front_matter

_UNSEEN_LINES = re.compile(
    r"^\{:toc[^\n]*$|^%(?!%)[^\n]*$|^\+\+\+[^\n]*$|^[ ]{0,3}\[(?://|comment)\]:[^\n]*$"
    r"|!\[\[[^\[\]|#]+\.\w+(?:#[^\[\]|]*)?(?=[\]|])",
    re.MULTILINE,
)
_UNSEEN = (
    *(COMMENT, closed(r"%%(?!\|)", "%%"), element("script"), element("style")),
    closed(r"\{%-?\s*comment\s*-?%\}", r"\{%-?\s*endcomment\s*-?%\}"),
)
"""What no reader sees: comments, scripts, styles, the names of embedded files."""
_SHORT_LISTINGS = (
    *(
        closed(rf"\{{\{{[<%]\s*{name}\b", rf"\{{\{{[<%]\s*/\s*{name}\s*[>%]\}}\}}")
        for name in ("highlight", "plaintext", "code", "code-toggle")
    ),
    closed(r"\{%-?\s*highlight\b", r"\{%-?\s*endhighlight\s*-?%\}"),
)
_LIQUID = closed(r"\{%-?\s*\w", r"%\}")
_TARGET_ROLE = re.compile(
    r"\{(?:ref|numref|eq|doc|cite[:\w]*|prf:ref|index|download|math)\}`(?:(?P<words>[^`<]*)<[^`>]*>|[^`]*)`"
)
_NO_TEXT = frozenset({"comment", "index", "raw", "only", "toctree", "include", "literalinclude"})
"""Directives whose text no reader sees."""
_NO_WORDS = frozenset(
    {"figure", "image", "index", "raw", "only", "math", "exercise-start", "solution-start", "solution-end"}
    | {"include", "literalinclude", "toctree", "button-ref", "button-link", "autodoc2-object"}
)
"""Directives whose argument is no word that a reader sees."""
_IMAGE = re.compile(
    r"!\[[^\[\]]*\]\(|!\[\[[^\[\]|#]+\.(?:png|jpe?g|gif|svg|webp|avif|bmp)\b|<ima?ge?\b|\{\{[<%]\s*(?:figure|img|image)\b"
    r"|^[ \t>]*(?:`{3,}|:{3,})\{(?:figure|image)\}",
    re.MULTILINE | re.IGNORECASE,
)
_LISTING = re.compile(r"\{\{[<%]\s*highlight\b|\{%-?\s*highlight\b")
_FORMULA = re.compile(
    r"\$\$.+?\$\$|(?<![\\$\w])\$(?![\s\d])(?:\\.|[^$\\\n])+?(?<!\s)\$(?!\d)|\{math\}`",
    re.DOTALL,
)
_ENVIRONMENT = r"\{(?:equation|align|alignat|gather|eqnarray|multline)\*?\}"
_IN_BRACKETS = (
    closed(r"\\\[", r"\\\]", ".+?"),
    closed(r"\\\(", r"\\\)", ".+?"),
    closed(rf"\\begin{_ENVIRONMENT}", rf"\\end{_ENVIRONMENT}"),
)
"""Formulas between brackets, and those that MathJax finds by their environment."""
_LINK = re.compile(
    r"(?=[\[<{@])(?:"  # the signs that begin a link: at others no form is tried
    r"(?<![!\\])\[(?:[^\[\]\\\n]|\n(?![ \t]*\n)|\\.|\[[^\[\]\n]*\](?:\([^()\n]*\))?)*+\]\(|(?<!!)\[\[|<https?:"
    r"|<a\s[^<>]*href"
    r"|\{(?:ref|doc|numref|eq|download)\}`|(?<![\w\\])@(?:fig|tbl|lst|eq|sec)-)"
)
_DIRECTIVE = re.compile(r"\{(?P<name>[\w:-]+)\}")
_CODE_CELLS = frozenset(
    {
        "myst",
        "code-cell",
        "code-block",
        "code",
        "python",
        "cuda",
        "triton",
        "r",
        "julia",
        "ojs",
        "bash",
        "mermaid",
        "dot",
    }
)
_MARKUP = re.compile(
    r"(?=[{<\]:\[!|\\@^(]|https?:|^[ \t>])(?:"  # the same for markup
    r"\{\{[<%][^{}]*[>%]\}\}|\{\{[^{}]*\}\}|</?[A-Za-z][^<>]*>|\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)"
    r"|\{[^{}=\n]*+=[^{}\n]*+\}|\{[#.:][^{}\n]*\}|\{[\w:-]+\}|^[ \t>]*:[\w-]+:[^\n]*$"
    r"|^[ \t>]*:{3,}\{(?:figure|image|include|literalinclude)\}[^\n]*$"
    r"|^[ \t>]*:{3,}[ \t]*(?:[\w-]+[ \t]*:*[ \t]*$)?|\]\[(?:[^\[\]\n]|\n(?![ \t]*\n))*+\]"
    r"|^[ \t]*\[(?!\^)[^\]\n]+\]:[^\n]*$|\[\^[^\[\]\n]+\]:?|\\(?:eq)?ref\{[^{}\n]*\}"
    r"|!?\[\[[^\[\]|\n]*\||\|\d+(?:x\d+)?(?=\])|https?://[^\s)>]+|^[ \t>]*\[![\w-]+\][+-]?"
    r"|^[ \t]*\([^()\n]+\)=[ \t]*$|\\(?=[^\w\s])|@[\w:-]+|\^[\w-]+$)",
    re.MULTILINE,
)
_CODE = re.compile(r"(?<!`)(?P<ticks>`++)(?:\{?(?:python|r|julia)\}? +)?(?P<code>.+?)(?P=ticks)")
"""Code within a line, without the name of the language that computes it in Quarto: `` `r nrow(x)` ``."""
_ALONE = r"\u3040-\u30ff\u3400-\u9fff"
"""The letters of scripts without spaces, each of which counts as a word."""
_WORD = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]+")
KINDS = ("words", "images", "code", "formulas", "links")
DEEPEST = 50
"""Most fences around another of which the text is counted apart."""
SHOWN = 12
"""Most texts and most words of a text that the report names."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A text, its words, and the numbers of its images, listings, formulas and links."""

    text: str = field(compare=False)
    """The whole text, in which `Comparison.lost` looks for words."""
    words: Counter[str]
    images: int
    code: int
    formulas: int
    links: int

    def number(self, kind: str) -> int:
        return self.words.total() if kind == "words" else int(getattr(self, kind))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A text of the source beside the text that it became."""

    source: str
    path: str
    before: Counted
    after: Counted

    @property
    def lost(self) -> Counter[str]:
        """The words that did not come over.

        A word that stands in the new text as often as in the old one is not lost: it is in a formula, in code or in a
        tag of the one, and in a sentence of the other.
        """
        fewer = self.before.words - self.after.words
        return fewer & (_all_words(self.before.text) - _all_words(self.after.text)) if fewer else fewer


def counted(text: str) -> Counted:
    """Count what a text in any dialect of Markdown holds, below its front matter."""
    whole, images = text, len(_IMAGE.findall(text))
    code, formulas, shown, at = len(_LISTING.findall(text)), 0, list[str](), 0
    for stretch in (*_UNSEEN, *_SHORT_LISTINGS):
        text = stretch.replaced(text, "")
    text = _UNSEEN_LINES.sub("", text)
    for fence in FENCE.finditer(text):
        kind = _kind(fence)
        code += kind == "code"
        formulas += kind == "math"
        shown += [text[at : fence.start()], "" if kind in ("code", "math") else _inner(fence)]
        at = fence.end()
    prose = "".join([*shown, text[at:]])
    plain = _without_spans(prose)
    formulas += len(_FORMULA.findall(plain)) + sum(one.count(plain) for one in _IN_BRACKETS)
    links = len(_LINK.findall(prose))
    return Counted(whole, _words(prose), images, code, formulas, links)


def _kind(fence: re.Match[str]) -> str:
    """Return `code`, or the name of a directive that holds no code."""
    name = _DIRECTIVE.match(fence["info"])
    return "code" if not name or name["name"] in _CODE_CELLS else name["name"]


def _inner(fence: re.Match[str], depth: int = 1) -> str:
    """Return the text within a fence, and that of the fences in it; `DEEPEST` fences deep it stays as it is."""
    kind = _kind(fence)
    title = "" if kind in _NO_WORDS else _DIRECTIVE.sub("", fence["info"])
    inner = fence["code"]
    if depth < DEEPEST:
        inner = FENCE.sub(lambda match: "" if _kind(match) in ("code", "math") else _inner(match, depth + 1), inner)
    return f"\n{title}\n{'' if kind in _NO_TEXT else inner}"


def _without_spans(prose: str) -> str:
    return re.sub(r"(?<![`\}])(`++)(.+?)(?<!`)\1(?!`)", " ", prose, flags=re.DOTALL)


def _words(prose: str) -> Counter[str]:
    plain = _TARGET_ROLE.sub(lambda match: match["words"] or " ", _LIQUID.replaced(prose, " "))
    plain = re.sub(r"(?<=\$\$)[ \t]*\([\w:.-]+\)", "", plain)
    plain = _FORMULA.sub(" ", _CODE.sub(lambda match: match["code"], plain))
    for formula in _IN_BRACKETS:
        plain = formula.replaced(plain, " ")
    plain = _MARKUP.sub(" ", plain)
    return _all_words(plain)


def compared(sources: Mapping[str, tuple[str, str]], files: Mapping[str, object]) -> tuple[Comparison, ...]:
    """Return both sides of each text of an import."""
    return tuple(
        Comparison(source, path, counted(text), _here(str(files[path])))
        for path, (source, text) in sources.items()
        if path in files
    )


def _here(text: str) -> Counted:
    front, _ = split_front_matter(text, "")
    found = counted(front.body.text)
    return replace(found, text=text, words=found.words + _all_words(front.yaml or ""))


def _all_words(text: str) -> Counter[str]:
    """Return the words of a text with those of its formulas, its code and its tags."""
    return Counter(word.lower() for word in _WORD.findall(text))


def report_lines(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield the lines of the report: a table of both sides, then the texts that lost words or more."""
    if not comparisons:
        return
    yield f"{'':10}{'there':>10}{'here':>10}"
    yield f"{'texts':10}{len(comparisons):>10,}{len(comparisons):>10,}"
    for kind in KINDS:
        before = sum(one.before.number(kind) for one in comparisons)
        lost = sum(_missing(one, kind) for one in comparisons)
        yield f"{kind:10}{before:>10,}{before - lost:>10,}"
    poorer = sorted((one for one in comparisons if _losses(one)), key=lambda one: -one.lost.total())
    for one in poorer[:SHOWN]:
        yield f"{one.source}: {', '.join(_losses(one))}"
    if len(poorer) > SHOWN:
        yield f"{len(poorer) - SHOWN} further texts came over with less"


def _missing(one: Comparison, kind: str) -> int:
    return one.lost.total() if kind == "words" else max(0, one.before.number(kind) - one.after.number(kind))


def _losses(one: Comparison) -> list[str]:
    losses = [f"{missing} {kind}" for kind in KINDS[1:] if (missing := _missing(one, kind))]
    if words := one.lost:
        named = " ".join(list(words)[:SHOWN])
        losses.insert(0, f"{words.total()} words ({named}{' …' if len(words) > SHOWN else ''})")
    return losses
