"""Margins that a chart begins with, wide enough for the labels of its axes.

Plotly finds out how wide labels are by drawing them, makes the margins grow, and draws the whole chart once more: twice
the time of a chart of lines, and six times that of a matrix whose cells stay square. So what the labels will take is
reckoned here from the numbers. A margin that is some pixels too wide is seen by nobody; one that is too narrow grows,
as it always did.
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
    """The figure with margins as wide as what its labels will take, and never narrower than they were."""
    need: dict[str, list[float]] = {"l": [0.0], "r": [0.0], "t": [0.0], "b": [0.0]}
    height = float(fig.layout.height or 400)
    for axis in fig.select_yaxes():
        side = "r" if axis.side == "right" else "l"
        if _shown(axis) and not axis.constrain and _at_edge(fig, axis, side):
            widest = max((_width(text, _size(axis)) for text in _labels(fig, axis, height)), default=0.0)
            need[side].append(min(MOST, widest) + BESIDE + _marks(fig, axis) + _title(axis, "y"))
            need["t"].append(CAPITAL * _size(axis))  # half of the label at the upper end
    for axis in fig.select_xaxes():
        side = "t" if axis.side == "top" else "b"
        if _shown(axis) and _at_edge(fig, axis, side):
            deep, beyond = _leaning(axis, height) or (_deep(fig, axis, side), _half_of_the_last(fig, axis))
            need[side].append(deep + _title(axis, "x"))
            need["r"].append(beyond)
    margin = fig.layout.margin
    edge = min(EDGE, *(margin[side] or 0 for side in need))
    for _twice in range(2):  # wider margins have more of an edge
        for side, wanted in need.items():
            margin[side] = max(margin[side] or 0, math.ceil(max(wanted) + edge) if max(wanted) else 0)
        edge = min(EDGE, *(margin[side] for side in need))
    return fig


def _shown(axis: Any) -> bool:
    return axis.showticklabels is not False and axis.visible is not False


def _size(axis: Any) -> float:
    return float(axis.tickfont.size or TICKS)


def _written(axis: Any) -> list[str]:
    """What the labels of an axis say, where it was told what."""
    return [] if axis.ticktext is None else [str(text) for text in axis.ticktext]


def _at_edge(fig: Any, axis: Any, side: str) -> bool:
    """Whether the axis stands at that edge of the figure, and not between two of its plots."""
    other = axis.anchor or ("x" if side in "lr" else "y")
    if other == "free":
        return False
    across = fig.layout[f"{other[0]}axis{other[1:]}"].domain or (0.0, 1.0)
    return bool(across[0] < 0.01 if side in "lb" else across[1] > 0.99)


def _title(axis: Any, kind: str) -> float:
    """What the title of an axis takes beyond its labels. One of no letters takes as much as a short one."""
    text = axis.title.text
    if text is None:
        return 0.0
    size = float(axis.title.font.size or TITLE)
    return STANDOFF[kind] + size * (CAPITAL + LINE * len(_BREAK.findall(text)))


def _width(text: str, size: float) -> float:
    """Pixels of the longest of its lines, in a broad font."""
    return max(sum(map(_letter, _MARKUP.sub("", line))) for line in _BREAK.split(text)) * size


def _letter(letter: str) -> float:
    if _NARROW.match(letter):
        return 0.4
    return 1.0 if text_columns(letter) > 1 or _BROAD.match(letter) else 0.84 if letter == "−" else 0.64


def _marks(fig: Any, axis: Any) -> float:
    """Beside a matrix Plotly draws marks at the numbers, unless it is told not to."""
    return MARKS if axis.ticks is None and any(trace.type == "heatmap" for trace in fig.data) else 0.0


def _deep(fig: Any, axis: Any, side: str) -> float:
    """Pixels from the plot to the end of the labels of an x axis that stand upright."""
    lines = max((len(_BREAK.findall(str(text))) for text in _written(axis)), default=0)
    size = _size(axis)
    if side == "t":
        return ABOVE + 1.2 * size + lines * LINE * size
    larger = (POWER - 1) * size if axis.type == "log" and not _written(axis) else 0.0
    return size + larger + BELOW + lines * LINE * size + _marks(fig, axis)


def _leaning(axis: Any, height: float) -> tuple[float, float] | None:
    """Pixels upwards and to the right of the tokens over a matrix, where they do not fit beside each other.

    Its cells are square, so that they are no wider than its height allows; None where the tokens have room.
    """
    texts, size = _written(axis), _size(axis)
    named = [_width(text, size) for text in texts if text]
    turned = axis.tickangle is not None and abs(axis.tickangle) >= 45
    if axis.side != "top" or not named:
        return None
    has_room = LEANING * max(named) < height / len(named)
    if not turned and (has_room or not (axis.autotickangles and axis.constrain)):
        return None
    cell = height / len(texts)
    return ABOVE + 0.87 * min(MOST, max(named)) + 0.9 * size, max(0.0, 0.5 * named[-1] - cell / 8)


def _half_of_the_last(fig: Any, axis: Any) -> float:
    """Pixels by which the last number under a plot stands out to the right."""
    low, high, words = _reach(fig, axis)
    if words or high <= low:
        return 0.0
    if (written := _written(axis)) and axis.tickvals is not None:
        value = float(axis.tickvals[-1])
        last, text = math.log10(value) if axis.type == "log" else value, written[-1]
    elif axis.type == "log":
        return 0.0
    else:
        step = _step(axis, low, high, ACROSS)
        last = math.floor(high / step + 1e-9) * step
        text = _number(axis, last, step)
    return max(0.0, _width(text, _size(axis)) / 2 - ACROSS * max(0.0, high - last) / (high - low))


def _labels(fig: Any, axis: Any, height: float) -> list[str]:
    """What will stand beside a y axis, or as much of it as its widest label."""
    if written := _written(axis):
        return written
    low, high, words = _reach(fig, axis)
    if words:
        return words
    if axis.type == "log":
        return _powers(axis, low, high)
    step = _step(axis, low, high, height - 90)
    return [_number(axis, end * step, step) for end in (math.floor(low / step), math.ceil(high / step))]


def _reach(fig: Any, axis: Any) -> tuple[float, float, list[str]]:
    """The least and the largest number along an axis, and the words, where it has words."""
    letter, name = axis.plotly_name[0], axis.plotly_name.replace("axis", "")
    traces = [trace for trace in fig.data if (getattr(trace, f"{letter}axis", None) or letter) == name]
    bars = any(each.type == "bar" and (each.orientation or "v") == {"x": "h", "y": "v"}[letter] for each in traces)
    numbers, words = [0.0] if axis.rangemode == "tozero" or bars else [], []
    for trace in traces:
        held = getattr(trace, letter, None)
        if held is None and trace.type == "heatmap" and trace.z is not None:
            held = np.arange(np.shape(trace.z)["yx".index(letter)])
        flat = list(np.ravel(held)) if held is not None else []
        words += [str(each) for each in flat if isinstance(each, str)]
        if flat and not words:
            values = np.asarray(flat, dtype=float)
            values = values[np.isfinite(values) & ((values > 0) | (axis.type != "log"))]
            numbers += [values.min(), values.max()] if values.size else []
    numbers = [math.log10(each) for each in numbers if each > 0] if axis.type == "log" else numbers
    if axis.range is not None:
        numbers = [float(each) for each in axis.range if isinstance(each, int | float)] or numbers
    return (min(numbers), max(numbers), words) if numbers else (0.0, 1.0, words)


def _powers(axis: Any, low: float, high: float) -> list[str]:
    """The ends of a logarithmic axis, as wide as powers of ten are that are written larger than other numbers."""
    if axis.exponentformat != "power":
        return [f"{10 ** min(4, abs(math.ceil(end))):d}" for end in (low, high)]
    digits = max(len(str(math.floor(end) if end < 0 else math.ceil(end))) for end in (low, high))
    return ["0" * math.ceil(POWER * (2 + RAISED * digits))]


def _step(axis: Any, low: float, high: float, pixels: float) -> float:
    """From one number of a linear axis to the next."""
    if isinstance(axis.dtick, int | float):
        return float(axis.dtick)
    rough = ((high - low) or abs(high) or 1.0) / (min(9, max(4, pixels / APART[axis.plotly_name[0]])) + 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return next((each * power for each in (1, 2, 5) if each * power >= rough * 0.999), 10 * power)


def _number(axis: Any, value: float, step: float) -> str:
    """A number of an axis, with as many places as the step from one to the next has."""
    share = "%" in (axis.tickformat or "")
    value, step = (100 * value, 100 * step) if share else (value, step)
    places = min(4, max(0, -math.floor(math.log10(step) + 1e-9)))
    text = f"{value / 1000:.0f}k" if abs(value) > 1e4 else f"{value:.{places}f}"
    return text.replace("-", "−") + ("%" if share else axis.ticksuffix or "")


LARGER = 1.4


def enlarge_for_room(fig: Figure) -> Figure:
    """The same chart with larger letters, and without a height of its own: its place on the page gives one."""
    big = go.Figure(fig)
    size = big.layout.font.size or 12
    big.update_layout(height=None, autosize=True, font_size=round(LARGER * size))
    fonts = [big.layout.legend.font, *(note.font for note in big.layout.annotations)]
    for axis in (*big.select_xaxes(), *big.select_yaxes()):
        fonts += [axis.tickfont, axis.title.font]
    for font in fonts:
        font.size = round(LARGER * (font.size or size))
    return big
