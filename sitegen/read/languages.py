"""Check language tags of BCP 47, such as `ko`, `pt-BR` and `zh-Hant`, also against the letters of a text, and suggest
one for a wrong word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sitegen.diagnostics import did_you_mean

_TAG = re.compile(
    r"([a-z]{2,3})(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z0-9]{5,8}|\d[a-z0-9]{3}))*(-x(-[a-z0-9]{1,8})+)?",
    re.IGNORECASE,
)
_TWO_LETTERS = (
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo "
    "es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka "
    "kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng "
    "nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su "
    "sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
"""Codes of ISO 639-1: a language that has one of them has no tag of three letters."""
_NAMES = {
    **{"arabic": "ar", "bengali": "bn", "chinese": "zh", "czech": "cs", "danish": "da", "dutch": "nl", "english": "en"},
    **{
        "finnish": "fi",
        "french": "fr",
        "german": "de",
        "greek": "el",
        "hebrew": "he",
        "hindi": "hi",
        "hungarian": "hu",
    },
    **{"indonesian": "id", "italian": "it", "japanese": "ja", "korean": "ko", "norwegian": "no", "persian": "fa"},
    **{"polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru", "spanish": "es", "swedish": "sv"},
    **{"thai": "th", "turkish": "tr", "ukrainian": "uk", "vietnamese": "vi", "deutsch": "de", "espanol": "es"},
    **{"francais": "fr", "hangul": "ko", "hanguk": "ko", "jp": "ja", "cn": "zh", "gb": "en-GB"},
}


@dataclass(frozen=True, slots=True)
class Mistaken:
    """A language whose code is also that of a country, and the language of that country, which has other letters."""

    language: str
    meant: str
    tag: str
    """The tag of the language that is meant."""
    letters: re.Pattern[str]
    """Pattern of one of its letters."""


_MISTAKEN = {
    "kr": Mistaken("Kanuri", "Korean", "ko", re.compile("[\uac00-\ud7a3]")),
    "tw": Mistaken("Twi", "Chinese", "zh-TW", re.compile("[\u3400-\u9fff]")),
}


def mistaken_language(tag: str, text: str) -> Mistaken | None:
    """Return what is mistaken when the tag is that of a country, and most letters beyond ASCII are of its language."""
    found = _MISTAKEN.get(tag.lower().partition("-")[0])
    letters = sum(one.isalpha() and not one.isascii() for one in text) if found else 0
    return found if found and 2 * len(found.letters.findall(text)) > letters else None


def is_language(tag: str) -> bool:
    """Tell whether a tag has the form of BCP 47 and begins with a known or a three-letter language code."""
    match = _TAG.fullmatch(tag)
    return match is not None and (len(match[1]) == 3 or match[1].lower() in _TWO_LETTERS.split())


def language_hint(word: str) -> str:
    """Return a hint for a word that is no tag."""
    name = word.lower()
    near = name if name in _NAMES else did_you_mean(name, _NAMES).partition("`")[2].partition("`")[0]
    return f"did you mean `{_NAMES[near]}`?" if near else "write a tag such as `ko` or `pt-BR`"
