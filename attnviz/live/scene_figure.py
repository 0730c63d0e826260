"""Figures drawn by the canvas's own JavaScript, in an engine inside Python: a file shows what the screen shows."""

import io
import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from attnviz.base.extras import explain_missing_extra
from attnviz.base.message import Problem
from attnviz.base.rasterised import font_style, render_png
from attnviz.base.words import N_
from attnviz.figures.theme import Background

if TYPE_CHECKING:
    from PIL import Image

BUNDLE = Path(__file__).parent / "bundle/figure_engine.js"

MOST_FRAMES = 30  #: of a film, which takes about a second


class FigurePart(Protocol):
    """One picture of a figure, as the JavaScript takes it (`canvas/scene/figure_engine.js`)."""

    @property
    def scene(self) -> str:
        """Name of the picture in the engine's table."""

    @property
    def header(self) -> dict[str, Any]:
        """Its description as JSON, "title" included."""

    @property
    def payload(self) -> bytes:
        """The numbers behind it."""


@dataclass(frozen=True)
class FileOptions:
    """Options of a saved file. `title`, `caption`, `credit` None: the figure's own; empty: none."""

    background: Background = "white"
    title: str | None = None
    caption: str | None = None
    credit: str | None = None
    bar: bool = True


@dataclass(frozen=True)
class FrameOptions(FileOptions):
    """Options of a film: on paper, of which transparent is white; title and caption stand on every frame.

    `title=None`: the film's own name.
    """

    width: int = 1280
    height: int = 720
    start: float = 0.0  #: which part of it: times from 0 to 1
    end: float = 1.0


@dataclass(frozen=True)
class SceneFigure:
    """A figure that the canvas's JavaScript draws; its parts stand side by side, each below its own title.

    `film` is what its film is made of, with the numbers of all frames; None where nothing moves.
    """

    parts: tuple[FigurePart, ...]
    title: str = ""
    film: FigurePart | None = None

    def to_svg(
        self,
        *,
        background: Background = "white",
        title: str | None = None,
        caption: str | None = None,
        credit: str = "",
        colorbar: bool = True,
        brings_font: bool = True,
    ) -> str:
        """The SVG file. `title=None` leaves the title out, as does `caption=None` the caption.

        `credit`: the line at its foot that says what made it.
        """
        texts = {"title": title or "", "caption": caption or "", "credit": credit}
        look = {"background": background, "bar": colorbar} | texts
        return _call_engine("attnvizFigure", self.parts, look | {"fonts": font_style() if brings_font else ""})

    def frames(self, options: FrameOptions) -> tuple[list[str], float]:
        """Frames of its film, SVG each without a font, and seconds that all take. A Problem where nothing moves."""
        if self.film is None:
            raise Problem("This picture does not move: it can be had as SVG and PNG.")
        look = {
            "background": options.background,
            "title": options.title or "",
            "caption": options.caption or "",
            "bar": options.bar,
            "width": options.width,
            "height": options.height,
            "from": options.start,
            "to": options.end,
            "most": MOST_FRAMES,
        }
        film = json.loads(_call_engine("attnvizFilm", (self.film,), look))
        return film["frames"], film["seconds"]


def _call_engine(function: str, parts: Sequence[FigurePart], look: Mapping[str, Any]) -> str:
    payloads = [component.payload for component in parts]
    headers = [
        {"scene": component.scene, "header": component.header, "size": len(payload)}
        for component, payload in zip(parts, payloads, strict=True)
    ]
    numbers = b"".join(payloads).decode("latin-1")
    return str(_engine().get(function)(json.dumps(headers, default=vars), numbers, json.dumps(look)))


_ENGINES = threading.local()  # one engine serves one thread alone


def _engine() -> Any:
    """The bundle, loaded once in each thread."""
    if not hasattr(_ENGINES, "context"):
        with explain_missing_extra(N_("A figure of a head")):
            import quickjs  # here: only a file needs it
        context = quickjs.Context()
        context.eval(BUNDLE.read_text("utf-8"))
        _ENGINES.context = context
    return _ENGINES.context


#: of films, as GIF and WebP: frames by the canvas's JavaScript, pixels by resvg
REST = 1500  #: milliseconds that the last frame stays
FASTEST = 20  #: milliseconds of a frame at least: shorter ones of a GIF are shown as 100


def film_bytes(figure: SceneFigure, kind: str, options: FrameOptions) -> bytes:
    """The film of a figure as a "gif" or "webp" that plays on and on. A Problem where nothing moves."""
    with explain_missing_extra(N_("A film")):
        from PIL import Image  # here: only a film needs it
    frames, seconds = figure.frames(options)
    with ThreadPoolExecutor() as threads:
        pictures = list(threads.map(lambda svg: Image.open(io.BytesIO(render_png(svg, 1.0))).convert("RGB"), frames))
    milliseconds = max(FASTEST, round(1000 * seconds / max(1, len(pictures) - 1)))
    durations = [milliseconds] * (len(pictures) - 1) + [milliseconds + REST]
    out = io.BytesIO()
    # method 0 takes as long and makes 4 times the bytes or more
    how: dict[str, Any] = {"lossless": True, "quality": 0, "method": 1}
    if kind == "gif":
        pictures, how = _share_palette(pictures), {}
    pictures[0].save(out, kind, save_all=True, append_images=pictures[1:], duration=durations, loop=0, **how)
    return out.getvalue()


def _share_palette(pictures: "list[Image.Image]") -> "list[Image.Image]":
    """The frames in 256 colours, the same for all: those of some of them side by side."""
    from PIL import Image

    some = pictures[:: max(1, len(pictures) // 4)]
    width, height = some[0].size
    together = Image.new("RGB", (width * len(some), height))
    for at, picture in enumerate(some):
        together.paste(picture, (width * at, 0))
    palette = together.quantize(256, dither=Image.Dither.NONE)
    return [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
