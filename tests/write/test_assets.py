"""Assets get names that hold the hash of their content."""

from sitegen.diagnostics import render_diagnostic
from sitegen.write.assets import fingerprint


def test_name_changes_with_the_content_and_only_then() -> None:
    (old, _), (same, _), (new, _) = (fingerprint({"site.js": text}) for text in (b"a()", b"a()", b"b()"))
    assert old == same
    assert old.urls["site.js"] != new.urls["site.js"]
    assert old.files == {old.urls["site.js"]: b"a()"}
    assert old.urls["site.js"].startswith("assets/site.")
    assert len(old.urls["site.js"]) == len("assets/site.12345678.js")


def test_style_sheet_follows_its_font_to_the_new_name() -> None:
    css = b'@font-face { src: url("fonts/math.woff2?v=1#x") format("woff2") }'
    assets, diagnostics = fingerprint({"site.css": css, "fonts/math.woff2": b"font"})
    font = assets.urls["fonts/math.woff2"].removeprefix("assets/")
    assert assets.files[assets.urls["site.css"]].decode().count(f'url("{font}?v=1#x")') == 1
    assert diagnostics == ()


def test_style_sheet_changes_its_name_when_only_its_font_changed() -> None:
    css = b"src: url(math.woff2)"
    old, _ = fingerprint({"site.css": css, "math.woff2": b"1"})
    new, _ = fingerprint({"site.css": css, "math.woff2": b"2"})
    assert old.urls["site.css"] != new.urls["site.css"]


def test_style_sheet_in_a_folder_refers_upwards() -> None:
    assets, _ = fingerprint({"print/site.css": b"url('../logo.svg')", "logo.svg": b"<svg/>"})
    logo = assets.urls["logo.svg"].removeprefix("assets/")
    assert assets.files[assets.urls["print/site.css"]] == f"url('../{logo}')".encode()


def test_data_and_absolute_urls_stay_as_they_are() -> None:
    css = b"url(data:image/png;base64,AA==) url(#clip) url(https://example.org/a.png) url(/a.png)"
    assets, diagnostics = fingerprint({"site.css": css})
    assert list(assets.files.values()) == [css]
    assert diagnostics == ()


def test_unknown_asset_in_a_style_sheet_is_a_mistake_with_its_place() -> None:
    css = ".hero {\n  background: url(logo.sgv);\n}\n"
    _, diagnostics = fingerprint({"site.css": css.encode(), "logo.svg": b"<svg/>"})
    assert [render_diagnostic(d, css) for d in diagnostics] == [
        "error[SG501]: the style sheet refers to `logo.sgv`, which is no asset\n"
        "  templates/assets/site.css:2:19\n"
        "    2 |   background: url(logo.sgv);\n"
        "      |                   ^^^^^^^^ did you mean `logo.svg`?"
    ]
