"""The font of pictures: what is said of it agrees with its files."""

import json
import re
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

import attnviz
from attnviz.base import pictures_font
from attnviz.base.rasterised import _font_for, png

WIDTHS = json.loads((Path(attnviz.__file__).parent / "canvas/scene/advance_widths.json").read_text("utf-8"))
PLAIN = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="24" font-family="{}"><text y="18">{}</text></svg>'


@pytest.mark.parametrize("weight", pictures_font.WEIGHTS)
def test_letters_and_their_widths_are_those_of_the_files(weight: int):
    font = TTFont(pictures_font.files("ttf")[weight])
    letters = {chr(code): name for code, name in font.getBestCmap().items() if code >= 32 and code != 0xFEFF}
    assert {name: WIDTHS[str(weight)][name] for name in letters} == {n: font["hmtx"][g][0] for n, g in letters.items()}
    listed = re.compile(f"[{pictures_font.LETTERS}]")
    assert {letter for letter in map(chr, range(32, 0xFF00)) if listed.match(letter)} == set(letters)


def test_a_png_is_drawn_in_the_font_and_a_sign_that_it_lacks_does_not_change_the_line_into_bold():
    own, other = (png(PLAIN.format(family, "mixture")) for family in ("'Source Sans 3', sans-serif", "sans-serif"))
    assert own != other
    signs = png(PLAIN.format("'Source Sans 3', sans-serif", "√64 mixed"))
    assert signs == png(PLAIN.format(_font_for("sans-serif"), "√64 mixed")), "in the system's usual font, upright"
