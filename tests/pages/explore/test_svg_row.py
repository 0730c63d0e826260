"""Pictures side by side: all of each is there, and none lies over another."""

import re
from xml.etree import ElementTree

import numpy as np

from attnviz.figures.picture import to_svg
from attnviz.figures.svg import ink_on
from attnviz.figures.svg_head import HeadPicture
from attnviz.pages.explore.figures import RowPicture

SVG = "{http://www.w3.org/2000/svg}"


def test_each_picture_stands_beside_the_one_before_with_its_name_above():
    names = [f"word{i}" for i in range(30)]
    heads = [HeadPicture(np.random.default_rng(i).random((30, 30)), names, names, title=f"Head {i}") for i in range(3)]
    text = to_svg(RowPicture(heads, "All"), title="All", caption="Made by hand")
    assert len(text) <= 200_000
    root = ElementTree.fromstring(text)
    said = [node.text for node in root.iter(f"{SVG}text")]
    assert {"Head 0", "Head 1", "Head 2", "All"} <= set(said)
    places = [float(x) for x in re.findall(r"translate\(([\d.]+) 24\)", text)]
    widths = [head.drawn(ink_on("white")).width for head in heads]
    assert len(places) == 3
    assert all(b >= a + wide for a, b, wide in zip(places, places[1:], widths, strict=False))
    assert float(root.get("width", 0)) >= places[-1] + widths[-1]
