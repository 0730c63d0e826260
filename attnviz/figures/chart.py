"""Charts as plain dictionaries of series and axes, which Plotly validates once.

Every series takes further Plotly properties by keyword. `hover` is Plotly's hover template; "" turns hovering off.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.rounding import Rounded, format_number
from attnviz.figures.end_labels import label_ends
from attnviz.figures.theme import AXIS, THEORY, Figure, frame
from attnviz.figures.title_lines import break_titles, margin_above

Series = dict[str, Any]
_SHARE = re.compile(r"%\{([xy]):(\.\d%)\}")
POWERS: dict[str, Any] = {"type": "log", "dtick": 1, "exponentformat": "power"}  #: a tick at each power of ten
BARE: dict[str, Any] = {"showgrid": False, "zeroline": False}  #: an axis of names or of places, not of amounts
#: and below them, where a phone leaves its whole width to the cells
BAR_BELOW: dict[str, Any] = {
    "thickness": 12,
    "outlinewidth": 0,
    "orientation": "h",
    "len": 0.6,
    "x": 1,
    "xanchor": "right",
    "y": 0,
    "yanchor": "top",
}
THIN_BAR: dict[str, Any] = {"thickness": 12, "outlinewidth": 0}  #: how the bar of colours looks beside cells


def line(
    x: Any,
    y: Any,
    name: str | None = None,
    colour: str | None = None,
    *,
    width: float | None = 2.5,
    dash: str | None = None,
    shape: str | None = None,
    dots: float | bool = False,
    hover: str | None = None,
    **options: Any,
) -> Series:
    """A line; `dots`: whether its points have markers, or the size of the markers."""
    properties = {"x": x, "y": y, "mode": "lines+markers" if dots else "lines"}
    properties["line"] = _drop_none(color=colour, width=width, dash=dash, shape=shape)
    properties["marker"] = None if isinstance(dots, bool) else {"size": dots}
    return _series("scatter", name, hover, properties | options)


def band(x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str, **options: Any) -> Series:
    """The area between two lines, filled with a colour."""
    edge = np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]])
    return line(*edge, width=0, hover="", fill="toself", fillcolor=colour, **options)


def points(
    x: Any,
    y: Any,
    name: str | None = None,
    colour: Any = None,
    *,
    size: Any = None,
    symbol: Any = None,
    text: Sequence[str] | None = None,
    at: Any = None,
    hover: str | None = None,
    marker: Mapping[str, Any] | None = None,
    **options: Any,
) -> Series:
    """Markers with `text` beside them; `at` is Plotly's text position."""
    properties = {
        "x": x,
        "y": y,
        "mode": "markers" if text is None else "markers+text",
        "text": text,
        "textposition": at,
    }
    properties["marker"] = _drop_none(color=colour, size=size, symbol=symbol) | dict(marker or {}) or None
    return _series("scatter", name, hover, properties | options)


def bars(
    x: Any,
    y: Any,
    name: str | None = None,
    colour: Any = None,
    *,
    across: bool = False,
    numbers: str | None = None,
    hover: str | None = None,
    marker: Mapping[str, Any] | None = None,
    **options: Any,
) -> Series:
    """Vertical bars, or horizontal ones (`across`); `numbers` is the format of the number at the end of each."""
    properties: Series = {"x": x, "y": y, "orientation": "h" if across else None}
    properties["marker"] = _drop_none(color=colour) | dict(marker or {}) or None
    if numbers is not None:
        text = [format(Rounded(value), numbers) for value in (x if across else y)]
        properties |= {"text": text, "textposition": "outside", "cliponaxis": False}
    return _series("bar", name, hover, properties | options)


def cells(
    z: Any,
    colours: Any,
    low: float | None = None,
    high: float | None = None,
    *,
    bar: Mapping[str, Any] | None = None,
    gap: int = 0,
    hover: str | None = None,
    **options: Any,
) -> Series:
    """Coloured cells (rows, columns); `bar` is Plotly's colour bar, None: no bar.

    `colours` None: the colour axis of the chart.
    """
    properties = {"z": z, "colorscale": colours, "zmin": low, "zmax": high, "xgap": gap or None, "ygap": gap or None}
    properties |= {"colorbar": bar, "showscale": False if bar is None and colours is not None else None}
    return _series("heatmap", options.pop("name", None), hover, properties | options)


def axis(
    title: str | None = None,
    size: int | None = None,
    labels: Mapping[Any, str] | Iterable[Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """An axis with a title of `size` pixels; `labels` are tick positions, or a mapping from position to text."""
    if title is not None:
        options["title"] = {"text": title} | ({"font": {"size": size}} if size else {})
    if labels is not None:
        options["tickvals"] = list(labels)
    if isinstance(labels, Mapping):
        options["ticktext"] = list(labels.values())
    return options


def mark_x(x: float, colour: str = THEORY, dash: str | None = "dot", width: float | None = 1, **options: Any) -> Series:
    """A vertical line through the whole chart."""
    ends = {"type": "line", "x0": x, "x1": x, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}
    return ends | {"line": _drop_none(color=colour, dash=dash, width=width)} | options


def mark_y(y: float, colour: str = THEORY, dash: str | None = "dash", width: float | None = 1) -> Series:
    """A horizontal line through the whole chart."""
    ends = {"type": "line", "x0": 0, "x1": 1, "xref": "x domain", "y0": y, "y1": y, "yref": "y"}
    return ends | {"line": _drop_none(color=colour, dash=dash, width=width)}


def note(x: float, y: float, text: str, **options: Any) -> dict[str, Any]:
    """Text inside the chart; on a logarithmic axis the position is an exponent of ten."""
    return {"x": x, "y": y, "text": text, "showarrow": False} | options


def chart(
    series: Iterable[Series],
    x: Mapping[str, Any] | None = None,
    y: Mapping[str, Any] | None = None,
    *,
    height: int | None = None,
    title: str | None = None,
    here: float | None = None,
    marks: Iterable[Series] = (),
    notes: Iterable[Mapping[str, Any]] = (),
    **options: Any,
) -> Figure:
    """A figure of series over axes `x` and `y`, with shapes (`marks`), a vertical line at `here`, and `notes`."""
    plain, shapes = frame(title, height), [*marks, *([] if here is None else [mark_x(here)])]
    plain["legend"] |= options.pop("legend", {})
    options |= _drop_none(shapes=shapes or None, annotations=list(notes) or None)
    fig = go.Figure(list(series), plain | {"xaxis": AXIS | dict(x or {}), "yaxis": AXIS | dict(y or {})} | options)
    break_titles(label_ends(fig))
    return fig


class Panel(NamedTuple):
    """One of several charts side by side: its series, axes, and shapes over them."""

    series: Iterable[Any]
    x: Mapping[str, Any] = {}
    y: Mapping[str, Any] = {}
    marks: Iterable[Series] = ()


def panels(
    parts: Sequence[Panel],
    columns: int,
    *,
    spacing: Mapping[str, Any],
    titles: Sequence[str] | None = None,
    titles_size: int | None = None,
    height: int,
    title: str | None = None,
    top: int | None = None,
    **options: Any,
) -> Figure:
    """A figure of charts side by side, `columns` in a row; `spacing` is Plotly's, `top` the margin above titles."""
    fig = make_subplots(-(-len(parts) // columns), columns, subplot_titles=titles, **spacing)
    for number, panel in enumerate(parts):
        cell = {"row": number // columns + 1, "col": number % columns + 1}
        for series in panel.series:
            fig.add_trace(series, **cell)
        fig.update_xaxes(**panel.x, **cell).update_yaxes(**panel.y, **cell)
        for mark in panel.marks:
            fig.add_shape(mark, **cell)
    if titles_size is not None:
        fig.update_annotations(font_size=titles_size)
    fig.update_layout(frame(title, height) | options).update_xaxes(AXIS).update_yaxes(AXIS)
    break_titles(label_ends(fig, [str(n) if n > 1 else "" for n in range(columns, len(parts) + 1, columns)]))
    return fig if top is None else fig.update_layout(margin={"t": margin_above(fig, top)})


def _series(kind: str, name: str | None, hover: str | None, options: Series) -> Series:
    if hover and "hovertext" not in options and (share := _SHARE.search(hover)):
        # d3, which Plotly formats with, would write 100.0% for 0.9999
        said = [format_number(np.nan if value is None else value, share[2]) for value in options[share[1]]]
        hover, options = _SHARE.sub("%{hovertext}", hover), options | {"hovertext": said}
    if hover:
        options = {"hovertemplate": hover if "<extra>" in hover else f"{hover}<extra>{name or ''}</extra>"} | options
    elif hover is not None:
        options = {"hoverinfo": "skip"} | options
    return {"type": kind} | _drop_none(name=name, **options)


def _drop_none(**properties: Any) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if value is not None}
