"""Initial margins of a chart, wide enough for the labels of its axes.

Plotly measures labels by drawing them, widens the margins, and draws the whole chart again. That doubles the time of a
line chart, and takes six times as long for a matrix of square cells. So the size of labels is estimated here. A margin
some pixels too wide does no harm; one that is too narrow still grows.
"""

import math
import re
from typing import Any

import numpy as np
import plotly.graph_objects as go

from attnviz.figures.theme import Figure
from attnviz.figures.title_lines import text_columns

TICKS, TITLE = 12, 14  #: pixels of letters that are given no size, in Streamlit's theme
BESIDE, ABOVE, BELOW = 9, 8, 12  #: pixels between labels and the plot
EDGE = 12  #: pixels between the outermost letters and the edge of the figure; fewer, where a margin has fewer
MARKS = 8  #: pixels of the marks that Plotly draws beside a matrix
STANDOFF = {"x": 20, "y": 24}  #: pixels from labels to the title of their axis, in Streamlit's theme
CAPITAL, LINE = 0.7, 1.3  #: height of a capital, and from one line to the next, for the height of letters
POWER, RAISED = 1.25, 0.7  #: how large 10 and its exponent are written, for the height of letters
MOST = 180  #: pixels: longer labels are left to Plotly
APART = {"x": 80, "y": 40}  #: pixels between two numbers of an axis, at least
ACROSS = 450  #: pixels of a plot, where nobody knows how wide the window is
LEANING = 1.2  #: labels that are so much wider than their cells lean to the side, by 60 degrees
_NARROW = re.compile(r"[ijlftrI.,:;'’|!()\[\]·\s-]")
_BROAD = re.compile(r"[mwMW%@…—]")
_MARKUP = re.compile(r"<[^>]+>")
_BREAK = re.compile(r"<br\s*/?>")


def add_label_room(fig: Any) -> Any:
    """Widen the margins of a figure to fit its labels, in place; they never shrink."""
    need: dict[str, list[float]] = {"l": [0.0], "r": [0.0], "t": [0.0], "b": [0.0]}
    height = float(fig.layout.height or 400)
    for axis in fig.select_yaxes():
        side = "r" if axis.side == "right" else "l"
        if _has_labels(axis) and not axis.constrain and _is_at_edge(fig, axis, side):
            widest = max((text_width(text, _font_size(axis)) for text in _y_labels(fig, axis, height)), default=0.0)
            need[side].append(min(MOST, widest) + BESIDE + _mark_length(fig, axis) + _title_height(axis, "y"))
            need["t"].append(CAPITAL * _font_size(axis))  # half of the label at the upper end
    for axis in fig.select_xaxes():
        side = "t" if axis.side == "top" else "b"
        if _has_labels(axis) and _is_at_edge(fig, axis, side):
            deep, beyond = _tilted_label_room(axis, height) or (
                _label_depth(fig, axis, side),
                _last_label_overhang(fig, axis),
            )
            need[side].append(deep + _title_height(axis, "x"))
            need["r"].append(beyond)
    margin = fig.layout.margin
    edge = min(EDGE, *(margin[side] or 0 for side in need))
    for _twice in range(2):  # wider margins have more of an edge
        for side, wanted in need.items():
            margin[side] = max(margin[side] or 0, math.ceil(max(wanted) + edge) if max(wanted) else 0)
        edge = min(EDGE, *(margin[side] for side in need))
    return fig


def _has_labels(axis: Any) -> bool:
    return axis.showticklabels is not False and axis.visible is not False


def _font_size(axis: Any) -> float:
    return float(axis.tickfont.size or TICKS)


def _tick_texts(axis: Any) -> list[str]:
    """Tick labels that an axis was given; empty if Plotly chooses them."""
    return [] if axis.ticktext is None else [str(text) for text in axis.ticktext]


def _is_at_edge(fig: Any, axis: Any, side: str) -> bool:
    """Whether the axis is at that edge of the figure, not between two plots."""
    crossing = axis.anchor or ("x" if side in "lr" else "y")
    if crossing == "free":
        return False
    across = fig.layout[f"{crossing[0]}axis{crossing[1:]}"].domain or (0.0, 1.0)
    return bool(across[0] < 0.01 if side in "lb" else across[1] > 0.99)


def _title_height(axis: Any, kind: str) -> float:
    """Pixels of the title of an axis beyond its labels. An empty title takes as much as a short one."""
    text = axis.title.text
    if text is None:
        return 0.0
    size = float(axis.title.font.size or TITLE)
    return STANDOFF[kind] + size * (CAPITAL + LINE * len(_BREAK.findall(text)))


def text_width(text: str, size: float) -> float:
    """Width in pixels of the longest line of a text, in a wide font."""
    return max(sum(map(_letter_width, _MARKUP.sub("", line))) for line in _BREAK.split(text)) * size


def _letter_width(letter: str) -> float:
    if _NARROW.match(letter):
        return 0.4
    return 1.0 if text_columns(letter) > 1 or _BROAD.match(letter) else 0.84 if letter == "−" else 0.64


def _mark_length(fig: Any, axis: Any) -> float:
    """Pixels of tick marks, which Plotly draws beside a matrix by default."""
    return MARKS if axis.ticks is None and any(trace.type == "heatmap" for trace in fig.data) else 0.0


def _label_depth(fig: Any, axis: Any, side: str) -> float:
    """Pixels from the plot to the end of the upright labels of an x axis."""
    lines = max((len(_BREAK.findall(str(text))) for text in _tick_texts(axis)), default=0)
    size = _font_size(axis)
    if side == "t":
        return ABOVE + 1.2 * size + lines * LINE * size
    larger = (POWER - 1) * size if axis.type == "log" and not _tick_texts(axis) else 0.0
    return size + larger + BELOW + lines * LINE * size + _mark_length(fig, axis)


def _tilted_label_room(axis: Any, height: float) -> tuple[float, float] | None:
    """Pixels above and to the right of tilted token labels over a matrix; None if upright ones fit.

    Cells are square, so they are no wider than the height allows.
    """
    texts, size = _tick_texts(axis), _font_size(axis)
    named = [text_width(text, size) for text in texts if text]
    turned = axis.tickangle is not None and abs(axis.tickangle) >= 45
    if axis.side != "top" or not named:
        return None
    has_room = LEANING * max(named) < height / len(named)
    if not turned and (has_room or not (axis.autotickangles and axis.constrain)):
        return None
    cell = height / len(texts)
    return ABOVE + 0.87 * min(MOST, max(named)) + 0.9 * size, max(0.0, 0.5 * named[-1] - cell / 8)


def _last_label_overhang(fig: Any, axis: Any) -> float:
    """Pixels of the last label of an x axis beyond the right edge of the plot."""
    low, high, labels = axis_range(fig, axis)
    if labels or high <= low:
        return 0.0
    if (texts := _tick_texts(axis)) and axis.tickvals is not None:
        value = float(axis.tickvals[-1])
        last, text = math.log10(value) if axis.type == "log" else value, texts[-1]
    elif axis.type == "log":
        return 0.0
    else:
        step = _tick_step(axis, low, high, ACROSS)
        last = math.floor(high / step + 1e-9) * step
        text = _format_number(axis, last, step)
    return max(0.0, text_width(text, _font_size(axis)) / 2 - ACROSS * max(0.0, high - last) / (high - low))


def _y_labels(fig: Any, axis: Any, height: float) -> list[str]:
    """Labels of a y axis, or at least its widest ones."""
    if texts := _tick_texts(axis):
        return texts
    low, high, labels = axis_range(fig, axis)
    if labels:
        return labels
    if axis.type == "log":
        return _power_labels(axis, low, high)
    step = _tick_step(axis, low, high, height - 90)
    return [_format_number(axis, end * step, step) for end in (math.floor(low / step), math.ceil(high / step))]


def axis_range(fig: Any, axis: Any) -> tuple[float, float, list[str]]:
    """Lowest and highest number on an axis, and its text labels, if it has any."""
    letter, name = axis.plotly_name[0], axis.plotly_name.replace("axis", "")
    traces = [trace for trace in fig.data if (getattr(trace, f"{letter}axis", None) or letter) == name]
    bars = any(trace.type == "bar" and (trace.orientation or "v") == {"x": "h", "y": "v"}[letter] for trace in traces)
    numbers, labels = [0.0] if axis.rangemode == "tozero" or bars else [], []
    for trace in traces:
        coordinates = getattr(trace, letter, None)
        if coordinates is None and trace.type == "heatmap" and trace.z is not None:
            coordinates = np.arange(np.shape(trace.z)["yx".index(letter)])
        flat = list(np.ravel(coordinates)) if coordinates is not None else []
        labels += [str(coordinate) for coordinate in flat if isinstance(coordinate, str)]
        if flat and not labels:
            values = np.asarray(flat, dtype=float)
            values = values[np.isfinite(values) & ((values > 0) | (axis.type != "log"))]
            numbers += [values.min(), values.max()] if values.size else []
    numbers = [math.log10(number) for number in numbers if number > 0] if axis.type == "log" else numbers
    if axis.range is not None:
        numbers = [float(number) for number in axis.range if isinstance(number, int | float)] or numbers
    return (min(numbers), max(numbers), labels) if numbers else (0.0, 1.0, labels)


def _power_labels(axis: Any, low: float, high: float) -> list[str]:
    """Labels as wide as those at the ends of a logarithmic axis: powers of ten are set larger than other numbers."""
    if axis.exponentformat != "power":
        return [f"{10 ** min(4, abs(math.ceil(end))):d}" for end in (low, high)]
    digits = max(len(str(math.floor(end) if end < 0 else math.ceil(end))) for end in (low, high))
    return ["0" * math.ceil(POWER * (2 + RAISED * digits))]


def _tick_step(axis: Any, low: float, high: float, pixels: float) -> float:
    """Distance between two ticks of a linear axis."""
    if isinstance(axis.dtick, int | float):
        return float(axis.dtick)
    rough = ((high - low) or abs(high) or 1.0) / (min(9, max(4, pixels / APART[axis.plotly_name[0]])) + 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return next((factor * power for factor in (1, 2, 5) if factor * power >= rough * 0.999), 10 * power)


def _format_number(axis: Any, value: float, step: float) -> str:
    """Format a tick value with as many decimals as the tick distance has."""
    share = "%" in (axis.tickformat or "")
    value, step = (100 * value, 100 * step) if share else (value, step)
    places = min(4, max(0, -math.floor(math.log10(step) + 1e-9)))
    text = f"{value / 1000:.0f}k" if abs(value) > 1e4 else f"{value:.{places}f}"
    return text.replace("-", "−") + ("%" if share else axis.ticksuffix or "")


LARGER, LEAST = 1.67, 20  #: of a presented chart's letters: how many times, and to how many pixels at least
LOOSER = 1.2  #: how much further names are moved apart, as nobody knows the height that the window leaves


def enlarge_for_room(fig: Figure) -> Figure:
    """Copy of a chart with larger text and no height of its own: the page sets it."""
    big = go.Figure(fig)
    size = big.layout.font.size or 12
    big.update_layout(height=None, autosize=True, font_size=round(LARGER * size))
    fonts = [big.layout.title.font, big.layout.legend.font, *(note.font for note in big.layout.annotations)]
    for axis in (*big.select_xaxes(), *big.select_yaxes()):
        fonts += [axis.tickfont, axis.title.font]
    fonts += [trace.colorbar.title.font for trace in big.data if "colorbar" in trace]
    for note in big.layout.annotations:
        note.yshift = LOOSER * LARGER * (note.yshift or 0)
    for side in "tr":  # a title, names at the ends of lines
        big.layout.margin[side] = round(LARGER * (big.layout.margin[side] or 0))
    for font in fonts:
        font.size = max(LEAST, round(LARGER * (font.size or size)))
    return big
