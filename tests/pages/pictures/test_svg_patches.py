"""A picture with light over it, as a file."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from attnviz.figures import svg
from attnviz.figures.picture import to_svg
from attnviz.pages.pictures.figures import LitRow, PatchPicture


def picture(**more):
    pixels = np.random.default_rng(0).integers(0, 256, (8, 16, 3), np.uint8)
    row = np.array([0.0, 0.25, 0.0, 0.04, 0.0, 0.0, 0.0, 0.0])
    return PatchPicture(pixels, (2, 4), [LitRow("class token", row), LitRow("row 1, column 2", row, 1)], **more)


def images(text):
    found = re.findall(r'href="data:image/png;base64,([^"]+)"', text)
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(each)))) for each in found]


def test_light_lies_on_its_patch_and_on_no_other():
    first, second = images(to_svg(picture()))
    np.testing.assert_array_equal(first, second)
    glow = first[..., 0].astype(int) - first[..., 2]
    assert glow[0:4, 4:8].min() > 100  # the brightest patch: full light
    assert 40 < glow[0:4, 12:16].mean() < 100  # 0.04 of 0.25: two fifths of it, by the square root
    assert np.abs(glow[4:8]).max() == 0


def test_full_light_may_be_the_same_for_all_and_is_said():
    assert "Full light: 25.0%" in to_svg(picture())
    alone = to_svg(picture(top=1.0))
    assert "Full light: 100.0%" in alone
    assert images(alone)[0][0, 5, 0] < images(to_svg(picture()))[0][0, 5, 0]


def test_hidden_patches_are_covered_and_the_one_that_looks_is_framed():
    text = to_svg(picture(hidden=(6,)), title="Layer 1, head 2")
    assert text.count("#8A8F98") == 2
    assert text.count("#0072B2") == 1
    assert "Layer 1, head 2" in text


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (300, 200)])
def test_a_png_holds_the_colours_that_were_given(shape):
    colours = np.random.default_rng(1).integers(0, 256, (*shape, 3), np.uint8)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(svg.rgb_png(colours)))), colours)
