"""Read content/site.yaml into a SiteConfig, and find the time zone of a site."""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from collections.abc import Mapping
from dataclasses import replace

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.site import Ref, SiteConfig
from sitegen.read.foreign_keys import KEYS_OF_JEKYLL
from sitegen.read.root import SITE_FILE
from sitegen.read.shape import Diagnostics, one_of, read_as, read_language
from sitegen.read.site_look import read_address_of_page, read_authors, read_licence, read_theme
from sitegen.read.site_targets import read_targets
from sitegen.read.yaml_nodes import Node, parse_yaml

MISNAMED = "content/site.yml"
REQUIRED = "required"
FEEDS = ("series", "tags", "worklog")
_BASE_URL = re.compile(r"https?://[^/\s?#\"'<>\\`{|}]+(/[^\s?#\"'<>\\`{|}]*)?")
_BRANCH = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/tree/[\w./-]+")
_MENU_LINK = re.compile(r"(?:https?|mailto):|(?![\x00-\x20])[^:]*(?:[/?#]|$)", re.IGNORECASE)
"""An address with one of these schemes, or one without a scheme: a colon only behind `/`, `?` or `#`."""
_GPU_ID = re.compile(r"[a-z0-9-]+")


def parse_config(text: str, path: str = SITE_FILE) -> tuple[SiteConfig, tuple[Diagnostic, ...]]:
    """Return the settings in the text of site.yaml, and its mistakes."""
    node, syntax = parse_yaml(text, path)
    diagnostics = list(syntax)
    convert = {
        "feeds": one_of(FEEDS, "feed"),
        "language": read_language,
        "timezone": _timezone,
        "repository": _repository,
        "redact": _redact,
        "targets": read_targets,
        "theme": read_theme,
        "authors": read_authors,
        "licence": read_licence,
        "edit_url": read_address_of_page,
        "report_url": read_address_of_page,
    }
    config = read_as(SiteConfig, node, diagnostics, noun="site.yaml key", convert=convert, foreign=KEYS_OF_JEKYLL)
    if node is not None:
        _check_base_url(node.get("base_url"), diagnostics)
        _check_gpus(node, diagnostics)
        diagnostics += [_wrong_link(entry.link) for entry in config.menu if not _MENU_LINK.match(entry.link.name)]
    return replace(config, base_url=config.base_url.rstrip("/") + "/"), tuple(diagnostics)


def missing_config(files: Mapping[str, str]) -> tuple[SiteConfig, tuple[Diagnostic, ...]]:
    """Return empty settings, and the diagnostic that there is no site.yaml."""
    hint = f"rename {MISNAMED}" if MISNAMED in files else "it needs `title:` and `base_url:`"
    return SiteConfig("", "/"), (Diagnostic("SG022", f"no {SITE_FILE}", Span(SITE_FILE), hint),)


def zone_of(config: SiteConfig) -> dt.tzinfo:
    """Return the site's time zone, which gives an author's times their offset."""
    return _zone(config.timezone) or dt.UTC


def _zone(name: str) -> dt.tzinfo | None:
    if name == "UTC":
        return dt.UTC  # needs no time zone database, which a minimal machine may lack
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _check_base_url(node: Node | None, diagnostics: Diagnostics) -> None:
    if node and node.text and not _BASE_URL.fullmatch(node.text):
        hint = "write it as `https://example.org/blog/`"
        diagnostics.append(Diagnostic("SG014", f"`{node.text}` is not an absolute address", node.span, hint))


def _wrong_link(link: Ref) -> Diagnostic:
    """Return the diagnostic for a link that a browser would run or show as a page, such as `javascript:` or `data:`."""
    hint = "write a page such as `/kernels/`, or an address with `https:`, `http:` or `mailto:`"
    return Diagnostic("SG014", f"`{link.name[:40]}` cannot be a link of the menu", link.span, hint)


def _timezone(node: Node, diagnostics: Diagnostics) -> str:
    """Return the name of a time zone; a wrong name becomes UTC, so that later stages get a zone that exists."""
    if _zone(node.text) is not None:
        return node.text
    hint = "write a name such as `Europe/Berlin`"
    diagnostics.append(Diagnostic("SG014", f"unknown time zone `{node.text}`", node.span, hint))
    return "UTC"


def _redact(node: Node, diagnostics: Diagnostics) -> str:
    if node.text != REQUIRED:
        diagnostics.append(Diagnostic("SG014", f"unknown value `{node.text}`", node.span, f"write `{REQUIRED}`"))
    return REQUIRED


def _repository(node: Node, diagnostics: Diagnostics) -> str:
    """Return the address of a branch on GitHub; empty for anything else."""
    if _BRANCH.fullmatch(node.text):
        return node.text
    hint = "write the branch that holds the built site: `https://github.com/owner/name/tree/gh-pages`"
    diagnostics.append(Diagnostic("SG014", f"`{node.text}` is no branch on GitHub", node.span, hint))
    return ""


def _check_gpus(node: Node, diagnostics: Diagnostics) -> None:
    listed, aliases = node.get("gpus"), node.get("gpu_aliases")
    ids = [*(listed.value if listed and isinstance(listed.value, tuple) else ())]
    ids += aliases.value.values() if aliases and isinstance(aliases.value, Mapping) else ()
    for gpu in ids:
        if gpu.text and not _GPU_ID.fullmatch(gpu.text):
            hint = "write the driver's product name in lower case, as `nvidia-h200`"
            diagnostics.append(Diagnostic("SG014", f"`{gpu.text}` is not a GPU's id", gpu.span, hint))
