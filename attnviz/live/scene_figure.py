"""Figures drawn by the canvas's own JavaScript, in an engine inside Python: a file shows what the screen shows."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from attnviz.base import pictures_font
from attnviz.base.extras import needed_for
from attnviz.base.words import N_
from attnviz.figures.svg import Background
from attnviz.live import canvas_wording

BUNDLE = Path(__file__).parent / "bundle/figure_engine.js"

MatrixKind = Literal["weights", "values", "diff", "scores"]


@dataclass(frozen=True)
class MatrixFigure:
    """One matrix (Q, K), NaN where masked: as cells, or as lines from queries to keys.

    kind "weights": 0 to 1, or up to the largest (`full_range=False`); "values": up to the largest; "diff": -1 to 1,
    "scores": up to the largest on both sides of 0. `root`: colours in square-root steps. `segments`: rows and columns
    where a second sentence begins. `unit` names a value, `top` is the end of the scale where others must compare.
    `pins` are rows ("q") and columns ("k"), `cell` a query and a key. `others` are further heads of the layer by
    number, laid over head number `head`: for lines.
    """

    values: np.ndarray
    rows: Sequence[str]
    cols: Sequence[str]
    kind: MatrixKind = "weights"
    full_range: bool = True
    root: bool = False
    pins: Sequence[tuple[str, int]] = ()
    cell: tuple[int, int] | None = None
    segments: tuple[Sequence[int], Sequence[int]] = ((), ())
    title: str = ""
    unit: str = ""
    top: float | None = None
    lines: bool = False
    head: int = 0
    others: Mapping[int, np.ndarray] = field(default_factory=dict)

    @property
    def header(self) -> dict[str, Any]:
        """What the JavaScript is told of it, as JSON."""
        heads = [self.values, *self.others.values()]
        largest = max(float(np.abs(np.nan_to_num(each, posinf=0, neginf=0)).max(initial=0)) for each in heads) or 1.0
        whole = self.kind in ("weights", "diff")
        return {
            "q": list(self.rows),
            "k": list(self.cols),
            "shape": [len(self.rows), len(self.cols)],
            "signed": self.kind in ("diff", "scores"),
            "top": max(largest, 1.0) if whole else largest,
            "scale": {"top": self.top or (1.0 if whole and self.full_range else largest), "root": self.root},
            "title": self.title,
            "unit": self.unit or canvas_wording.unit(self.kind),
            "segments": [list(places) for places in self.segments],
            "pins": {"tokens": [list(pin) for pin in self.pins], "cell": None if self.cell is None else [*self.cell]},
            "heads": [self.head, *self.others],
            "colours": canvas_wording.colours(),
            "words": canvas_wording.figure(),
        }

    @property
    def payload(self) -> bytes:
        """The numbers, one matrix after the other."""
        return b"".join(np.asarray(each, "<f4").tobytes() for each in (self.values, *self.others.values()))


@dataclass(frozen=True)
class SceneFigure:
    """A figure that the canvas's JavaScript draws; its parts stand side by side, each below its own title."""

    parts: tuple[MatrixFigure, ...]
    title: str = ""

    def to_svg(
        self,
        *,
        background: Background = "white",
        title: str | None = None,
        caption: str | None = None,
        colorbar: bool = True,
    ) -> str:
        """The SVG file. `title=None` leaves the title out, as does `caption=None` the caption."""
        payloads = [part.payload for part in self.parts]
        headers = [
            {"kind": "lines" if part.lines else "head", "header": part.header, "size": len(payload)}
            for part, payload in zip(self.parts, payloads, strict=True)
        ]
        look = {"background": background, "title": title or "", "caption": caption or "", "bar": colorbar}
        numbers = b"".join(payloads).decode("latin-1")
        return str(_engine()(json.dumps(headers), numbers, json.dumps(look | {"fonts": _fonts()})))


@cache
def _fonts() -> str:
    """The style that brings the figures' font along, so that a file looks alike everywhere."""
    return "".join(
        f"@font-face{{font-family:'{pictures_font.FAMILY}';font-weight:{weight};src:url(data:font/woff2;base64,"
        f"{base64.b64encode(file.read_bytes()).decode()}) format('woff2')}}"
        for weight, file in pictures_font.files("woff2").items()
    )


def _engine() -> Any:
    """The bundle's one function, in a context of its own: one context serves one thread alone."""
    with needed_for(N_("A figure of a head")):
        import quickjs  # here: only a file needs it
    context = quickjs.Context()
    context.eval(BUNDLE.read_text("utf-8"))
    return context.get("attnvizFigure")
