"""Pictures for a file: what is in them is read back from the SVG and compared with the numbers they were made from."""

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from attnviz.base.rasterised import LATIN, _has_a_font, png
from attnviz.canvas.tensor_strip import StripSheet
from attnviz.figures import svg
from attnviz.figures.picture import Picture, to_svg
from attnviz.figures.svg_head import HeadPicture, LinesPicture
from attnviz.figures.theme import HEADS, SCORES, SCORES_ON_DARK, WEIGHTS, colour_at, contrast
from attnviz.pages.build.panels.board_picture import BoardPicture, Term
from attnviz.pages.explore.figures import MosaicPicture
from attnviz.pages.masks.figures import MaskPicture

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ["The", "<b>", "cat & dog", "猫", " ", "it", "it", "was", "$x$", "end"]


def causal(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Weights of a causal head and what is hidden."""
    rng = np.random.default_rng(seed)
    hidden = np.triu(np.ones((n, n), bool), 1)
    scores = np.where(hidden, -np.inf, rng.normal(0, 2, (n, n)))
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return (weights / weights.sum(1, keepdims=True)).astype(np.float32), hidden


def tree(picture: Picture, **more: object) -> ElementTree.Element:
    return ElementTree.fromstring(to_svg(picture, **more))  # type: ignore[arg-type]


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def pixels_in(root: ElementTree.Element) -> np.ndarray:
    """The pixels (rows, columns, RGBA) of the picture in it."""
    address = next(root.iter(f"{SVG}image")).get("href", "")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))).convert("RGBA")).astype(int)


def interpolated(stops: list[tuple[float, str]], places: np.ndarray) -> np.ndarray:
    """The colours of a scale by NumPy's own interpolation: (..., 3)."""
    at = [place for place, _colour in stops]
    parts = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for _place, colour in stops])
    return np.stack([np.interp(places, at, channel) for channel in parts.T], -1)


def painted(root: ElementTree.Element, shape: tuple[int, int]) -> np.ndarray:
    """The colours (rows, columns, 3) of cells drawn as paths, -1 where none is."""
    found = np.full((*shape, 3), -1)
    cells = next(g for g in root.iter(f"{SVG}g") if g.get("shape-rendering") == "crispEdges")
    for path in cells:
        colour = [int(path.get("fill", "")[i : i + 2], 16) for i in (1, 3, 5)]
        for col, row, length in re.findall(r"M(\d+) (\d+)h(\d+)v1", path.get("d", "")):
            found[int(row), int(col) : int(col) + int(length)] = colour
    return found


@pytest.mark.parametrize("root", [False, True])
def test_cells_have_the_colours_of_their_weights_and_masked_ones_none(root):
    weights, hidden = causal(10)
    seen = painted(tree(HeadPicture(weights, WORDS, WORDS, hidden, root=root)), weights.shape)
    wanted = interpolated(WEIGHTS, np.sqrt(weights) if root else weights)
    assert np.array_equal((seen == -1).all(-1), hidden)
    assert np.abs(seen - wanted)[~hidden].max() <= 3, "256 steps of the scale"


@pytest.mark.parametrize("background, stops", [("white", SCORES), ("dark", SCORES_ON_DARK)])
def test_a_difference_is_centred_on_zero(background, stops):
    weights, _hidden = causal(9)
    change = weights - weights[::-1]
    picture = HeadPicture(change, WORDS[:9], WORDS[:9], kind="diff")
    seen = painted(tree(picture, background=background), change.shape)
    assert np.abs(seen - interpolated(stops, 0.5 + change / 2)).max() <= 3


def test_nought_of_a_difference_is_nearly_the_page_and_its_ends_are_not():
    for stops, page in ((SCORES, "#FFFFFF"), (SCORES_ON_DARK, svg.PAPER["dark"])):
        assert contrast(colour_at(stops, 0.5), page) < 1.3
        assert all(contrast(colour_at(stops, end), page) > 5 for end in (0.0, 1.0))
        left = [contrast(colour_at(stops, 0.5 - i / 20), page) for i in range(11)]
        right = [contrast(colour_at(stops, 0.5 + i / 20), page) for i in range(11)]
        assert left == sorted(left), "more is further from the page"
        assert right == sorted(right), "more is further from the page"


def test_a_long_sentence_is_a_picture_of_the_same_colours():
    weights, hidden = causal(80)
    names = [f"token{i}" for i in range(80)]
    root = tree(HeadPicture(weights, names, names, hidden))
    pixels = pixels_in(root)
    assert pixels.shape == (80, 80, 4)
    assert np.array_equal(pixels[..., 3] == 0, hidden)
    assert np.abs(pixels[..., :3] - interpolated(WEIGHTS, weights))[~hidden].max() <= 3
    assert [text for text in texts(root) if text.startswith("token")] == names[::1] + names, "every label is written"


def test_every_token_is_text_as_it_was_typed():
    weights, hidden = causal(10)
    for picture in (
        HeadPicture(weights, WORDS, WORDS, hidden),
        LinesPicture(np.where(hidden, np.nan, weights), WORDS, WORDS),
        MaskPicture(~hidden, WORDS, WORDS),
    ):
        said = texts(tree(picture))
        for word in WORDS:
            assert said.count(word if word.strip() else "␣") >= 2, word
        assert {"Queries", "Keys"} <= set(said)


def test_no_script_comes_into_a_file_by_a_token_a_title_or_a_caption():
    hostile = ["</text><script>alert(1)</script>", '" onload="alert(1)', "]]><svg onload=alert(1)>", "&#60;script&#62;"]
    weights, hidden = causal(4)
    for picture in (
        HeadPicture(weights, hostile, hostile, hidden),
        LinesPicture(np.where(hidden, np.nan, weights), hostile, hostile),
        MaskPicture(~hidden, hostile, hostile),
    ):
        for node in tree(picture, title=hostile[0], caption=hostile[1]).iter():
            assert node.tag.removeprefix(SVG) not in ("script", "foreignObject", "a", "iframe")
            assert not [name for name in node.attrib if name.lower().startswith("on")]
            assert node.get("href", "#").startswith(("data:image/png", "#"))


def test_characters_that_no_xml_may_hold_do_not_break_the_file():
    odd = ["a\x00b", "\ud800", "tab\there", "line\nend"]
    said = texts(tree(HeadPicture(np.eye(4), odd, odd), title="\x07", caption="\ufffe"))
    assert "tab⇥here" in said
    assert "line↵end" in said


def test_a_curve_leads_from_each_query_to_each_key_that_it_looks_at():
    weights, hidden = causal(10)
    root = tree(LinesPicture(np.where(hidden, np.nan, weights), WORDS, WORDS))
    found = set()
    for path in root.iter(f"{SVG}path"):
        for begin, end in re.findall(
            r"M[\d.]+ ([\d.]+)C[\d.]+ [\d.]+ [\d.]+ [\d.]+ [\d.]+ ([\d.]+)", path.get("d", "")
        ):
            found.add((round((float(begin) - 26) / 24 - 0.5), round((float(end) - 26) / 24 - 0.5)))
    assert found == set(zip(*np.nonzero(weights * ~hidden >= 0.006), strict=True))


def test_a_stronger_weight_has_the_bolder_line():
    root = tree(LinesPicture(np.array([[0.9, 0.1]]), ["q"], ["a", "b"]))
    widths = [float(p.get("stroke-width", 0)) for p in root.iter(f"{SVG}path") if "C" in p.get("d", "")]
    assert sorted(widths) == pytest.approx([0.75 + 2.75 * level / 24 for level in (2.5, 21.5)], abs=0.01)


def test_pins_fade_the_other_lines_and_light_their_own():
    weights, _hidden = causal(10)
    assert 'opacity="0.18"' not in to_svg(LinesPicture(weights, WORDS, WORDS))
    assert 'opacity="0.18"' in to_svg(LinesPicture(weights, WORDS, WORDS, pinned_rows=[5]))


def test_thirty_tokens_take_at_most_200_kilobytes_however_many_weights_are_large():
    names = [f"token{i}" for i in range(30)]
    noise = np.random.default_rng(0).random((30, 30))
    heads = [np.where(hidden, np.nan, weights) for weights, hidden in (causal(30, seed) for seed in range(8))]
    for picture in (
        LinesPicture(heads[0], names, names, others=dict(enumerate(heads[1:], 1)), pinned_rows=[29]),
        HeadPicture(noise, names, names),
        HeadPicture(noise - 0.5, names, names, kind="diff", pinned_rows=range(30)),
        LinesPicture(noise, names, names, pinned_rows=range(15)),
        MaskPicture(noise > 0.5, names, names),
    ):
        assert len(to_svg(picture, caption="word " * 100).encode()) <= 200_000


def test_a_mask_has_one_colour_a_hatch_and_a_legend():
    allowed = np.tri(6, dtype=bool)
    allowed[2] = False
    root = tree(MaskPicture(allowed, WORDS[:6], WORDS[:6], title="Who"), title="Who may look")
    seen = painted(root, allowed.shape)
    assert np.array_equal((seen >= 0).all(-1), allowed)
    assert len({tuple(colour) for colour in seen[allowed]}) == 1
    assert {"may look", "may not look", "Who may look"} <= set(texts(root))
    assert "url(#masked)" in {node.get("fill") for node in root.iter(f"{SVG}rect")}


def test_the_mosaic_shows_every_head_in_its_place_and_hides_what_is_masked():
    rng = np.random.default_rng(1)
    tiles = rng.random((6, 4, 4))
    tiles[:, 0, 3] = np.nan
    root = tree(MosaicPicture(tiles, [2, 2, 2], [1, 1, 1], (1, 1)))
    pixels = pixels_in(root)
    high = 84 * 2  # pixels of a tile
    for number, tile in enumerate(tiles):
        top, left = (number // 2) * (high + 6), (number % 2) * (high + 6)
        middles = (np.arange(4) * high // 4 + high // 8).astype(int)
        seen = pixels[top + middles][:, left + middles]
        wanted = interpolated(WEIGHTS, np.sqrt(np.nan_to_num(tile)))
        assert np.abs(seen[..., :3] - wanted)[~np.isnan(tile)].max() <= 4
        assert np.ptp(seen[0, 3, :3]) <= 8, "masked is grey"
    assert pixels[high + 1, 0, 3] == 0, "gaps show the page"


def test_a_board_writes_every_number_sign_and_term():
    def sheet(name: str, role: str, rows: int, cols: int) -> StripSheet:
        text = [[f"{name}{r}.{c}" for c in range(cols)] for r in range(rows)]
        labels = tuple(f"r{i}" for i in range(rows)), tuple(f"c{i}" for i in range(cols))
        return StripSheet(name, "Q × K", "", role, (), *labels, (), text, [[0.5] * cols for _ in range(rows)])

    sheets = [sheet("Q", "q", 3, 2), sheet("K_T", "k", 2, 3), sheet("S", "scores", 3, 3)]
    picture = BoardPicture(
        sheets, ("@", "="), (1, 2), [[0, 1, 2, 0, 2]], [Term("S[r1, c2]", "scores"), Term("="), Term("0.3", "q")]
    )
    said = texts(tree(picture))
    for one in sheets:
        assert {cell for row in one.text for cell in row} <= set(said)
    assert {"Q", "KT", "S", "@", "="} <= set(said)
    assert "S[r1, c2]=0.3" in said, "the sum is one line of text"


@pytest.mark.skipif(not _has_a_font(LATIN), reason="this machine has no font: install one (Debian: fonts-dejavu-core)")
@pytest.mark.parametrize("width", range(2, 9))
def test_a_long_sum_stays_within_the_picture_in_the_fonts_of_this_machine(width):
    labels = ("r",), tuple(f"c{i}" for i in range(width))
    sheet = StripSheet("A", "Q × K", "", "weights", (), *labels, (), [["−0.26"] * width], [[0.5] * width])
    products = [[Term("0.1896", "weights"), Term("×"), Term("(−1.75)", "v"), Term("+")] for _ in range(8)]
    terms = [Term("O[cat, 1]", "weights"), Term("="), *(term for each in products for term in each), Term("0.02", "v")]
    picture = BoardPicture([sheet], (), (0, 0), [], terms)
    drawn = np.asarray(Image.open(io.BytesIO(png(to_svg(picture), 1))).convert("RGB"))
    assert drawn[:, :-8].min() < 128
    assert drawn[:, -8:].min() > 250, "text runs over the right edge"


@pytest.mark.parametrize("background", ["white", "dark", "transparent"])
def test_text_stands_out_from_its_background(background):
    ink = svg.ink_on(background)
    bright = lambda colour: np.dot([int(colour[i : i + 2], 16) for i in (1, 3, 5)], [0.299, 0.587, 0.114])  # noqa: E731
    assert abs(bright(ink.text) - bright(ink.ground)) > 150
    assert ink.paper == "none" if background == "transparent" else ink.paper == ink.ground


def test_heads_laid_over_each_other_have_colours_of_their_own_and_are_named():
    weights, hidden = causal(10)
    masked = np.where(hidden, np.nan, weights)
    others = {5: np.roll(masked, 1, 1), 8: masked[::-1]}
    picture = LinesPicture(masked, WORDS, WORDS, head=0, others=others)
    assert picture.colours == {5: 5, 8: 0, 0: 1}
    for background, dark in (("white", 0), ("dark", 1)):
        root = tree(picture, background=background)
        drawn = {path.get("stroke") for path in root.iter(f"{SVG}path") if "C" in path.get("d", "")}
        assert drawn == {HEADS[place][dark] for place in (0, 1, 5)}
        assert {"head 0", "head 5", "head 8"} <= set(texts(root))
    curves = sum(path.get("d", "").count("M") for path in tree(picture).iter(f"{SVG}path") if "C" in path.get("d", ""))
    assert curves == sum(int((np.nan_to_num(head) >= 0.006).sum()) for head in (masked, *others.values()))


def test_colours_of_heads_can_be_told_apart_with_any_colour_vision():
    """Distances in OKLab between any two of the eight, as Viénot's simulation has them for two kinds of dichromats."""
    kinds = {
        "all": np.eye(3),
        "protan": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
        "deutan": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
    }
    for name, seen in kinds.items():
        for page in (0, 1):
            points = np.array([oklab(seen @ linear(pair[page])) for pair in HEADS])
            apart = np.linalg.norm(points[:, None] - points[None], axis=-1) + np.eye(8)
            assert apart.min() > 0.09, (name, page, np.unravel_index(apart.argmin(), apart.shape))


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def oklab(rgb: np.ndarray) -> np.ndarray:
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return lab @ np.cbrt(np.maximum(cones @ rgb, 0))
