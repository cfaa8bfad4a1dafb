"""Read the kernels of a site, and nothing else, for `sitegen try` and `sitegen bundle --try`.

They must start at once, and a mistake in a text must not keep an author from trying a kernel.
"""

from __future__ import annotations

from pathlib import Path

from sitegen.diagnostics import Diagnostic, in_reading_order
from sitegen.model.site import Site
from sitegen.read.load import parse_site, text_files
from sitegen.read.root import SITE_FILE
from sitegen.read.texts import read_text


def load_kernels(root: Path) -> tuple[Site, tuple[Diagnostic, ...]]:
    """Return the site without its texts, and all mistakes in its configuration and its kernels."""
    paths = [path for path in text_files(root) if path == SITE_FILE or path.startswith("kernels/")]
    read = {path: read_text(root, path) for path in paths}
    site, mistakes = parse_site({path: text for path, (text, _) in read.items() if text is not None})
    return site, in_reading_order((*(mistake for _, unreadable in read.values() for mistake in unreadable), *mistakes))
