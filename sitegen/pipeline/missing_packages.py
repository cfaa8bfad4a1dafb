"""Find the options of a site's configuration whose packages are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from sitegen.diagnostics import Diagnostic, Span
from sitegen.model.site import SiteConfig
from sitegen.read.root import SITE_FILE


def missing_packages(root: Path, config: SiteConfig) -> Iterator[Diagnostic]:
    """Yield a mistake for each option of the site that needs an extra of sitegen which is not installed."""
    if config.cards and not (find_spec("uharfbuzz") and find_spec("fontpkg_ibm_plex_sans")):
        yield _missing(root, "cards", "cards need HarfBuzz and a font, which are not installed")


def _missing(root: Path, extra: str, message: str) -> Diagnostic:
    from sitegen.read.distribution import install_command
    from sitegen.read.texts import read_text
    from sitegen.read.yaml_nodes import parse_yaml

    node = parse_yaml(read_text(root, SITE_FILE)[0] or "", SITE_FILE)[0]
    asked = node.get(extra) if node else None
    return Diagnostic("SG503", message, asked.span if asked else Span(SITE_FILE), f"`{install_command(extra)}`")
