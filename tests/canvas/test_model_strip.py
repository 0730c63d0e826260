"""The strip from tokens to the next one, read back from its SVG."""

from dataclasses import replace

import pytest

from attnviz.base.words import speaking
from attnviz.canvas.model_strip import StripBlock, StripPart, StripWay, strip_figure
from attnviz.figures.theme import PRIMARY
from attnviz.live.scene_figure import SceneFigure
from tests.svg_reading import rounded_boxes, texts, tree

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
FILE = SceneFigure((strip_figure(WAY, (7, 5), "Where layer 7, head 5 sits"),))


@pytest.fixture(scope="module", params=["white", "dark"])
def drawn(request):
    return tree(FILE, background=request.param, caption="A caption"), PRIMARY[request.param == "dark"]


def test_every_name_shape_and_count_is_text(drawn):
    root, _colour = drawn
    said = texts(root)
    for part in (*WAY.before, WAY.blocks, INSIDE.attention, INSIDE.mlp, *WAY.after):
        for text in (part.title, *part.lines, *([part.said] if part.said else [])):
            assert text in said
    assert said.count("→") == 4, "norms stand beside the way"
    assert {"A caption", "Inside the block of layer 7; on show is head 5"} <= set(said)


def test_shares_are_as_long_as_they_are_and_this_layer_and_head_are_lit(drawn):
    root, colour = drawn
    boxes = [(place, path.get("fill")) for place, path in rounded_boxes(root)]
    bars = [(place, fill) for place, fill in boxes if place[3] == pytest.approx(6, abs=0.02)]
    wholes = [place for place, fill in bars if fill != colour]
    shares = [
        sum(place[2] for place, fill in bars if fill == colour and place[:2] == whole[:2]) / whole[2]
        for whole in wholes
    ]
    assert shares == pytest.approx([0.3, 0.6, 0.0, 0.02, 0.04, 0.0], abs=1e-3)
    squares = [(place, fill) for place, fill in boxes if round(place[3]) in (24, 30) and fill != "none"]
    assert [i for i, (_place, fill) in enumerate(squares) if fill == colour] == [7, 12 + 5]


def test_no_box_lies_over_another_and_none_leaves_the_picture(drawn):
    root, _colour = drawn
    places = [place for place, path in rounded_boxes(root) if path.get("fill") in ("#F5F3F8", "#1E212B")]
    assert len(places) == 7
    for i, (x, y, w, h) in enumerate(places):
        assert x + w + 20 <= float(root.get("width")) + 0.02  # each is written with two digits
        assert y + h + 20 <= float(root.get("height")) + 0.02
        for x1, y1, w1, h1 in places[:i]:
            assert x >= x1 + w1 or x1 >= x + w or y >= y1 + h1 or y1 >= y + h


@pytest.mark.parametrize("count", [1, 9, 64])
def test_squares_of_heads_stay_in_their_box(count):
    way = replace(WAY, heads=[count] * 12)
    root = tree(SceneFigure((strip_figure(way, (0, 0), ""),)))
    boxes = [place for place, path in rounded_boxes(root) if path.get("stroke-width") == "2"]
    [(x, y, w, h)] = boxes
    squares = [place for place, path in rounded_boxes(root) if place[2:] == pytest.approx((24, 24), abs=0.02)]
    assert len(squares) == count
    assert all(x < left and left + 24 < x + w and y < top and top + 24 < y + h for left, top, *_sides in squares)


def test_a_file_that_is_written_later_is_in_the_visitors_language_throughout():
    with speaking("zh"):
        figure = strip_figure(WAY, (7, 5), "标题")
    assert "Inside the block" not in SceneFigure((figure,)).to_svg()
