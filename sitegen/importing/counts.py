"""Compare the texts of a source with the texts that were made of them: words, images, code, formulas and links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sitegen.importing.mending.places import FENCE
from sitegen.read.source import split_front_matter

_COMMENT = re.compile(r"<!--.*?-->|%%.*?%%|^%[^\n]*$|^\+\+\+[^\n]*$", re.DOTALL | re.MULTILINE)
_IMAGE = re.compile(
    r"!\[[^\]]*\]\(|!\[\[[^\]|#]+\.(?:png|jpe?g|gif|svg|webp|avif|bmp)\b|<ima?ge?\b|\{\{[<%]\s*(?:figure|img|image)\b"
    r"|^[ \t>]*(?:`{3,}|:{3,})\{(?:figure|image)\}",
    re.MULTILINE | re.IGNORECASE,
)
_LISTING = re.compile(r"\{\{[<%]\s*highlight\b|\{%-?\s*highlight\b")
_FORMULA = re.compile(
    r"\$\$.+?\$\$|(?<![\\$\w])\$(?![\s\d])(?:\\.|[^$\\\n])+?(?<!\s)\$(?!\d)|\\\[.+?\\\]|\\\(.+?\\\)|\{math\}`",
    re.DOTALL,
)
_LINK = re.compile(
    r"(?<![!\\])\[(?:[^\[\]\\]|\\.|!?\[[^\]]*\](?:\([^)]*\))?)*\]\(|(?<!!)\[\[|<https?:|<a\s[^>]*href|\{(?:ref|doc|numref|download)\}`"
)
_DIRECTIVE = re.compile(r"\{(?P<name>[\w:-]+)\}")
_CODE_CELLS = frozenset({"code-cell", "code-block", "code", "python", "cuda", "triton", "r", "julia", "ojs", "bash"})
_MARKUP = re.compile(
    r"\{\{[<%][^{}]*[>%]\}\}|\{%[^{}]*%\}|\{\{[^{}]*\}\}|</?[A-Za-z][^<>]*>|\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)"
    r"|\{[^{}\n]*=[^{}\n]*\}|\{[#.:][^{}\n]*\}|\{[\w:-]+\}|^[ \t>]*:[\w-]+:[^\n]*$|^[ \t>]*:{3,}[^\n]*$|\]\[[^\]\n]*\]"
    r"|^[ \t]*\[[^\]\n]+\]:[^\n]*$|!?\[\[[^\]|\n]*\||https?://[^\s)>]+|^[ \t>]*\[![\w-]+\][+-]?"
    r"|^[ \t]*\([\w:.-]+\)=[ \t]*$|\\(?=[^\w\s])|@[\w:-]+|\^[\w-]+$",
    re.MULTILINE,
)
_WORD = re.compile(r"[^\W_]+")
KINDS = ("words", "images", "code", "formulas", "links")
SHOWN = 12
"""Most texts and most words of a text that the report names."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a text holds."""

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
        """The words that did not come over."""
        return self.before.words - self.after.words


def counted(text: str) -> Counted:
    """Count what a text in any dialect of Markdown holds, below its front matter."""
    text = _COMMENT.sub("", text)
    fences, code, formulas, shown = list(FENCE.finditer(text)), 0, 0, list[str]()
    at = 0
    for fence in fences:
        name = _DIRECTIVE.match(fence["info"])
        is_code = not name or name["name"].split(" ")[0] in _CODE_CELLS
        code += is_code
        formulas += bool(name and name["name"] == "math")
        shown += [text[at : fence.start()], "" if is_code or (name and name["name"] == "math") else _inner(fence)]
        at = fence.end()
    prose = "".join([*shown, text[at:]])
    code += len(_LISTING.findall(text))
    plain = re.sub(r"(`+)(.+?)\1", r" \2 ", prose)
    formulas += len(_FORMULA.findall(re.sub(r"(?<!\})(`+)(.+?)\1", " ", prose, flags=re.DOTALL)))
    words = Counter(word.lower() for word in _WORD.findall(_MARKUP.sub(" ", _FORMULA.sub(" ", plain))))
    return Counted(words, len(_IMAGE.findall(text)), code, formulas, len(_LINK.findall(prose)))


def _inner(fence: re.Match[str]) -> str:
    """Return the text within a fence, and that of the fences in it."""
    title = _DIRECTIVE.sub("", fence["info"])
    return (
        f"\n{title}\n{FENCE.sub(lambda match: _inner(match) if match['info'].startswith('{') else '', fence['code'])}"
    )


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
    title = Counter(word.lower() for word in _WORD.findall(front.yaml or ""))
    return Counted(found.words + title, found.images, found.code, found.formulas, found.links)


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
