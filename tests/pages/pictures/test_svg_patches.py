"""A picture with discs over it, as a file."""

import io
import re

import numpy as np
import pytest
from PIL import Image

from attnviz.figures import svg
from attnviz.figures.picture import to_svg
from attnviz.pages.pictures.figures import DISC, LitRow, PatchPicture


def picture(**more):
    pixels = np.random.default_rng(0).integers(0, 256, (8, 16, 3), np.uint8)
    row = np.array([0.0, 0.25, 0.0, 0.04, 0.0, 0.0, 0.0, 0.0])
    return PatchPicture(pixels, (2, 4), [LitRow("class token", row), LitRow("row 1, column 2", row, 1)], **more)


def discs(text):
    """Middle and radius of each disc, in pixels."""
    number = r'="([\d.]+)"'
    found = re.findall(rf'<rect x{number} y{number} width{number} height{number} fill="{DISC}" [^>]*rx{number}', text)
    return [(float(x) + float(r), float(y) + float(r), float(r)) for x, y, _w, _h, r in found]


def test_a_discs_area_is_its_weight_and_a_patch_without_weight_has_none():
    most, less, *second = discs(to_svg(picture()))
    assert (len(second), most[0], less[0]) == (2, 135.0, 315.0)
    assert most[1] == less[1]
    assert most[2] == pytest.approx(45, abs=0.1), "the largest fills its patch: 90 pixels of 360"
    assert (less[2] / most[2]) ** 2 == pytest.approx(0.04 / 0.25, rel=0.01)


def test_the_largest_disc_may_be_the_same_for_all_and_is_said():
    assert "The largest disc: 25.0%" in to_svg(picture())
    alone = to_svg(picture(top=1.0))
    assert "The largest disc: 100.0%" in alone
    assert discs(alone)[0][2] == pytest.approx(45 * 0.25**0.5, abs=0.1)


def test_under_the_discs_the_drawing_keeps_the_order_of_its_greys():
    pixels = np.linspace(0, 255, 8 * 16).astype(np.uint8).reshape(8, 16, 1).repeat(3, 2)
    shown = PatchPicture(pixels, (2, 4), []).dimmed()[..., 0].ravel().astype(int)
    assert (np.diff(shown) >= 0).all()
    assert shown[-1] - shown[0] > 150


def test_hidden_patches_are_covered_and_the_one_that_looks_is_framed():
    text = to_svg(picture(hidden=(6,)), title="Layer 1, head 2")
    assert text.count("#8A8F98") == 2
    assert text.count("#0072B2") == 1
    assert "Layer 1, head 2" in text


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (300, 200)])
def test_a_png_holds_the_colours_that_were_given(shape):
    colours = np.random.default_rng(1).integers(0, 256, (*shape, 3), np.uint8)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(svg.rgb_png(colours)))), colours)
