"""A head as a file: drawn by the canvas's own JavaScript, read back and compared with the numbers it was made from."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz.base.head_record import HeadData, HeadGrid, HeadView, Pin, Pins
from attnviz.figures.theme import WEIGHTS
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


def pictures_of(words: list[str]) -> list[SceneFigure]:
    """A causal head of these words as cells and as lines, and its mask."""
    weights, hidden = masked(len(words))
    matrix = head_figure(weights, words, words)
    figures = (matrix, replace(matrix, lines=True), MaskFigure(~hidden, words, words))
    return [SceneFigure((figure,)) for figure in figures]


@pytest.mark.parametrize("root", [False, True])
def test_cells_have_the_colours_of_their_weights_and_masked_ones_none(root):
    weights, hidden = masked(10)
    seen = painted(tree(file_of(weights, root=root)), weights.shape)
    wanted = interpolated(WEIGHTS, np.sqrt(weights) if root else weights)
    assert np.array_equal((seen == -1).all(-1), hidden)
    assert np.abs(seen - wanted)[~hidden].max() <= 3, "256 steps of the scale"


def test_characters_that_no_xml_may_hold_do_not_break_the_file():
    odd = ["a\x00b", "\ud800", "tab\there", "line\nend"]
    said = texts(tree(file_of(np.eye(4), odd), title="\x07", caption="\ufffe"))
    assert "tab⇥here" in said
    assert "line⏎end" in said


def test_every_token_is_text_as_it_was_typed():
    for picture in pictures_of(WORDS):
        said = texts(tree(picture))
        for word in WORDS:
            assert said.count(word if word.strip() else "␣") >= 2, word
        assert {"Queries", "Keys"} <= set(said)


def test_no_script_comes_into_a_file_by_a_token_a_title_or_a_caption():
    hostile = ["</text><script>alert(1)</script>", '" onload="alert(1)', "]]><svg onload=alert(1)>", "&#60;script&#62;"]
    for picture in pictures_of(hostile):
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
    root = tree(
        SceneFigure((MaskFigure(allowed, WORDS[:6], WORDS[:6]),)),
        title="Who may look",
        caption="In a row",
        credit="By me",
    )
    seen = painted(root, allowed.shape)
    assert np.array_equal((seen >= 0).all(-1), allowed)
    assert len({tuple(colour) for colour in seen[allowed]}) == 1
    assert {"may look", "may not look", "Who may look", "In a row", "By me"} <= set(texts(root))
    assert [root.findtext(f"{SVG}{name}") for name in ("title", "desc")] == ["Who may look", "In a row"]
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
