"""An SVG as a PNG, by resvg: no browser, and nothing of the system but its fonts."""

from __future__ import annotations

import html
import shutil
import subprocess
from functools import cache
from typing import Any

from attnviz.extras import needed_for

_ONE_WORD = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{}</svg>'


class NoFont(RuntimeError):
    """Words in a picture would be missing without a sound."""

    def __init__(self) -> None:
        super().__init__(
            "A PNG needs a font for its words and this machine has none: install one (on Debian fonts-dejavu-core), "
            "or save the figure as SVG"
        )


def png(svg: str, scale: float = 2.0) -> bytes:
    """The picture with `scale` pixels for each of its own, as the app's “PNG 2x” has them."""
    if "<text" in svg and not _has_a_font():
        raise NoFont
    return bytes(_resvg()(svg_string=svg.replace("system-ui", _system_font()), zoom=scale))


@cache
def _system_font() -> str:
    """The font that a browser on this machine takes for `system-ui`, which resvg does not know."""
    ask = shutil.which("fc-match")
    if ask is None:
        return "system-ui"
    done = subprocess.run([ask, "-f", "%{family[0]}", "system-ui"], capture_output=True, text=True, check=False)
    return html.escape(done.stdout.strip()) or "system-ui"


@cache
def _has_a_font() -> bool:
    """resvg leaves out what it has no font for."""
    draw = _resvg()
    word = '<text x="2" y="15" font-family="sans-serif">A</text>'
    return bool(draw(svg_string=_ONE_WORD.format(word)) != draw(svg_string=_ONE_WORD.format("")))


def _resvg() -> Any:
    with needed_for("A PNG"):
        from resvg_py import svg_to_bytes  # here: only PNG needs it
    return svg_to_bytes
