"""A head as a file: drawn by the canvas's own JavaScript, read back and compared with the numbers it was made from."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz.base.head_record import HeadData, HeadGrid, HeadView, Pin, Pins
from attnviz.figures.theme import HEADS, WEIGHTS
from attnviz.live.matrix_figures import HeadFigure, MaskFigure, MosaicFigure
from attnviz.live.scene_figure import SceneFigure
from tests.svg_reading import SVG, WORDS, causal, interpolated, painted, pixels_in, texts, tree


def masked(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Weights of a causal head, NaN where masked; and what is."""
    weights, hidden = causal(n, seed)
    return np.where(hidden, np.nan, weights), hidden


def file_of(values: np.ndarray, names: list[str] = WORDS, **more: object) -> SceneFigure:
    return SceneFigure((head_figure(values, names, names, **more),))


def head_figure(
    values: np.ndarray,
    rows: list[str],
    cols: list[str],
    lines: bool = False,
    others: dict[int, np.ndarray] | None = None,
    **view: Any,
) -> HeadFigure:
    return HeadFigure(HeadData.of_values(values, rows, cols), HeadView(**view), lines, others or {})


@pytest.mark.parametrize("root", [False, True])
def test_cells_have_the_colours_of_their_weights_and_masked_ones_none(root):
    weights, hidden = masked(10)
    seen = painted(tree(file_of(weights, root=root)), weights.shape)
    wanted = interpolated(WEIGHTS, np.sqrt(weights) if root else weights)
    assert np.array_equal((seen == -1).all(-1), hidden)
    assert np.abs(seen - wanted)[~hidden].max() <= 3, "256 steps of the scale"


def test_a_long_sentence_is_a_picture_of_the_same_colours():
    weights, hidden = masked(80)
    names = [f"token{i}" for i in range(80)]
    root = tree(file_of(weights, names))
    pixels = pixels_in(root)
    assert pixels.shape == (80, 80, 4)
    assert np.array_equal(pixels[..., 3] == 0, hidden)
    assert np.abs(pixels[..., :3] - interpolated(WEIGHTS, weights))[~hidden].max() <= 3
    assert [text for text in texts(root) if text.startswith("token")] == names[::1] + names, "every label is written"


def test_characters_that_no_xml_may_hold_do_not_break_the_file():
    odd = ["a\x00b", "\ud800", "tab\there", "line\nend"]
    said = texts(tree(file_of(np.eye(4), odd), title="\x07", caption="\ufffe"))
    assert "tab⇥here" in said
    assert "line↵end" in said


def test_a_curve_leads_from_each_query_to_each_key_that_it_looks_at():
    weights, hidden = causal(10)
    root = tree(file_of(np.where(hidden, np.nan, weights), lines=True))
    top = 44  # the margin, and the headings
    found = set()
    for path in root.iter(f"{SVG}path"):
        for begin, end in re.findall(
            r"M[\d.]+ ([\d.]+)C[\d.]+ [\d.]+ [\d.]+ [\d.]+ [\d.]+ ([\d.]+)", path.get("d", "")
        ):
            found.add((round((float(begin) - top) / 24 - 0.5), round((float(end) - top) / 24 - 0.5)))
    assert found == set(zip(*np.nonzero(weights * ~hidden >= 0.006), strict=True))


def test_heads_laid_over_each_other_have_colours_of_their_own_and_are_named():
    weights, hidden = causal(10)
    own = np.where(hidden, np.nan, weights)
    others = {5: np.roll(own, 1, 1), 8: own[::-1]}
    picture = file_of(own, lines=True, others=others)
    for background, dark in (("white", 0), ("dark", 1)):
        root = tree(picture, background=background)
        drawn = {path.get("stroke") for path in root.iter(f"{SVG}path") if "C" in path.get("d", "")}
        assert drawn == {HEADS[place][dark] for place in (0, 1, 5)}
        assert {"head 0", "head 5", "head 8"} <= set(texts(root))
    curves = sum(path.get("d", "").count("M") for path in tree(picture).iter(f"{SVG}path") if "C" in path.get("d", ""))
    assert curves == sum(int((np.nan_to_num(head) >= 0.006).sum()) for head in (own, *others.values()))


def test_every_token_is_text_as_it_was_typed():
    weights, hidden = causal(10)
    matrix = head_figure(np.where(hidden, np.nan, weights), WORDS, WORDS)
    for picture in (
        SceneFigure((matrix,)),
        SceneFigure((replace(matrix, lines=True),)),
        SceneFigure((MaskFigure(~hidden, WORDS, WORDS),)),
    ):
        said = texts(tree(picture))
        for word in WORDS:
            assert said.count(word if word.strip() else "␣") >= 2, word
        assert {"Queries", "Keys"} <= set(said)


def test_no_script_comes_into_a_file_by_a_token_a_title_or_a_caption():
    hostile = ["</text><script>alert(1)</script>", '" onload="alert(1)', "]]><svg onload=alert(1)>", "&#60;script&#62;"]
    weights, hidden = causal(4)
    matrix = head_figure(np.where(hidden, np.nan, weights), hostile, hostile)
    for picture in (
        SceneFigure((matrix,)),
        SceneFigure((replace(matrix, lines=True),)),
        SceneFigure((MaskFigure(~hidden, hostile, hostile),)),
    ):
        for node in tree(picture, title=hostile[0], caption=hostile[1]).iter():
            assert node.tag.removeprefix(SVG) not in ("script", "foreignObject", "a", "iframe")
            assert not [name for name in node.attrib if name.lower().startswith("on")]
            assert node.get("href", "#").startswith(("data:image/png", "#"))


def test_thirty_tokens_take_at_most_200_kilobytes_however_many_weights_are_large():
    names = [f"token{i}" for i in range(30)]
    noise = np.random.default_rng(0).random((30, 30))
    heads = [np.where(hidden, np.nan, weights) for weights, hidden in (causal(30, seed) for seed in range(8))]
    lines = head_figure(noise, names, names, pins=Pins(tuple(Pin("q", row) for row in range(15))), lines=True)
    cells = head_figure(noise - 0.5, names, names, kind="diff", pins=Pins(tuple(Pin("q", row) for row in range(30))))
    others = dict(enumerate(heads[1:], 1))
    for picture in (
        SceneFigure((head_figure(heads[0], names, names, lines=True, others=others, pins=Pins((Pin("q", 29),))),)),
        SceneFigure((head_figure(noise, names, names),)),
        SceneFigure((cells,)),
        SceneFigure((lines,)),
        SceneFigure((MaskFigure(noise > 0.5, names, names),)),
    ):
        assert len(picture.to_svg(caption="word " * 100).encode()) <= 200_000


def test_a_mask_has_one_colour_a_hatch_and_a_legend():
    allowed = np.tri(6, dtype=bool)
    allowed[2] = False
    root = tree(SceneFigure((MaskFigure(allowed, WORDS[:6], WORDS[:6]),)), title="Who may look")
    seen = painted(root, allowed.shape)
    assert np.array_equal((seen >= 0).all(-1), allowed)
    assert len({tuple(colour) for colour in seen[allowed]}) == 1
    assert {"may look", "may not look", "Who may look"} <= set(texts(root))
    assert any(node.get("fill", "").startswith("url(#") for node in root.iter(f"{SVG}rect")), "a hatch"


@pytest.mark.parametrize("layers", [1, 3, 12])
def test_the_mosaic_shows_every_head_in_its_place_and_hides_what_is_masked(layers):
    rng = np.random.default_rng(1)
    tiles = rng.integers(0, 255, (2 * layers, 4, 4), dtype=np.uint8)
    tiles[:, 0, 3] = 255
    figure = MosaicFigure(tiles, HeadGrid.of([2] * layers, [1] * layers), (0, 1))
    root = tree(SceneFigure((figure,)))
    pixels = pixels_in(root)
    across = layers >= 2  # as many as heads: layers from left to right
    wide = sorted({int(x) for x in np.flatnonzero(pixels[0, :, 3] == 0)})
    side = wide[0] if wide else pixels.shape[1]
    middles = (np.arange(4) * side // 4 + side // 8).astype(int)
    for number, tile in enumerate(tiles):
        place = divmod(number, 2)[:: -1 if across else 1]
        top, left = (at * (side + 4) for at in place)
        seen = pixels[top + middles][:, left + middles]
        wanted = interpolated(WEIGHTS, tile / 254)  # a code is the root of a weight, and so is the scale
        assert np.abs(seen[..., :3] - wanted)[tile < 255].max() <= 4
        assert np.ptp(seen[0, 3, :3]) <= 20, "masked is grey"
    if layers > 1:
        assert pixels[side + 1, 0, 3] == 0, "gaps show the page"
