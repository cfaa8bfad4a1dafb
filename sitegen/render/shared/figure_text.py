"""Write a figure of a record as text, with its unit and the digits that its interval supports."""

from __future__ import annotations

from sitegen.model.figure_table import Unit
from sitegen.render.shared import numbers
from sitegen.results.quantities import Quantity

MOST_DIGITS = 3
"""The most digits of a figure in a sentence: two runs of the same code differ in the fourth."""


def figure_text(quantity: Quantity) -> str:
    """Return a known figure with its unit, with the digits that its interval supports and at most three."""
    if quantity.unit is Unit.TEXT or quantity.value is None:
        return quantity.text
    if quantity.unit is Unit.SHARE and quantity.low == quantity.high:
        return numbers.with_unit(f"{quantity.value * 100:.{MOST_DIGITS}g}", "%")
    return numbers.figure(quantity.value, quantity.unit, min(_digits(quantity), MOST_DIGITS))


def _digits(quantity: Quantity) -> int:
    return numbers.digits_within(quantity.value or 0.0, quantity.low, quantity.high)
