"""List the parts of the look that `theme:` of site.yaml may set: colours, fonts and widths of the style sheet."""

from __future__ import annotations

import re
from collections.abc import Mapping

COLOURS: Mapping[str, tuple[str, str]] = {
    "paper": ("#fbfbf9", "#131517"),
    "sheet": ("#f2f3f0", "#1a1d20"),
    "ink": ("#16191c", "#e0e2e1"),
    "soft": ("#545b61", "#a3aaae"),
    "line": ("#d9dcd7", "#2e3337"),
    "edge": ("#848b88", "#6d757a"),
    "hot": ("#b83400", "#ff8a55"),
    "stale": ("#6d5200", "#dfbb58"),
    "bad": ("#a3003c", "#ff86a4"),
}
"""The colours of the default theme on light and on dark pages, by name."""
FONTS = ("text", "ui", "display", "mono")
WIDTHS = ("measure", "margin", "rail")
WRITTEN = ("ink", "soft", "hot", "stale", "bad")
"""The colours in which text is written, which need a contrast of 4.5 with the page and with code."""
BACKGROUNDS = ("paper", "sheet")
LEAST_CONTRAST = 4.5
"""WCAG 2.2, success criterion 1.4.3."""
HEX = re.compile(r"#[0-9a-fA-F]{6}")
FONT = re.compile(r"[\w \"'.,-]+")
WIDTH = re.compile(r"\d{1,3}(\.\d+)?(rem|em|ch|px)")


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours `#rrggbb`, from 1 to 21, as WCAG 2.2 defines it."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def style_sheet(theme: Mapping[str, tuple[str, ...]]) -> str:
    """Return the CSS that sets the parts of a theme; empty when it sets none."""
    lines = [f"--{name}: {_css(values)};" for name, values in sorted(theme.items())]
    return f"\n@layer tokens {{ :root {{ {' '.join(lines)} }} }}\n" if lines else ""


def _css(values: tuple[str, ...]) -> str:
    return values[0] if len(values) == 1 else f"light-dark({values[0]}, {values[1]})"


def _luminance(colour: str) -> float:
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
