"""A picture made ready for a file: its background, a title above it, a caption below it, nothing cut off.

One writer for every SVG that Python draws: what knows how to draw itself is framed here, and so is a Plotly chart,
whose own SVG the browser puts in the place of `CHART`.
"""

from typing import Protocol, runtime_checkable

from attnviz.figures import svg
from attnviz.figures.svg import Background, Drawn, Ink, ink_on
from attnviz.figures.title_lines import wrapped

MARGIN, NARROWEST = 20, 420


@runtime_checkable
class Picture(Protocol):
    """What can draw itself as SVG."""

    @property
    def title(self) -> str: ...

    def drawn(self, ink: Ink, bar: bool = True) -> Drawn: ...


def to_svg(
    picture: Picture,
    *,
    background: Background = "white",
    title: str | None = None,
    caption: str | None = None,
    colorbar: bool = True,
) -> str:
    """The whole file. `title=None` leaves the title out, as does `caption=None` the caption."""
    ink = ink_on(background)
    return svg.document(framed(picture.drawn(ink, colorbar), ink, title, caption), ink, svg.hatching(ink))


def framed(drawn: Drawn, ink: Ink, title: str | None, caption: str | None, margin: float = MARGIN) -> Drawn:
    """The drawing with its title above and its caption below, in as many lines as they need."""
    width = max(drawn.width + 2 * margin, NARROWEST)
    heading = wrapped(title or "", (width - 2 * MARGIN) / 11.2)
    lines = wrapped(caption or "", (width - 2 * MARGIN) / 7.0)
    y, parts = float(margin), []
    for text in heading:
        parts.append(svg.words(text, MARGIN, max(y, 14.0) + 10, size=18, weight=600))
        y = max(y, 14.0) + 24
    y += 12 if heading else 0
    parts.append(f'<g transform="translate({svg.number(margin)} {svg.number(y)})">{"".join(drawn.parts)}</g>')
    y += drawn.height + (14 if lines else 0)
    for text in lines:
        parts.append(svg.words(text, MARGIN, y + 8, size=12, opacity=0.85))
        y += 18
    return Drawn(width, y + (MARGIN if lines else margin), parts)
