"""Every token has enough contrast with every background that a line of code may have, in light and in dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CSS = (Path(__file__).parents[2] / "templates" / "assets" / "site.css").read_text(encoding="utf-8")
COLOURS = {
    name: (light, dark) for name, light, dark in re.findall(r"--([\w-]+):\s*light-dark\((#\w{6}), (#\w{6})\)", CSS)
}
CODE = CSS.partition("@layer code {")[2].partition("\n}")[0]


def used(selector: str, property: str) -> set[str]:
    """Return the colours that the rules of code give to the elements that a pattern selects."""
    rules = re.findall(rf"(?:^|[\s,}}])(?:{selector})[^{{}}]*\{{([^}}]*)\}}", CODE)
    return {name for rule in rules for name in re.findall(rf"(?:^|[\s;]){property}:[^;]*var\(--([\w-]+)\)", rule)}


GROUNDS = used(r"\.code|[\w:().,]*\.ln", "background")
INKS = {"ink"} | used(r"\.(?:kt|[ksmfc])(?=\s*\{)|[^{}]*\.ln\S*", "color")


def luminance(colour: str) -> float:
    """Return the relative luminance that WCAG 2.2 defines."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_grounds_and_inks_are_those_of_the_style_sheet() -> None:
    assert {"sheet", "mark", "ins", "del"} == GROUNDS
    assert {"t-key", "t-type", "t-str", "t-num", "t-fn", "t-com", "soft", "bad"} <= INKS


def test_black_on_white_is_twenty_one() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ground", sorted(GROUNDS))
@pytest.mark.parametrize("ink", sorted(INKS))
def test_token_can_be_read(ink: str, ground: str, scheme: str) -> None:
    at = ("light", "dark").index(scheme)
    assert contrast(COLOURS[ink][at], COLOURS[ground][at]) >= 4.5
