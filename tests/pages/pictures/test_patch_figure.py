"""A picture with discs over it, as a file."""

import io
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from attnviz.canvas.patch_view import PatchChoices, PatchFigure, PatchHeadsFigure, PatchScene
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


def test_a_discs_area_is_its_weight_and_a_patch_without_weight_has_none():
    most, less = discs(tree(figure()))
    assert (most[0], most[1], less[0], less[1]) == (150, 50, 350, 50)
    assert most[2] == pytest.approx(50, abs=0.1), "the largest fills its patch: 100 pixels of 400"
    assert (less[2] / most[2]) ** 2 == pytest.approx(0.04 / 0.25, rel=0.01)


def test_hidden_patches_are_covered_and_the_one_that_looks_is_framed_and_numbered():
    root = tree(figure(choices=PatchChoices(pins=(1, 2), hidden=(6,)), query=2), title="Layer 1, head 2")
    covered = [rect for rect in root.iter(f"{SVG}rect") if rect.get("fill") == HIDDEN]
    assert [(rect.get("x"), rect.get("y")) for rect in covered] == [(str(MARGIN + 200), str(MARGIN + 34 + 100))]
    framed = [rect for rect in root.iter(f"{SVG}rect") if rect.get("stroke-width") == "2"]
    assert [rect.get("x") for rect in framed] == [str(MARGIN + 100)]
    assert {"2", "Layer 1, head 2"} <= set(texts(root))


def test_a_file_of_all_heads_shows_each_with_its_name_and_which_are_chosen_and_silenced():
    heads = replace(scene(), heads=(2, 2), maps=np.zeros((2, 4, 9)))
    rows = np.stack([np.roll(ROW[1:], by) for by in range(4)])
    rows = np.concatenate([np.full((4, 1), 0.71), rows], 1)
    part = PatchHeadsFigure(heads, PatchChoices(1, 0, silenced=((0, 1),)), rows)
    root = tree(SceneFigure((part,)))
    assert [text for text in texts(root) if re.fullmatch(r"\d\.\d", text)] == ["0.0", "0.1", "1.0", "1.1"]
    pictures = list(root.iter(f"{SVG}use"))
    places = [(float(use.get("x")), float(use.get("y"))) for use in pictures]
    faint = [group for group in root.iter(f"{SVG}g") if group.get("opacity") == "0.25"]
    silenced = places.index(max(places, key=lambda place: place[0] - 9 * place[1]))
    assert [list(group.iter(f"{SVG}use")) for group in faint] == [[pictures[silenced]]], "at the upper right"
    wide = float(next(root.iter(f"{SVG}image")).get("width"))
    drawn = [path.get("d") for path in root.iter(f"{SVG}path") if path.get("fill") == DISC]
    found = [[float(x) - float(r) for x, r in re.findall(r"L([\d.]+) [\d.]+A([\d.]+) ", path)] for path in drawn]
    order = sorted(range(4), key=lambda at: places[at][::-1])
    for head, at in enumerate(order):
        columns = [(x - places[at][0]) / wide * 4 for x in found[at]]
        assert sorted(round(column - 0.5, 1) for column in columns) == sorted((place + head) % 4 for place in (1, 3))
    framed = [path for path in root.iter(f"{SVG}path") if path.get("stroke-width") == "2"]
    assert len(framed) == 1
    left, top = (float(number) for number in re.match(r"M([\d.]+) ([\d.]+)", framed[0].get("d")).groups())
    assert left - 5 < places[order[2]][0] < left + 5, "its corner is round"
    assert top < places[order[2]][1] < top + 10
