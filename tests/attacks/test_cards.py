"""Card templates of a stranger's site: they draw what is in them, open no file, and end."""

from __future__ import annotations

from typing import Any

import pytest

Site = Any
SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="1200" height="630">'
RED = "#b83400"
DEEP = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 30))
REFUSED = {
    "a picture by its path": '<image width="1200" height="630" href="{victim}/secret.png"/>',
    "a picture by an address": '<image width="1200" height="630" href="file://{victim}/secret.png"/>',
    "a picture beside the site": '<image width="1200" height="630" href="../../victim/secret.png"/>',
    "a picture by an old attribute": '<image width="1200" height="630" xlink:href="{victim}/secret.png"/>',
    "a picture of the network": '<image width="1200" height="630" href="http://127.0.0.1:9/secret.png"/>',
    "a drawing of another file": '<use href="{victim}/secret.svg#a"/>',
    "a style sheet": '<style>@import url("file://{victim}/secret.css")</style>',
    "a font": '<style>@font-face {{ font-family: x; src: url("file://{victim}/secret") }}</style>',
    "a script": "<script>f()</script>",
    "a page": '<foreignObject><iframe src="{victim}/secret"/></foreignObject>',
    "a picture that is none": '<image width="9" height="9" href="data:image/png;base64,QUFB"/>',
    "a line without end": '<text font-size="1e9">a</text>',
    "shapes without end": '{{% for n in range(20000) %}}<polygon points="0,0 1200,0 1200,{{{{ n }}}}"/>{{% endfor %}}',
}
DOCTYPES = {
    "an entity that is a file": '<!DOCTYPE svg [<!ENTITY e SYSTEM "file://{victim}/secret">]>',
    "an entity of entities": f'<!DOCTYPE svg [<!ENTITY e0 "aaaaaaaaaa">{DEEP}<!ENTITY e "&e29;">]>',
}
TEMPLATES = {name: f"{SVG}{part}</svg>" for name, part in REFUSED.items()} | {
    name: f'{head}{SVG}<text font-size="9">&e;</text></svg>' for name, head in DOCTYPES.items()
}


@pytest.fixture(autouse=True)
def with_cards(site: Site) -> None:
    pytest.importorskip("uharfbuzz")
    pillow = pytest.importorskip("PIL.Image")
    site.write("content/site.yaml", "title: Notes\nbase_url: https://example.org/\ncards: true\n")
    pillow.new("RGB", (1200, 630), RED).save(site.victim / "secret.png")
    site.before = site.files(site.victim)


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
def test_card_template_that_reaches_out_is_refused(site: Site, template: str) -> None:
    site.write("templates/card.svg", template.format(victim=site.victim))
    done = site.run("build")
    assert done.refused, done.said
    assert "error[SG502]" in done.said and "templates/card.svg:1:1" in done.said
    assert site.published == b"" and site.untouched


def test_card_template_of_a_site_is_drawn(site: Site) -> None:
    site.write("templates/card.svg", f'{SVG}<rect width="1200" height="630" fill="{RED}"/></svg>')
    done = site.run("build")
    assert done.status == 0, done.said
    pictures = [data for path, data in site.files(site.root / "public").items() if path.endswith("social-card.png")]
    assert pictures and all(bytes.fromhex(RED[1:]) in data for data in pictures)
