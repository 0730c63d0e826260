"""The strip from tokens to the next one, read back from its SVG."""

from xml.etree import ElementTree

import pytest

from attnviz.base.words import speaking
from attnviz.canvas.model_strip import StripBlock, StripPart, StripWay, strip_picture
from attnviz.figures.picture import Picture, to_svg
from attnviz.figures.theme import PRIMARY

SVG = "{http://www.w3.org/2000/svg}"
INSIDE = StripBlock(
    StripPart("Attention", ("q_proj 768 × 768", "k_proj 768 × 768"), 0.02, "2,362,368 parameters, 2%"),
    StripPart("MLP", ("up 768 × 3,072",), 0.04, "4,722,432 parameters, 4%"),
    StripPart("Norms", (), 0.0, "3,072 parameters, 0%"),
)
WAY = StripWay(
    before=[
        StripPart("Tokens", ("13 numbers",)),
        StripPart("Embedding", ("wte 50,257 × 768",), 0.3, "38,597,376 of it"),
    ],
    blocks=StripPart("12 blocks, one after the other", (), 0.6, "85,054,464 parameters, 60%"),
    inside=[INSIDE] * 12,
    after=[StripPart("Next token", ("the embedding’s own matrix once more",), 0.0, "0 parameters")],
    heads=[9] * 12,
)
PICTURE = strip_picture(WAY, (7, 5), "Where layer 7, head 5 sits")


@pytest.fixture(scope="module", params=["white", "dark"])
def drawn(request):
    text = to_svg(PICTURE, background=request.param, title=PICTURE.title, caption="A caption")
    return ElementTree.fromstring(text), PRIMARY[request.param == "dark"]


def test_every_name_shape_and_count_is_text(drawn):
    root, _colour = drawn
    assert isinstance(PICTURE, Picture)
    said = [each.text for each in root.iter(f"{SVG}text")]
    for part in (*WAY.before, WAY.blocks, INSIDE.attention, INSIDE.mlp, *WAY.after):
        for text in (part.title, *part.lines, *([part.said] if part.said else [])):
            assert text in said
    assert said.count("→") == 4, "norms stand beside the way"
    assert {"A caption", "Inside the block of layer 7; on show is head 5"} <= set(said)


def test_shares_are_as_long_as_they_are_and_this_layer_and_head_are_lit(drawn):
    root, colour = drawn
    lit = [box for box in root.iter(f"{SVG}rect") if box.get("fill") == colour]
    bars = [box for box in lit if box.get("height") == "6"]
    wholes = [
        box for box in root.iter(f"{SVG}rect") if box.get("rx") == "3" and box.get("height") == "6" and box not in lit
    ]
    shares = [float(bar.get("width")) / float(whole.get("width")) for bar, whole in zip(bars, wholes, strict=True)]
    assert shares == pytest.approx([0.3, 0.6, 0.0, 0.02, 0.04, 0.0], abs=1e-3)
    squares = [box for box in root.iter(f"{SVG}rect") if box.get("height") == "24"]
    assert [i for i, box in enumerate(squares) if box in lit] == [7, 12 + 5]


def test_no_box_lies_over_another_and_none_leaves_the_picture(drawn):
    root, _colour = drawn
    boxes = [box for box in root.iter(f"{SVG}rect") if box.get("rx") == "8" and box.get("stroke-dasharray") is None]
    places = [[float(box.get(name)) for name in ("x", "y", "width", "height")] for box in boxes]
    assert len(places) == 7
    for i, (x, y, w, h) in enumerate(places):
        assert x + w + 40 <= float(root.get("width")) + 0.02  # each is written with two digits
        for x1, y1, w1, h1 in places[:i]:
            assert x >= x1 + w1 or x1 >= x + w or y >= y1 + h1 or y1 >= y + h


def test_a_file_that_is_written_later_is_in_the_visitors_language_throughout():
    with speaking("zh"):
        picture = strip_picture(WAY, (7, 5), "标题")
    assert "Inside the block" not in to_svg(picture, title=picture.title)
