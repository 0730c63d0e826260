"""The names of lines at their ends, in place of a legend: none lies on another."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from attnviz.figures.label_room import axis_range, text_width
from attnviz.figures.title_lines import balance_lines

SIZE, LINE = 12, 15.0  #: pixels of the letters of a name, and from one of its lines to the next
COLUMNS = 17  #: letters of one line: a phone has room for them beside the plot
NAMED = "end of a line"  #: what a figure calls such a name
BELOW = 60  #: pixels under a plot, at most
TALLER = 1.6  #: how much taller a plot may grow for its names; of more than that a legend tells
EARLY = 0.93  #: share of the x axis: while all lines still end before it, their names follow them through the plot


class _Name(NamedTuple):
    """A name where its line ends, in numbers of the axes."""

    y: float
    x: float
    text: str
    colour: str | None

    @property
    def height(self) -> float:
        return LINE * (1 + self.text.count("<br>"))


def label_ends(fig: Any, plots: Sequence[str] = ("",)) -> Any:
    """The figure, with its lines named at their ends, changed in place; one with other marks keeps its legend.

    `plots`: those beside which there is room, by what Plotly writes behind x and y; a name stands in the first that has
    its line. Their y axes keep their range from now on, and they become taller where so many names need it.
    """
    names = {trace.name for trace in fig.data if trace.name and trace.showlegend is not False}
    lines: dict[str, list[Any]] = {}
    for plot in plots:
        known = {trace.name for traces in lines.values() for trace in traces}
        lines[plot] = [t for t in fig.data if t.name in names - known and (t.yaxis or "y")[1:] == plot]
    if not names or {t.name for traces in lines.values() for t in traces} != names:
        return fig
    if not all(_is_line(trace, fig.layout) for traces in lines.values() for trace in traces):
        return fig
    beside = fig.layout.margin.r
    taller = [_name_lines(fig, plot, traces) for plot, traces in lines.items() if traces]
    if max(taller) > TALLER:
        fig.layout.annotations = [note for note in fig.layout.annotations if note.name != NAMED]
        return fig.update_layout(margin_r=beside)
    fig.layout.height = round((fig.layout.height or 400) * max(1.0, *taller))
    return fig.update_layout(showlegend=False)


def _name_lines(fig: Any, plot: str, traces: Sequence[Any]) -> float:
    """Write the names beside one plot; how many times as high it has to be for them."""
    x, y = fig.layout[f"xaxis{plot}"], fig.layout[f"yaxis{plot}"]
    (low, high), (left, right, _texts) = _fix_range(fig, y), axis_range(fig, x)
    ends = sorted(end for trace in traces for end in _line_end(trace, x, y))
    if not ends:
        return 0.0
    height = (fig.layout.height or 400) - (fig.layout.margin.t or 0) - BELOW
    room, needed = height * float(np.ptp(y.domain or (0, 1))), sum(end.height for end in ends)
    heights = [min(max(end.y, low), high) for end in ends]  # Plotly hides what stands beyond its axis
    wanted = [(height - low) / (high - low) * max(room, needed) for height in heights]
    last = max(end.x for end in ends)
    is_early = last - left < EARLY * (right - left)
    place = {"x": last, "xref": f"x{plot}"} if is_early else {"x": 1, "xref": f"x{plot} domain"}
    place |= {"yref": f"y{plot}", "xanchor": "left", "xshift": 5, "align": "left", "showarrow": False, "name": NAMED}
    middles = spread_labels(wanted, [end.height for end in ends], max(room, needed))
    for end, y_value, at, middle in zip(ends, heights, wanted, middles, strict=True):
        look = {"text": end.text, "font": {"size": SIZE, "color": end.colour}}
        fig.add_annotation(place | look | {"y": y_value, "yshift": middle - at})
    fig.layout.margin.r = max(fig.layout.margin.r or 0, math.ceil(max(text_width(end.text, SIZE) for end in ends)) + 8)
    return needed / room


def spread_labels(wanted: Sequence[float], heights: Sequence[float], room: float) -> list[float]:
    """Middles of labels as near to `wanted`, in its order from 0, as they can be without lying on each other."""
    blocks: list[tuple[float, list[float]]] = []  # labels that touch: the edge of the first, and their heights
    for middle, height in zip(wanted, heights, strict=True):
        edge, held = middle - height / 2, [height]
        while True:
            edge = max(0.0, min(edge, room - sum(held)))
            if not blocks or blocks[-1][0] + sum(blocks[-1][1]) <= edge:
                break
            before, above = blocks.pop()
            edge = (before * len(above) + (edge - sum(above)) * len(held)) / (len(above) + len(held))
            held = above + held
        blocks.append((edge, held))
    return [edge + sum(held[:at]) + height / 2 for edge, held in blocks for at, height in enumerate(held)]


def _is_line(trace: Any, layout: Any) -> bool:
    plain = trace.type == "scatter" and "text" not in (trace.mode or "") and trace.fill is None and len(trace.x) > 1
    plain = plain and not any(isinstance(value, str) for value in (*trace.x, *trace.y))
    across = layout[f"xaxis{(trace.xaxis or 'x')[1:]}"].range
    return plain and (across is None or across[0] < across[1])


def _fix_range(fig: Any, axis: Any) -> tuple[float, float]:
    """The range of a y axis, from now on fixed: a name stands at a share of it."""
    if axis.range is None:
        low, high, _texts = axis_range(fig, axis)
        edge = 0.05 * (high - low) or 0.5
        axis.range = [low if axis.rangemode == "tozero" and low >= 0 else low - edge, high + edge]
    return axis.range[0], axis.range[1]


def _line_end(trace: Any, x: Any, y: Any) -> list[_Name]:
    """The name of a line at its last point; none for a line without points."""
    with np.errstate(all="ignore"):
        places, values = (
            np.log10(np.asarray(numbers, float)) if axis.type == "log" else np.asarray(numbers, float)
            for numbers, axis in ((trace.x, x), (trace.y, y))
        )
    drawn = np.flatnonzero(np.isfinite(places) & np.isfinite(values))
    if not drawn.size:
        return []
    last = drawn[np.argmax(places[drawn])]
    colour = trace.line.color or (trace.marker.color if isinstance(trace.marker.color, str) else None)
    return [_Name(float(values[last]), float(places[last]), "<br>".join(balance_lines(trace.name, COLUMNS)), colour)]
