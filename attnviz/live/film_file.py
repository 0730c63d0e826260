"""Films as GIF and WebP: frames by the canvas's JavaScript, pixels by resvg."""

import io
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from attnviz.base.extras import explain_missing_extra
from attnviz.base.rasterised import render_png
from attnviz.base.words import N_
from attnviz.live.scene_figure import FrameOptions, SceneFigure

if TYPE_CHECKING:
    from PIL import Image

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
