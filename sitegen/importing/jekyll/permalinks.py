"""Compute the old address of a document by Jekyll's rules, from a template and the document's values.

After https://jekyllrb.com/docs/permalinks/ and lib/jekyll/{url,utils,document,page,collection}.rb, drops/url_drop.rb of
jekyll/jekyll @ 202df57.  Addresses here are not percent-encoded: `/2024/größe.html`.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Mapping, Sequence

STYLES = {
    "date": "/:categories/:year/:month/:day/:title:output_ext",
    "pretty": "/:categories/:year/:month/:day/:title/",
    "ordinal": "/:categories/:year/:y_day/:title:output_ext",
    "weekdate": "/:categories/:year/W:week/:short_day/:title:output_ext",
    "none": "/:categories/:title:output_ext",
}
_FILES = frozenset({"date", "ordinal", "none"})
"""Styles in which the address of a page has a suffix; Jekyll has no such rule for `weekdate`."""
_PLACEHOLDER = re.compile(r":([a-z_]+)")
_PRETTY = frozenset("._~!$&'()+,;=@")


class UnknownPlaceholder(ValueError):
    """A template names a value that the document does not have; Jekyll stops there, too."""


def with_ending(template: str, style: str) -> str:
    """Return the template of a page or of a collection's document with the ending of the site's style."""
    if style == "pretty" or style.endswith("/"):
        return f"{template}/"
    return f"{template}:output_ext" if style in _FILES or style.endswith(":output_ext") else template


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """Return the address that a template and its values give.  Raises UnknownPlaceholder."""

    def value(match: re.Match[str]) -> str:
        for name in (match[1], match[1].rstrip("_")):
            if name in values:
                return values[name] + match[1][len(name) :]
        raise UnknownPlaceholder(match[1])

    address = "/" + _PLACEHOLDER.sub(value, template)
    return re.sub(r"/{2,}", "/", address.replace("..", "/").replace("./", ""))


def values_of_date(moment: dt.datetime) -> dict[str, str]:
    """Return the values of a moment in the timezone of the Jekyll site, with English names of months and days."""
    month, day = _MONTHS[moment.month - 1], _DAYS[moment.weekday()]
    week_year, week, week_day = moment.isocalendar()
    return {
        "year": f"{moment.year:04}",
        "short_year": f"{moment.year % 100:02}",
        "month": f"{moment.month:02}",
        "i_month": str(moment.month),
        "short_month": month[:3],
        "long_month": month,
        "day": f"{moment.day:02}",
        "i_day": str(moment.day),
        "y_day": f"{moment.timetuple().tm_yday:03}",
        "w_year": f"{week_year:04}",
        "week": f"{week:02}",
        "w_day": str(week_day),
        "short_day": day[:3],
        "long_day": day,
        "hour": f"{moment.hour:02}",
        "minute": f"{moment.minute:02}",
        "second": f"{moment.second:02}",
    }


def values_of_document(
    name: str, slug: str, path: str, collection: str, categories: Sequence[str], output_ext: str = ".html"
) -> dict[str, str]:
    """Return the values of a document.

    `name` is the file's name without its suffix, `slug` the same without its date, and `path` the path without its
    suffix within the collection's folder.
    """
    return {
        "collection": collection,
        "path": path.rstrip("."),
        "name": slugify(name),
        "title": slugify(slug, pretty=True),
        "slug": slugify(slug),
        "categories": "/".join(dict.fromkeys(category.lower() for category in categories)),
        "slugified_categories": "/".join(dict.fromkeys(map(slugify, categories))),
        "output_ext": output_ext,
    }


def slugify(text: str, *, pretty: bool = False) -> str:
    """Return letters, marks and digits of any script, with hyphens for the rest; `pretty` keeps case and some signs."""
    kept = "".join(char if _stays(char, pretty) else "\0" for char in text)
    slug = re.sub(r"\0+", "-", kept).removeprefix("-").removesuffix("-")
    return slug if pretty else slug.lower()


def _stays(char: str, pretty: bool) -> bool:
    kind = unicodedata.category(char)
    return kind[0] in "LM" or kind == "Nd" or (pretty and char in _PRETTY)


_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
