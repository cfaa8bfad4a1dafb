"""Add numbers, or put lists together, for the filter `sum` of templates: values in, their sum out.

Jinja's own filter adds each list to a copy of the previous sum, so its time is quadratic.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jinja2 import Environment, pass_environment
from jinja2.filters import make_attrgetter, sync_do_sum


@pass_environment
def sum_of(
    environment: Environment, iterable: Iterable[Any], attribute: str | int | None = None, start: Any = 0
) -> Any:
    """Return the sum of values, or of an attribute of each; with a list or tuple as `start`, of lists or tuples."""
    if not isinstance(start, (list, tuple)):
        return sync_do_sum(environment, iterable, attribute, start)
    parts = iterable if attribute is None else map(make_attrgetter(environment, attribute), iterable)
    made = list(start)
    for part in parts:
        if not isinstance(part, type(start)):
            raise TypeError(f"`sum` cannot add {type(part).__name__} to {type(start).__name__}")
        made += part
    return made if isinstance(start, list) else tuple(made)
