"""A picture with discs over it, as a file."""

import io
import re

import numpy as np
from PIL import Image

from attnviz.canvas.patch_view import PatchChoices, PatchFigure, PatchScene
from attnviz.live.scene_figure import SceneFigure
from tests.svg_reading import SVG, texts, tree

DISC, HIDDEN, MARGIN = "#ffa614", "#8a8f98", 20
ROW = np.array([0.71, 0.0, 0.25, 0.0, 0.04, 0.0, 0.0, 0.0, 0.0])
PIXELS = np.random.default_rng(0).integers(0, 256, (8, 16, 3), np.uint8)


def file_of(pixels, kind="png"):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind)
    return out.getvalue()


def scene(pixels=PIXELS, **more):
    height, width = pixels.shape[:2]
    maps = np.zeros((2, 1, 9))
    return PatchScene(
        file_of(pixels),
        "image/png",
        (width, height),
        (2, 4, 1),
        ("class token",),
        None,
        (1,),
        maps,
        smooth=False,
        **more,
    )


def figure(row=ROW, choices=None, query=0, **more):
    return SceneFigure((PatchFigure(scene(**more), choices or PatchChoices(), "One row", row, query),))


def discs(root):
    """Middle and radius of each disc, in pixels of the picture."""
    drawn = next(path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("fill") == DISC)
    found = re.findall(r"L([\d.]+) ([\d.]+)A([\d.]+) ", drawn)
    return [(float(x) - float(r) - MARGIN, float(y) - MARGIN, float(r)) for x, y, r in found]


def test_hidden_patches_are_covered_and_the_one_that_looks_is_framed_and_numbered():
    root = tree(figure(choices=PatchChoices(pins=(1, 2), hidden=(6,)), query=2), title="Layer 1, head 2")
    covered = [rect for rect in root.iter(f"{SVG}rect") if rect.get("fill") == HIDDEN]
    assert [(rect.get("x"), rect.get("y")) for rect in covered] == [(str(MARGIN + 200), str(MARGIN + 34 + 100))]
    framed = [rect for rect in root.iter(f"{SVG}rect") if rect.get("stroke-width") == "2"]
    assert [rect.get("x") for rect in framed] == [str(MARGIN + 100)]
    assert {"2", "Layer 1, head 2"} <= set(texts(root))
