"""A PNG never loses its words without a sound: where no font has a script's letters, it is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from attnviz import rasterised
from attnviz.rasterised import NoFont

pytest.importorskip("resvg_py")

LATIN = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"><text x="2" y="15">it</text></svg>'
CHINESE = LATIN.replace("it", "注意力")


def machine(having: str) -> Callable[[], Any]:
    """A rasteriser on a machine whose fonts have these letters alone; it leaves the others out, as resvg does."""

    def draw(svg_string: str, zoom: float = 1.0) -> bytes:
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
    rasterised._has_a_font.cache_clear()
    try:
        if refused:
            with pytest.raises(NoFont, match="Chinese" if svg is CHINESE else "needs a font for its words"):
                rasterised.png(svg)
        else:
            assert rasterised.png(svg)
    finally:
        rasterised._has_a_font.cache_clear()
