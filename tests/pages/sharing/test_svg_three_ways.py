"""The picture of MHA, GQA and MQA, read back from its SVG and from a formula by another hand."""

import re
from xml.etree import ElementTree

import pytest

from attnviz.figures.picture import Picture, to_svg
from attnviz.figures.theme import K_VERMILION, Q_BLUE
from attnviz.models.architecture import Architecture
from attnviz.pages.sharing.figures.svg_three_ways import WIDE, SharingColumn, ThreeWaysPicture
from attnviz.pages.sharing.panels import one_picture

SVG = "{http://www.w3.org/2000/svg}"
LLAMA = Architecture.preset("llama-3.1-8b")


def boxes(root: ElementTree.Element, colour: str) -> list[ElementTree.Element]:
    return [box for box in root.iter(f"{SVG}rect") if box.get("fill") == colour]


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


def test_every_query_head_is_wired_to_the_head_that_it_reads():
    column = SharingColumn("GQA", 8, 2, (), "1 B", 0.25)
    root = ElementTree.fromstring(column.on_page())
    assert len(boxes(root, Q_BLUE)) == 8
    heads, bar = boxes(root, K_VERMILION)[:-1], boxes(root, K_VERMILION)[-1]
    assert len(heads) == 2
    assert float(bar.get("width")) == WIDE / 4
    wires = re.findall(r"M([\d.]+) [\d.]+L([\d.]+)", next(root.iter(f"{SVG}path")).get("d"))
    assert [float(x) for x, _to in wires] == [(h + 0.5) * WIDE / 8 for h in range(8)]
    assert [float(to) for _x, to in wires] == [WIDE / 4] * 4 + [3 * WIDE / 4] * 4


def test_a_slide_has_all_columns_within_1280_by_720_and_their_bars_level_at_32768_tokens():
    for tokens in (8192, 32_768):
        picture = ThreeWaysPicture(one_picture.columns_of(LLAMA, tokens), "GQA keeps 25% of what MHA keeps")
        assert isinstance(picture, Picture)
        root = ElementTree.fromstring(to_svg(picture, title=picture.title, caption="a caption"))
        assert float(root.get("width")) <= 1280
        assert float(root.get("height")) <= 720
        tops = [rect.get("y") for rect in root.iter(f"{SVG}rect") if rect.get("height") == "12"]
        assert len(tops) == 6
        assert len(set(tops)) == 1, "three bars and what each is a share of"
