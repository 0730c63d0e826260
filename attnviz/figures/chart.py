"""Charts as plain data, which Plotly checks once: a page says its series and axes, what a pointer reads, and labels.

Every series takes further properties by the names that Plotly gives them. `hover` is what a pointer reads, in Plotly's
template, beside the name of the series; "" where a series answers no pointer.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attnviz.base.rounding import Rounded
from attnviz.figures.theme import AXIS, THEORY, Figure, frame
from attnviz.figures.title_lines import break_titles, margin_above, place_legend_below

Series = dict[str, Any]
POWERS: dict[str, Any] = {"type": "log", "dtick": 1, "exponentformat": "power"}  #: a tick at each power of ten
BARE: dict[str, Any] = {"showgrid": False, "zeroline": False}  #: an axis of names or of places, not of amounts
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
    **look: Any,
) -> Series:
    """A line; `dots`: whether it has a mark at each of its points, or how large these are."""
    of = {"x": x, "y": y, "mode": "lines+markers" if dots else "lines"}
    of["line"] = _given(color=colour, width=width, dash=dash, shape=shape)
    of["marker"] = None if isinstance(dots, bool) else {"size": dots}
    return _series("scatter", name, hover, of | look)


def band(x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str, **look: Any) -> Series:
    """The room between two lines, filled with a colour."""
    edge = np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]])
    return line(*edge, width=0, hover="", fill="toself", fillcolor=colour, **look)


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
    **look: Any,
) -> Series:
    """Marks, and beside them `text`, on the side that `at` says."""
    of = {"x": x, "y": y, "mode": "markers" if text is None else "markers+text", "text": text, "textposition": at}
    of["marker"] = _given(color=colour, size=size, symbol=symbol) | dict(marker or {}) or None
    return _series("scatter", name, hover, of | look)


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
    **look: Any,
) -> Series:
    """Upright bars, or bars `across`; `numbers` is the format of the number that stands at the end of each."""
    of: Series = {"x": x, "y": y, "orientation": "h" if across else None}
    of["marker"] = _given(color=colour) | dict(marker or {}) or None
    if numbers is not None:
        text = [format(Rounded(value), numbers) for value in (x if across else y)]
        of |= {"text": text, "textposition": "outside", "cliponaxis": False}
    return _series("bar", name, hover, of | look)


def cells(
    z: Any,
    colours: Any,
    low: float | None = None,
    high: float | None = None,
    *,
    bar: Mapping[str, Any] | None = None,
    gap: int = 0,
    hover: str | None = None,
    **look: Any,
) -> Series:
    """Coloured cells (rows, columns); `bar`: how the bar of their colours looks, None where there is none.

    Without `colours` they are those of the chart's own axis of colours.
    """
    of = {"z": z, "colorscale": colours, "zmin": low, "zmax": high, "xgap": gap or None, "ygap": gap or None}
    of |= {"colorbar": bar, "showscale": False if bar is None and colours is not None else None}
    return _series("heatmap", look.pop("name", None), hover, of | look)


def axis(
    title: str | None = None,
    size: int | None = None,
    labels: Mapping[Any, str] | Iterable[Any] | None = None,
    **look: Any,
) -> dict[str, Any]:
    """An axis, its title in letters of this size; `labels` are the places that it names, or what it says at each."""
    if title is not None:
        look["title"] = {"text": title} | ({"font": {"size": size}} if size else {})
    if labels is not None:
        look["tickvals"] = list(labels)
    if isinstance(labels, Mapping):
        look["ticktext"] = list(labels.values())
    return look


def mark_x(x: float, colour: str = THEORY, dash: str | None = "dot", width: float | None = 1, **look: Any) -> Series:
    """An upright line through the whole chart."""
    ends = {"type": "line", "x0": x, "x1": x, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain"}
    return ends | {"line": _given(color=colour, dash=dash, width=width)} | look


def mark_y(y: float, colour: str = THEORY, dash: str | None = "dash", width: float | None = 1) -> Series:
    """A level line through the whole chart."""
    ends = {"type": "line", "x0": 0, "x1": 1, "xref": "x domain", "y0": y, "y1": y, "yref": "y"}
    return ends | {"line": _given(color=colour, dash=dash, width=width)}


def note(x: float, y: float, text: str, **look: Any) -> dict[str, Any]:
    """Words in the chart itself; on a logarithmic axis the place is an exponent of ten."""
    return {"x": x, "y": y, "text": text, "showarrow": False} | look


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
    legend_below: bool = False,
    **look: Any,
) -> Figure:
    """Series over the axes `x` and `y`, with `marks` over both, the chosen place `here`, and `notes`."""
    plain, shapes = frame(title, height), [*marks, *([] if here is None else [mark_x(here)])]
    plain["legend"] |= look.pop("legend", {})
    look |= _given(shapes=shapes or None, annotations=list(notes) or None)
    fig = go.Figure(list(series), plain | {"xaxis": AXIS | dict(x or {}), "yaxis": AXIS | dict(y or {})} | look)
    break_titles(fig)
    return fig.update_layout(legend=place_legend_below()) if legend_below else fig


class Panel(NamedTuple):
    """One of several charts beside each other: its series, its axes, and the marks over both."""

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
    **look: Any,
) -> Figure:
    """Charts side by side, so many in a row; `spacing` is Plotly's, `top` the margin above titles of one line."""
    fig = make_subplots(-(-len(parts) // columns), columns, subplot_titles=titles, **spacing)
    for number, part in enumerate(parts):
        at = {"row": number // columns + 1, "col": number % columns + 1}
        for one in part.series:
            fig.add_trace(one, **at)
        fig.update_xaxes(**part.x, **at).update_yaxes(**part.y, **at)
        for mark in part.marks:
            fig.add_shape(mark, **at)
    if titles_size is not None:
        fig.update_annotations(font_size=titles_size)
    fig.update_layout(frame(title, height) | look).update_xaxes(AXIS).update_yaxes(AXIS)
    break_titles(fig)
    return fig if top is None else fig.update_layout(margin={"t": margin_above(fig, top)})


def _series(kind: str, name: str | None, hover: str | None, look: Series) -> Series:
    if hover:
        look = {"hovertemplate": hover if "<extra>" in hover else f"{hover}<extra>{name or ''}</extra>"} | look
    elif hover is not None:
        look = {"hoverinfo": "skip"} | look
    return {"type": kind} | _given(name=name, **look)


def _given(**properties: Any) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if value is not None}
