"""Find the language of each text of a Hugo site: from its folder (`content/fr/a.md`) or its name (`a.fr.md`)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sitegen.importing.folders.source import Folder
from sitegen.read.languages import is_language

SUFFIXES = ("toml", "yaml", "yml", "json")
_CONFIGS = tuple(
    f"{folder}{name}.{suffix}"
    for folder in ("", "config/_default/")
    for name in ("hugo", "config")
    for suffix in SUFFIXES
)
_OF_LANGUAGE = re.compile(r"config/_default/languages\.(?P<key>[\w-]+)\.(?:toml|ya?ml|json)")
_SUFFIX = re.compile(r"(?P<stem>.+)\.(?P<key>[A-Za-z]{2,3}(?:-[A-Za-z]{2,4})?)(?P<end>\.\w+)")


@dataclass(frozen=True, slots=True)
class Located:
    """A text as Hugo names it: without its content folder and without its language."""

    inner: str
    """The path below the content folder: `posts/a.md` for `content/fr/posts/a.md` and for `content/posts/a.fr.md`."""
    key: str
    """The name of the language in the settings."""
    root: str
    """The content folder, with a slash at its end."""


@dataclass(frozen=True, slots=True)
class Languages:
    """The languages of a site."""

    default: str
    tags: Mapping[str, str]
    """The language tag by the name of the language in the settings."""
    roots: tuple[tuple[str, str], ...]
    """Each content folder with a slash at its end and the name of its language, the longest first."""
    prefixed: bool
    """Whether the addresses of the default language begin with its name, too."""

    def located(self, path: str) -> Located | None:
        """Return what Hugo makes of a path; None for a file outside the content folders of known languages."""
        root = next((root for root in self.roots if path.startswith(root[0])), None)
        if root is None:
            return None
        inner, key = path.removeprefix(root[0]), root[1]
        if key not in self.tags:
            return None
        suffix = _SUFFIX.fullmatch(inner)
        if suffix and suffix["key"].lower() in self.tags:
            return Located(suffix["stem"] + suffix["end"], suffix["key"].lower(), root[0])
        return Located(inner, key, root[0])

    def tag(self, key: str) -> str:
        """Return the tag of a language that is not that of the site; empty for that of the site."""
        return "" if key == self.default else self.tags[key]

    def prefix(self, key: str) -> str:
        """Return the beginning of the addresses of a language, such as `/fr`."""
        return f"/{key}" if key != self.default or self.prefixed else ""

    @property
    def folders(self) -> tuple[str, ...]:
        """The content folders."""
        return tuple(dict.fromkeys(folder for folder, _ in self.roots))


def hugo_settings(folder: Folder) -> Mapping[str, Any]:
    """Return the settings of the site with keys in small letters, and with its languages from files of their own."""
    settings = _small(folder.settings(*_CONFIGS))
    languages = dict(_mapping(settings.get("languages")))
    languages |= folder.settings(*(f"config/_default/languages.{suffix}" for suffix in SUFFIXES))
    for path in folder.files:
        if match := _OF_LANGUAGE.fullmatch(path):
            languages[match["key"]] = folder.settings(path)
    kept = {_key(key): _small(_mapping(value)) for key, value in languages.items()}
    return {**settings, "languages": {key: value for key, value in kept.items() if value.get("disabled") is not True}}


def languages_of(settings: Mapping[str, Any]) -> Languages:
    """Return the languages that the settings name; a language without a tag that is known here is left out."""
    default = str(settings.get("defaultcontentlanguage") or "en").lower()
    named = _mapping(settings.get("languages"))
    tags = {key: tag for key, value in named.items() if (tag := _tag(key, value))}
    tags[default] = _tag(default, _mapping(named.get(default))) or "en"
    own = str(settings.get("contentdir") or "content").strip("/")
    roots = dict(_mounted(settings, default))
    roots |= {str(value["contentdir"]).strip("/"): key for key, value in named.items() if value.get("contentdir")}
    if default not in roots.values():
        roots[own] = default
    longest = sorted(((f"{root}/", key) for root, key in roots.items()), key=lambda one: -len(one[0]))
    return Languages(default, tags, tuple(longest), settings.get("defaultcontentlanguageinsubdir") is True)


def _key(written: object) -> str:
    """Return the name of a language; YAML reads `no`, Norwegian, as False."""
    return "no" if written is False else str(written).lower()


def _tag(key: str, value: Mapping[str, Any]) -> str:
    """Return the tag of a language: its name, else its locale."""
    candidates = (key, str(value.get("languagecode") or ""), str(value.get("locale") or ""))
    return next((one for one in candidates if one and is_language(one)), "")


def _mounted(settings: Mapping[str, Any], default: str) -> Iterator[tuple[str, str]]:
    """Yield each folder that the settings mount as content, and its language."""
    mounts = _mapping(settings.get("module")).get("mounts")
    for mount in mounts if isinstance(mounts, list) else []:
        one = _small(_mapping(mount))
        target, source = str(one.get("target") or "").strip("/"), str(one.get("source") or "").strip("/")
        if target == "content" and source and posixpath.normpath(source) == source:
            yield source, str(one.get("lang") or default).lower()


def _small(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    return {str(key).lower(): value for key, value in settings.items()}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
