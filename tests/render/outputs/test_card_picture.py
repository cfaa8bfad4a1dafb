"""The picture of a card: each shape is where the drawing says, whole and sharp, and what cannot be drawn is refused."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from io import BytesIO

import pytest
from PIL import Image, ImageChops

from sitegen.render.outputs.card_letters import Letters, letters
from sitegen.render.outputs.card_picture import draw_png
from sitegen.render.outputs.card_shapes import DrawingError

PAPER, INK = (251, 251, 249), (22, 25, 28)
GROUND = '<rect width="1200" height="630" fill="#fbfbf9"/>'
Box = tuple[int, int, int, int]


def drawing(*parts: str) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630">{"".join(parts)}</svg>'


def drawn(*parts: str) -> Image.Image:
    return Image.open(BytesIO(draw_png(drawing(GROUND, *parts)))).convert("RGB")


def inked(picture: Image.Image) -> Box:
    """Return the box around all that is not paper."""
    box = ImageChops.difference(picture, Image.new("RGB", picture.size, PAPER)).getbbox()
    assert box is not None, "nothing is drawn"
    return box


def text(words: str, x: float = 100, anchor: str = "start", size: float = 60, weight: int = 400) -> str:
    return (
        f'<text x="{x}" y="300" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="#16191c">'
        f"{words}</text>"
    )


def image(width: int, height: int, href: str) -> str:
    return f'<image x="100" y="50" width="{width}" height="{height}" href="{href}"/>'


def data(picture: Image.Image, form: str = "png") -> str:
    into = BytesIO()
    picture.save(into, form)
    return f"data:image/{form};base64,{base64.b64encode(into.getvalue()).decode()}"


def line(words: str, size: float = 100, weight: float = 400, room: float = 9999) -> Letters:
    found = letters(words, size, weight, room)
    assert found is not None
    return found


def test_a_card_is_a_png_of_the_size_that_is_promised() -> None:
    picture = Image.open(BytesIO(draw_png(drawing())))
    assert (picture.format, picture.mode, picture.size) == ("PNG", "P", (1200, 630))
    assert picture.convert("RGB").getcolors() == [(1200 * 630, (255, 255, 255))]


def test_shapes_are_where_the_drawing_says_and_later_ones_are_above() -> None:
    picture = drawn(
        '<rect x="10" y="20" width="30" height="40" fill="#b83400"/>',
        '<rect x="20" y="20" width="1" height="1" fill="#16191c"/>',
    )
    assert inked(picture) == (10, 20, 40, 60)
    assert picture.getpixel((10, 20)) == picture.getpixel((39, 59)) == (184, 52, 0)
    assert picture.getpixel((20, 20)) == INK


def test_shapes_that_lie_outside_of_the_card_leave_it_whole() -> None:
    outside = (
        '<rect x="-50" y="-50" width="60" height="60" fill="#16191c"/>',
        '<rect x="5" y="5" width="-9" height="9" fill="#16191c"/>',
        '<polygon points="-90,300 -90,330 -10,315" fill="#16191c"/>',
        '<polygon points="1900,300 1900,330 1990,315" fill="#16191c"/>',
        text("left of it", -2000, "end"),
        text("right of it", 2000),
    )
    assert inked(drawn(*outside)) == (0, 0, 10, 10)


def test_a_polygon_has_smooth_edges() -> None:
    picture = drawn('<polygon points="100,100 200,100 100,200" fill="#16191c"/>')
    left, top, right, bottom = inked(picture)
    assert (left, top) == (100, 100) and {right, bottom} <= {200, 201}
    assert picture.getpixel((110, 110)) == INK
    assert picture.getpixel((150, 150)) not in (PAPER, INK)


@pytest.mark.parametrize("weight", [400, 600])
def test_letters_are_sharp_and_their_edges_smooth(weight: int) -> None:
    colours = drawn(text("Warp", weight=weight)).getcolors(256)
    assert colours is not None
    counts = {colour: count for count, colour in colours}
    full, between = counts[INK], sum(counts.values()) - counts[INK] - counts[PAPER]
    assert 2 < len(counts) <= 17
    assert full > 1.5 * between  # most pixels of a letter are of its own colour


def test_a_heavier_weight_has_more_ink() -> None:
    light, heavy = (sum(line("Warp", weight=weight).cover.histogram()[128:]) for weight in (400, 600))
    assert heavy > 1.2 * light


@pytest.mark.parametrize(("anchor", "left", "right"), [("start", 600, 0), ("middle", 0, 0), ("end", 0, 600)])
def test_a_line_starts_or_ends_where_its_anchor_says(anchor: str, left: int, right: int) -> None:
    box = inked(drawn(text("HHH", 600, anchor)))
    middle = (box[0] + box[2]) / 2
    assert abs((box[0] - left) if left else (box[2] - right) if right else (middle - 600)) <= 6
    assert box[3] in (300, 301)  # the base line


def test_letters_are_set_closer_where_the_font_says_so() -> None:
    assert line("AV").width < line("A").width + line("V").width - 2


@pytest.mark.parametrize(
    ("x", "anchor"), [(72, "start"), (600, "middle"), (1130, "end"), (320, "end"), (1150, "start")]
)
def test_no_line_is_cut_at_an_edge(x: int, anchor: str) -> None:
    short, long = (inked(drawn(text(word, x, anchor))) for word in ("W", "unbreakable" * 12 + "!"))
    assert long[0] >= 20 and long[2] <= 1180
    assert long[3] - long[1] < short[3] - short[1]  # its letters are smaller, and all there


def test_a_line_that_has_room_keeps_its_size() -> None:
    assert line("Warp", room=300).cover.size == line("Warp").cover.size


@pytest.mark.parametrize("words", ["", " ", "\u00a0", "\u200b", "&#9;"])
def test_a_line_without_ink_draws_nothing(words: str) -> None:
    with pytest.raises(AssertionError, match="nothing is drawn"):
        inked(drawn(text(words)))


@pytest.mark.parametrize("words", ["\x07bell", "\ufffe", "🚀 x", "가나다", "a&#768;", "עברית", "e\u0301"])
def test_no_letter_stops_a_card(words: str) -> None:
    draw_png(drawing(text(words)))


def test_letters_of_korean_come_from_the_font_that_has_them() -> None:
    pytest.importorskip("manimgx_fonts_cjk")
    boxes = [line(letter).cover.tobytes() for letter in "가나다"]
    assert len(set(boxes)) == 3


def test_spaces_are_as_in_a_browser() -> None:
    assert inked(drawn(text("\n  a  \t b "))) == inked(drawn(text("a b")))
    assert inked(drawn(text("a\u00a0\u00a0b"))) != inked(drawn(text("a b")))


def test_an_image_is_drawn_in_its_box() -> None:
    picture = drawn(image(40, 20, data(Image.new("RGB", (7, 7), "#b83400"))))
    assert inked(picture) == (100, 50, 140, 70)
    assert picture.getpixel((120, 60)) == (184, 52, 0)


def test_paper_shows_through_an_image_where_it_is_clear() -> None:
    logo = Image.new("RGBA", (40, 20))
    logo.paste("#b83400", (0, 0, 20, 20))
    picture = drawn(image(40, 20, data(logo)))
    assert picture.getpixel((105, 60)) == (184, 52, 0)
    assert picture.getpixel((135, 60)) == PAPER


def test_a_photograph_keeps_its_colours() -> None:
    gradient = Image.merge("RGB", [Image.linear_gradient("L"), Image.radial_gradient("L"), Image.new("L", (256, 256))])
    picture = drawn(image(256, 256, data(gradient, "jpeg")), text("Warp"))
    for place in ((10, 10), (128, 128), (250, 20)):
        given, shown = gradient.getpixel(place), picture.getpixel((100 + place[0], 50 + place[1]))
        assert isinstance(given, tuple) and isinstance(shown, tuple)
        assert max(abs(a - b) for a, b in zip(given, shown, strict=True)) < 24


PROGRAM = """
import sys
from sitegen.render.outputs.card_picture import draw_png
sys.stdout.buffer.write(draw_png(sys.argv[1]))
"""
LARGE = data(Image.new("1", (9000, 4000)))
REFUSED = {
    "<circle r='9'/>": "a card has no `circle`, only rect, polygon, text, image",
    "<g><rect width='1' height='1'/></g>": "no `g`",
    "<text font-size='9'>a <tspan>b</tspan></text>": "`text` of a card has no elements in it",
    "<text font-size='9' letter-spacing='1'>a</text>": "`text` of a card has no `letter-spacing`, only x, y, font-size",
    "<text>a</text>": "`text` of a card needs `font-size`",
    "<text font-size='2em'>a</text>": "`font-size` is a number of pixels, not `2em`",
    "<text font-size='nan'>a</text>": "`font-size` is at most 2000, not `nan`",
    "<text font-size='9999'>a</text>": "`font-size` is at most 2000",
    "<text font-size='9' text-anchor='left'>a</text>": "`text-anchor` is one of start, middle, end, not `left`",
    "<text font-size='9' fill='currentColor'>a</text>": "`fill` is a colour such as #16191c, not `currentColor`",
    "<rect height='1'/>": "`rect` of a card needs `width`",
    "<polygon points='1,2 3,4'/>": "`points` are at least three pairs",
    "<polygon points='1,2 3,4 5,6 7'/>": "`points` are at least three pairs",
    "<rect width='1' height='1'/>" * 1001: "a card has at most 1000 elements, and this one has 1002",
    "".join(f"<rect width='1' height='1' fill='#{n:06x}'/>" for n in range(256)): "at most 256 colours",
    image(9, 9, "data:image/png;base64,AAAA"): "an image of a card cannot be read",
    image(9, 9, "data:image/png;base64,A"): "the base64 of an image cannot be read",
    image(9, 9, "data:image/png;base64,iVBORw0KGgo…"): "the base64 of an image cannot be read",
    image(9, 9, "data:image/gif;base64,AAAA"): "`href` of an image is data:image/png;base64,… or data:image/jpeg",
    image(2000, 9, data(Image.new("1", (9, 9)))): "an image of a card is at most 1200×630 pixels large",
    image(9, 9, LARGE): "an image file of a card has at most 15,120,000 pixels",
    "<polygon points='0,0 1200,0 1200,630 0,630'/>" * 30: "of a card have more than 15,120,000 pixels in all",
    "<text y='600' font-size='1999'>W</text>" * 30: "of a card have more than 15,120,000 pixels in all",
    image(1200, 630, data(Image.new("1", (2000, 2000)))) * 9: "of a card have more than 15,120,000 pixels in all",
    "<text>": "a card is XML, and this is none: mismatched tag",
}


@pytest.mark.parametrize(("part", "said"), REFUSED.items(), ids=REFUSED.values())
def test_what_a_card_cannot_show_is_named(part: str, said: str) -> None:
    with pytest.raises(DrawingError) as raised:
        draw_png(drawing(GROUND, part))
    assert said in str(raised.value)


def test_a_drawing_is_svg() -> None:
    with pytest.raises(DrawingError, match="the outer element of a card is `svg`, with xmlns="):
        draw_png("<svg/>")


def test_every_process_draws_the_same_bytes() -> None:
    parts = (GROUND, text("Warp &amp; Weft: AVX"), image(40, 20, data(Image.linear_gradient("L"))))
    command = [sys.executable, "-c", PROGRAM, drawing(*parts)]
    made = {
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    }
    assert made == {draw_png(drawing(*parts))}
