"""A PNG never loses its words without a sound: where no font has a script's letters, it is refused."""

import re
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from attnviz.base import rasterised
from attnviz.base.message import Problem

pytest.importorskip("resvg_py")

LATIN = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"><text x="2" y="15">it</text></svg>'
CHINESE = LATIN.replace("it", "注意力")


def machine(having: str) -> Callable[[], Any]:
    """A rasteriser on a machine whose fonts have these letters alone; it leaves the others out, as resvg does."""

    def draw(svg_string: str, zoom: float = 1.0, **_fonts: object) -> bytes:
        words = "".join(re.findall(r">([^<>]*)</text>", svg_string))
        return b"PNG" + "".join(letter for letter in words if letter in having).encode()

    return lambda: draw


@pytest.mark.parametrize(
    "having, svg, refused",
    [
        ("A", LATIN, False),
        ("A", CHINESE, True),
        ("A注意力", CHINESE, False),
        ("", LATIN, True),
    ],
)
def test_a_script_without_a_font_is_refused(monkeypatch: pytest.MonkeyPatch, having: str, svg: str, refused: bool):
    monkeypatch.setattr(rasterised, "_resvg", machine(having))
    rasterised._has_font.cache_clear()
    try:
        if refused:
            with pytest.raises(Problem, match="Chinese" if svg is CHINESE else "needs a font for its words"):
                rasterised.render_png(svg)
        else:
            assert rasterised.render_png(svg)
    finally:
        rasterised._has_font.cache_clear()


@pytest.mark.skipif(shutil.which("fc-match") is None, reason="asks the system which font is for Chinese")
def test_the_first_chinese_letters_of_a_line_do_not_turn_its_numbers_into_another_font():
    if not rasterised._has_font(rasterised.CHINESE):
        pytest.skip("this machine has no Chinese font")
    plain = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="40"{}><text x="2" y="30">第 13 层</text></svg>'
    named = plain.format(f' font-family="{rasterised._match_font(rasterised.CHINESE_TEXT)}"')
    assert rasterised.render_png(plain.format(' font-family="system-ui, sans-serif"')) == rasterised.render_png(named)
