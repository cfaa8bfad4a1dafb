"""The theme: what is shipped of the default one."""

from __future__ import annotations

import re
from pathlib import Path

from sitegen.render.shared.theme import load_theme


def test_scripts_of_the_default_theme_are_shipped_without_comment_lines_and_those_of_a_site_as_they_are(
    tmp_path: Path,
) -> None:
    own = b"const text = `\n// no comment\n`;\n"
    (tmp_path / "templates/assets").mkdir(parents=True)
    (tmp_path / "templates/assets/series.js").write_bytes(own)
    assets = load_theme(tmp_path).assets
    assert assets["series.js"] == own
    assert b"addEventListener" in assets["site.js"]
    assert not re.search(rb"^\s*//", assets["site.js"], re.MULTILINE)
