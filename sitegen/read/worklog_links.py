"""Find the links of a worklog that are not written as Markdown reads them, with the text that mends each.

An author who pastes in a hurry swaps the two parts of a link (`[url](title)`), leaves a link half written (`[url](`),
pastes a bare URL, or pastes the tracker of a newsletter with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from sitegen.diagnostics import Diagnostic, Severity, Span
from sitegen.read.worklog_days import visible_lines, without_code

_URL = r"(?:https?://|www\.)[^\s<>\[\]]*[^\s<>\[\].,;:!?'\"]"
_BRACKETS = re.compile(
    r"(?<!\\)\[(?P<text>(?:[^\[\]]++|\[[^\[\]]*+\])*+)\]\((?P<target>[^\s()]*+(?:\([^\s()]*+\)[^\s()]*+)*+)?"
)
_BARE = re.compile(rf"(?<![\w(<\[/\"'=]){_URL}")
_ANY_URL = re.compile(_URL)
_IS_URL = re.compile(rf"\s*<?{_URL}/?>?\s*")
_ADDRESS = re.compile(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*:|//|/|#|\.{1,2}/|<|www\.|[^\s]+\.(?:md|html|pdf|png)\b)")
_TRACKER = re.compile(r"(?:utm_\w+|fbclid|gclid|mc_cid|mc_eid|igshid)=[^&#\s]*|source=(?:post_page|rss|email)[^&#\s]*")


@dataclass(frozen=True, slots=True)
class WrittenLink:
    """A link as an author wrote it, right or not."""

    url: str
    title: str
    """Empty when the address stands alone."""
    whole: str
    """All its characters in the line."""


def written_links(shown: str, line: str) -> Iterator[WrittenLink]:
    """Yield the external links of a line; `shown` is the line with spaces in place of its code.

    A swapped link counts as the author meant it, and half a link as its address.
    """
    rest, closings = list[str](), _closings(shown)
    at = 0
    for match in _BRACKETS.finditer(shown):
        closing = closings(match.end("text") + 2)
        end = closing + 1 if closing is not None else match.end()
        whole = line[match.start() : end]
        inside = line[match.start("text") : match.end("text")].strip()
        after = line[match.end("text") + 2 : end - 1] if closing is not None else ""
        address = (match["target"] or "").strip()
        if _IS_URL.fullmatch(address):
            yield WrittenLink(address, "" if _IS_URL.fullmatch(inside) else inside, whole)
        elif _IS_URL.fullmatch(inside):
            yield WrittenLink(inside, after.strip(), whole)
        else:
            continue
        rest += [shown[at : match.start()], " " * (end - max(at, match.start()))]
        at = max(at, end)
    for _, url in _urls(_ANY_URL, "".join([*rest, shown[at:]])):
        yield WrittenLink(url, "", url)


def link_mistakes(text: str, path: str) -> tuple[Diagnostic, ...]:
    """Return a warning for each swapped and each half link of a text: they show as text, or lead nowhere."""
    lines = text.split("\n")
    found = []
    for index, line in visible_lines(text):
        below = lines[index + 1] if index + 1 < len(lines) else ""
        found += [replace(one, span=replace(one.span, path=path, line=index + 1)) for one in _in_line(line, below)]
    return tuple(found)


def link_habits(text: str, path: str, titles: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Yield a warning for each URL without a title and each tracker; `titles` gives the best title of a URL."""
    lines = text.split("\n")
    for index, line in visible_lines(text):
        shown = without_code(line)
        continued = index > 0 and lines[index - 1].rstrip().endswith("](")
        for col, url in _urls(_BARE, "" if continued else _without_links(shown)):
            yield _untitled(url, titles, Span(path, index + 1, col, len(url)))
        for match in _BRACKETS.finditer(shown):
            if _IS_URL.fullmatch(match["text"]) and match["target"] and _IS_URL.fullmatch(match["target"]):
                yield _untitled(match["target"], titles, Span(path, index + 1, match.start() + 1, len(match[0]) + 1))
        for col, url in _urls(_ANY_URL, shown):
            if (clean := without_trackers(url)) != url:
                span, hint = Span(path, index + 1, col, len(url)), f"write `{clean}`"
                yield Diagnostic("SG050", "this link carries a tracker", span, hint, Severity.WARNING, clean)


def titles_of(text: str) -> dict[str, str]:
    """Return the longest title of each URL that has one, by the URL without its tracker."""
    titles: dict[str, str] = {}
    for _, line in visible_lines(text):
        for match in _BRACKETS.finditer(without_code(line)):
            url, title = without_trackers(match["target"] or ""), match["text"].strip()
            if _IS_URL.fullmatch(url) and title and not _IS_URL.fullmatch(title):
                titles[url] = max(titles.get(url, ""), title, key=len)
    return titles


def without_trackers(url: str) -> str:
    """Return a URL without the parameters that say where a reader came from; `?v=` and the like stay."""
    address, sign, query = url.partition("?")
    query, anchor_sign, anchor = query.partition("#")
    kept = [part for part in query.split("&") if not _TRACKER.fullmatch(part)]
    if not sign or len(kept) == query.count("&") + 1:
        return url
    return address + ("?" + "&".join(kept) if kept else "") + anchor_sign + anchor


def _in_line(line: str, below: str) -> Iterator[Diagnostic]:
    if "](" not in line:
        return
    shown = without_code(line)
    closings, is_half = _closings(shown), False
    for match in _BRACKETS.finditer(shown):
        begin = match.end("text") + 2
        closing = closings(begin)
        written = line[match.start("text") : match.end("text")]
        if closing is None:
            if not is_half and (not re.match(r"\s*\S+\)", below) or shown[begin:].strip()):
                is_half = True  # the warning is about all the rest of the line
                yield _half(match, line, written, shown[begin:])
        elif _IS_URL.fullmatch(written) and (title := shown[begin:closing].strip()) and not _is_address(title):
            whole = line[match.start() : closing + 1]
            title = whole[len(written) + 3 : -1].strip()
            right = f"[{title}]({written.strip()})" if title.count("[") == title.count("]") else None
            span = Span("", 1, match.start() + 1, len(whole))
            hint = f"write `{right}`" if right else "write the title in `[…]` and the address in `(…)`"
            yield Diagnostic("SG046", "the two parts of this link are swapped", span, hint, Severity.WARNING, right)


def _is_address(target: str) -> bool:
    """Tell whether the part in parentheses is an address, perhaps with a title in quotes after it."""
    return bool(_ADDRESS.match(target)) and not re.search(r"\s(?![\"'(])", target)


def _half(match: re.Match[str], line: str, written: str, rest: str) -> Diagnostic:
    """Return the warning for a link whose `(` is never closed on its line."""
    whole, target = line[match.start() :], rest.strip()
    right = None
    if _IS_URL.fullmatch(written) and not target:
        right = f"<{written.strip()}>"
    elif _IS_URL.fullmatch(target) and "(" not in target:
        right = f"{whole.rstrip()})"
    span = Span("", 1, match.start() + 1, len(whole.rstrip()))
    hint = f"write `{right}`" if right else "write the address, and close it with `)`"
    return Diagnostic("SG047", "this link is half written", span, hint, Severity.WARNING, right)


def _untitled(url: str, titles: Mapping[str, str], span: Span) -> Diagnostic:
    title = titles.get(without_trackers(url))
    hint = f"write `[{title}]({url})`, its title elsewhere in the worklog" if title else f"write `[title]({url})`"
    return Diagnostic("SG048", "this link has no title", span, hint, Severity.WARNING)


def _closings(line: str) -> Callable[[int], int | None]:
    """Return a function from the place behind a `(` of a line to the `)` that closes it.

    When they do not pair up, that is the last `)` of a line that ends with it.  One pass over the line pairs all.
    """
    pairs, opened = dict[int, int](), list[int]()
    for match in re.finditer(r"[()]", line):
        if match[0] == "(":
            opened.append(match.end())
        elif opened:
            pairs[opened.pop()] = match.start()
    last = line.rfind(")") if line.rstrip(" ;.,").endswith(")") else -1
    return lambda begin: pairs.get(begin, last if last >= begin else None)


def _urls(pattern: re.Pattern[str], line: str) -> Iterator[tuple[int, str]]:
    """Yield (column from 1, URL); a `)` that is not opened in the URL closes something around it."""
    for match in pattern.finditer(line):
        url = match[0]
        while url.endswith(")") and url.count("(") < url.count(")"):
            url = url[: url.rindex(")")]
        if (at := url.find(")")) >= 0 and "(" not in url[:at]:
            url = url[:at]
        yield match.start() + 1, url


def _without_links(line: str) -> str:
    """Return a line with spaces in place of links, so that columns stay; also of half and swapped ones."""
    return re.sub(
        r"\[(?:[^\[\]]++|\[[^\[\]]*+\])*+\]\([^\s)]*\)?|\[(?:https?://|www\.)[^\[\]]*+\](?=\()",
        lambda match: " " * len(match[0]),
        line,
    )
