"""Write the reference pages of this documentation from the registries of the program, and copy the kernel whose
records the manual shows.

`python docs/generate` writes them; with `--check` it exits 1 when one of the pages is not up to date.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import commands_page
import diagnostics_page
import figures_page
import files_page
import markup_page
import templates_page

DOCS = Path(__file__).parents[1]
POSTS = DOCS / "content" / "posts"
SHOWN = Path("kernels") / "sum"
PAGES = (files_page, markup_page, figures_page, commands_page, templates_page, diagnostics_page)

if __name__ == "__main__":
    pages = {POSTS / one.NAME: one.page() for one in PAGES}
    if "--check" in sys.argv[1:]:
        old = [path.name for path, text in pages.items() if not path.exists() or path.read_text("utf-8") != text]
        sys.exit(f"not up to date: {', '.join(old)}; run `make docs`" if old else 0)
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8")
    shutil.copytree(DOCS.parent / SHOWN, DOCS / SHOWN, dirs_exist_ok=True)
