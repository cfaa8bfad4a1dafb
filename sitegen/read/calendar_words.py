"""Turn names of months and weekdays in several languages into numbers.

A name may be shortened to three letters or more, as long as the short form means the same month in every language.
Accents and capitals do not matter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache

_MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
)
"""Months of English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish and Polish."""
_WEEKDAYS = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "segunda terça quarta quinta sexta sábado domingo",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "måndag tisdag onsdag torsdag fredag lördag söndag",
    "poniedziałek wtorek środa czwartek piątek sobota niedziela",
)
_SHORTEST = 3


def month_number(word: str) -> int | None:
    """Return the month, from 1, that a word names; None for any other word."""
    return _months().get(_plain(word))


def is_weekday(word: str) -> bool:
    """Tell whether a word names a day of the week, also as `Tue` or, in German, `Di`."""
    return _plain(word) in _weekdays()


@cache
def _months() -> Mapping[str, int]:
    return _by_prefix(_MONTHS, _SHORTEST)


@cache
def _weekdays() -> Mapping[str, int]:
    german = dict.fromkeys(("mo", "di", "mi", "do", "fr", "sa", "so"), 0)
    return _by_prefix(_WEEKDAYS, _SHORTEST, ambiguous=True) | german


def _by_prefix(languages: Iterable[str], shortest: int, *, ambiguous: bool = False) -> dict[str, int]:
    """Map each name, and each beginning of a name that means one number, to the number."""
    meanings: dict[str, set[int]] = {}
    names: dict[str, int] = {}
    for language in languages:
        for number, name in enumerate(map(_plain, language.split()), 1):
            names[name] = number
            for end in range(shortest, len(name)):
                meanings.setdefault(name[:end], set()).add(number)
    return {word: min(some) for word, some in meanings.items() if ambiguous or len(some) == 1} | names


def _plain(word: str) -> str:
    letters = unicodedata.normalize("NFKD", word.strip(" .").casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
