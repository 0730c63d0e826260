"""SVG written by hand: its words, boxes, paths and pictures, and the inks of a light and a dark page.

Text stays text. Where something must be as wide as its text, the width is estimated from the letters, since no font
can be measured here; `text_width` errs on the wide side.
"""

import base64
import html
import re
import struct
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from attnviz.base import pictures_font
from attnviz.figures.theme import FONT, K_VERMILION, MASKED, Q_BLUE, V_GREEN, readable

Background = Literal["white", "transparent", "dark"]
Anchor = Literal["start", "middle", "end"]

PAPER: dict[Background, str] = {"white": "#FFFFFF", "transparent": "none", "dark": "#14161C"}

_SIGNS = frozenset("−+=×÷≈<>±")  # as wide as a common font of Linux has them, as are digits
_NARROW, _WIDE = frozenset("iljtfrI.,:;'|!()[]{} ·’‘"), frozenset("mwMW@%—…")


@dataclass(frozen=True)
class Ink:
    """The colours that depend on the page: q, k and v as text and thin lines need them on its background."""

    paper: str  #: what is behind the picture, "none" where nothing is
    ground: str  #: the colour that the paper has or is taken to have
    text: str
    border: str
    dark: bool
    q: str
    k: str
    v: str


def ink_on(background: Background) -> Ink:
    """The ink for a background; a transparent one is taken to lie on white."""
    dark = background == "dark"
    q, k, v = (readable(each, dark=dark) for each in (Q_BLUE, K_VERMILION, V_GREEN))
    text, border = ("#E8EAED", "#343946") if dark else ("#1F2328", "#DCD8E3")
    return Ink(PAPER[background], PAPER["dark" if dark else "white"], text, border, dark, q, k, v)


@dataclass(frozen=True)
class Drawn:
    """A picture as SVG elements on an area of `width` x `height` pixels."""

    width: float
    height: float
    parts: list[str]


def number(value: float) -> str:
    """A length with at most two digits after the point."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else str(int(value))


def escaped(text: str) -> str:
    """Any text inside an element; characters that no XML may hold become a sign for "unreadable"."""
    return html.escape(re.sub(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text))


def visible(token: str) -> str:
    """A token as a label: line ends become signs, and one of spaces only shows how many."""
    one_line = token.replace("\r", " ").replace("\n", "↵").replace("\t", "⇥")
    return one_line if one_line.strip() else "␣" * max(1, len(token))


def text_width(text: str, size: float) -> float:
    """About how many pixels `text` takes."""
    return size * sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in _NARROW:
        return 0.34
    if letter in _SIGNS:
        return 0.84
    if letter.isdecimal():
        return 0.64
    return 0.9 if letter in _WIDE else 0.7 if letter.isupper() else 0.58


def cut(text: str, room: float, size: float) -> str:
    """`text` shortened at its end until it is at most `room` pixels wide, or one letter long."""
    if text_width(text, size) <= room:
        return text
    kept, taken = "", text_width("…", size)
    for letter in text:
        taken += size * _letter_width(letter)
        if kept and taken > room:
            break
        kept += letter
    return kept + "…"


def label_step(cell: float, need: float) -> int:
    """Every how many tokens a label is written, when a token has `cell` pixels and a label needs `need`."""
    return next((step for step in (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500) if step * cell >= need), 1000)


def words(
    text: str,
    x: float,
    y: float,
    *,
    size: float = 12,
    fill: str = "",
    anchor: Anchor = "start",
    weight: int = 0,
    opacity: float = 1,
    turn: float = 0,
    italic: bool = False,
) -> str:
    """A line of text whose middle is at height `y`; `turn` degrees about its anchor, clockwise."""
    given = _attributes(
        {
            "x": x,
            "y": y + 0.355 * size,
            "font-size": size,
            "fill": fill,
            "text-anchor": "" if anchor == "start" else anchor,
            "font-weight": weight or "",
            "font-style": "italic" if italic else "",
            "opacity": opacity if opacity < 1 else "",
            "transform": f"rotate({number(turn)} {number(x)} {number(y)})" if turn else "",
        }
    )
    return f"<text {given}>{escaped(text)}</text>"


def box(
    x: float,
    y: float,
    w: float,
    h: float,
    *,
    fill: str = "none",
    stroke: str = "",
    width: float = 1,
    radius: float = 0,
    opacity: float = 1,
    dash: str = "",
) -> str:
    """A rectangle, filled or framed."""
    given: dict[str, float | str] = {
        "x": x,
        "y": y,
        "width": w,
        "height": h,
        "fill": fill,
        "stroke": stroke,
        "stroke-width": width if stroke else "",
        "rx": radius or "",
        "opacity": opacity if opacity < 1 else "",
        "stroke-dasharray": dash,
    }
    return f"<rect {_attributes(given)}/>"


def line(x0: float, y0: float, x1: float, y1: float, *, stroke: str, width: float = 1, dash: str = "") -> str:
    """A straight line."""
    given: dict[str, float | str] = {
        "d": f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}",
        "fill": "none",
        "stroke": stroke,
        "stroke-width": width,
        "stroke-dasharray": dash,
    }
    return f"<path {_attributes(given)}/>"


def _attributes(given: Mapping[str, float | str]) -> str:
    """The attributes of an element; those that are empty are left out."""
    return " ".join(
        f'{name}="{value if isinstance(value, str) else number(value)}"' for name, value in given.items() if value != ""
    )


def pill(
    text: str, x: float, y: float, *, size: float, colour: str, ground: str, anchor: Anchor, turn: float = 0
) -> str:
    """A lit label: white on its colour, as on the screen."""
    w, h = text_width(text, size) + 8, size + 6
    left = {"start": x - 4, "middle": x - w / 2, "end": x - w + 4}[anchor]
    inside = box(left, y - h / 2, w, h, fill=colour, stroke=ground, width=1.5, radius=4) + words(
        text, x, y, size=size, fill="#FFFFFF", anchor=anchor
    )
    return f'<g transform="rotate({number(turn)} {number(x)} {number(y)})">{inside}</g>' if turn else inside


def hatching(ink: Ink) -> str:
    """The definition of the pattern "masked", the hatch of cells that the mask hides."""
    faint, strong = (0.22, 0.55) if ink.dark else (0.26, 0.7)
    return (
        '<pattern id="masked" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<rect width="6" height="6" fill="{MASKED}" opacity="{faint}"/>'
        f'<path d="M-1 1L1 -1M0 6L6 0M5 7L7 5" stroke="{MASKED}" opacity="{strong}"/></pattern>'
    )


def indexed_png(codes: np.ndarray, palette: Sequence[str], clear: int | None = None) -> bytes:
    """A PNG of uint8 `codes` (rows, columns) in the colours of `palette`; the code `clear` is transparent."""
    chunks = [(b"PLTE", b"".join(bytes.fromhex(colour[1:]) for colour in palette))]
    if clear is not None:
        chunks.append((b"tRNS", bytes(0 if i == clear else 255 for i in range(clear + 1))))
    return _png(codes, 3, chunks)


def _png(values: np.ndarray, kind: int, chunks: Sequence[tuple[bytes, bytes]] = ()) -> bytes:
    """A PNG file of uint8 `values` (rows, columns, ...): places in a palette (`kind` 3), or colours (2)."""
    rows, columns = values.shape[:2]
    header = struct.pack(">IIBBBBB", columns, rows, 8, kind, 0, 0, 0)
    lines = np.pad(values.reshape(rows, -1), ((0, 0), (1, 0)))  # each line begins with its filter, 0: none
    data = zlib.compress(lines.astype(np.uint8).tobytes(), 9)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in [(b"IHDR", header), *chunks, (b"IDAT", data), (b"IEND", b"")]
    )


def pixels(png: bytes, x: float, y: float, w: float, h: float, *, smooth: bool = False) -> str:
    """A PNG as part of the picture, its pixels kept as squares unless it is drawn smaller than it is."""
    kept = "" if smooth else ' image-rendering="optimizeSpeed" style="image-rendering:pixelated"'
    address = "data:image/png;base64," + base64.b64encode(png).decode()
    return (
        f'<image x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}" '
        f'preserveAspectRatio="none"{kept} href="{address}"/>'
    )


def document(drawn: Drawn, ink: Ink, definitions: str = "") -> str:
    """A whole SVG file."""
    size = f'width="{number(drawn.width)}" height="{number(drawn.height)}"'
    view = f'viewBox="0 0 {number(drawn.width)} {number(drawn.height)}"'
    paper = "" if ink.paper == "none" else box(0, 0, drawn.width, drawn.height, fill=ink.paper)
    defined = f"<defs>{definitions}</defs>" if definitions else ""
    family = html.escape(FONT)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view} font-family="{family}" fill="{ink.text}">'
        f"<style>{pictures_font.style()}</style>{defined}{paper}{''.join(drawn.parts)}</svg>"
    )
