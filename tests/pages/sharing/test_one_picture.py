"""The picture of MHA, GQA and MQA, read back from its SVG and from a formula by another hand."""

import re
from xml.etree import ElementTree

import pytest

from attnviz.canvas.sharing_columns import SharingColumn, SharingFigure
from attnviz.figures.theme import K_VERMILION, MASKED, Q_BLUE
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.architecture import Architecture
from attnviz.pages.sharing.panels import one_picture
from tests.svg_reading import SVG, rounded_boxes, texts, tree

WIDE = 320  #: pixels of a column
LLAMA = Architecture.preset("llama-3.1-8b")


def boxes(root: ElementTree.Element, colour: str) -> list[tuple[float, float, float]]:
    """Left edge, upper edge and width of every box of this colour."""
    return [(x, y, w) for (x, y, w, _h), path in rounded_boxes(root) if path.get("fill", "").upper() == colour]


@pytest.mark.parametrize(
    "name, tokens, batch", [("smollm2-135m", 2048, 1), ("llama-2-7b", 4096, 3), ("falcon-7b", 100, 1)]
)
def test_bytes_and_parameters_are_what_two_lines_of_arithmetic_give(name, tokens, batch):
    arch = Architecture.preset(name)
    layer = arch.layers[0]
    for column in one_picture.columns_of(arch, tokens, batch):
        numbers = 2 * len(arch.layers) * batch * column.kv_heads * tokens * layer.d_head
        mha = 2 * len(arch.layers) * batch * layer.n_heads * tokens * layer.d_head
        assert column.share == pytest.approx(numbers / mha)
        unit = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
        number, name_of_unit = column.kept.removeprefix("cache: ").split()
        assert float(number.replace(",", "")) * unit[name_of_unit] == pytest.approx(2 * numbers, rel=1e-3)


@pytest.mark.parametrize("heads, kv_heads", [(1, 1), (8, 2), (9, 3), (12, 1), (64, 8)])
def test_every_query_head_is_wired_to_the_middle_of_its_group(heads, kv_heads):
    column = SharingColumn("GQA", heads, kv_heads, (), "1 B", 0.25)
    root = tree(SceneFigure((SharingFigure((column,)),)))
    assert len(boxes(root, Q_BLUE)) == heads
    keys = boxes(root, K_VERMILION)
    assert len(keys) == kv_heads + 1, "and the bar"
    assert keys[-1][2] == pytest.approx(WIDE / 4, abs=0.02)
    wired = next(path for path in root.iter(f"{SVG}path") if path.get("stroke") == MASKED).get("d", "")
    wires = [[float(x) - 36 for x in ends] for ends in re.findall(r"M([\d.]+) [\d.]+L([\d.]+)", wired)]
    assert [x for x, _to in wires] == pytest.approx([(h + 0.5) * WIDE / heads for h in range(heads)], abs=0.02)
    for kv in range(kv_heads):
        group = range(kv * heads // kv_heads, (kv + 1) * heads // kv_heads)
        middle = sum(wires[head][0] for head in group) / len(group)
        assert [wires[head][1] for head in group] == pytest.approx([middle] * len(group), abs=0.02)


@pytest.mark.parametrize("background", ["white", "dark"])
def test_a_slide_has_all_columns_within_1280_by_720_and_their_bars_level_at_32768_tokens(background):
    for tokens in (8192, 32_768):
        columns = one_picture.columns_of(LLAMA, tokens)
        root = tree(SceneFigure((SharingFigure(columns),)), background=background, title="A title", caption="a caption")
        assert float(root.get("width")) <= 1280
        assert float(root.get("height")) <= 720
        bars = [box for box in boxes(root, K_VERMILION) + boxes(root, MASKED) if box[2] >= 3]
        lowest = max(top for _left, top, _width in bars)
        level = [width for _left, top, width in bars if top == lowest]
        assert sorted(level) == pytest.approx(sorted([WIDE] * 4 + [WIDE / 4, WIDE / 32]), abs=0.02)
        for column in columns:
            assert {column.name, column.counted, column.cache, *column.facts} <= set(texts(root))
