"""Titles of a Plotly chart, of its axes and of its parts, in as many lines as a phone needs.

Plotly breaks no title: what is too long for the chart is cut off at its edge. The server does not know how wide the
window is, so a title is broken where it would not fit on a phone, and a title that fits there stays one line.
"""

import html
import math
import re
import unicodedata
from functools import lru_cache
from typing import Any

PHONE = 340  #: pixels that a chart has on a phone of 390
LABELS = 60  #: pixels left of the plot that numbers take
USUAL = {"title": 15, "axis": 13, "part": 16}  #: pixels of letters that are given no size
SHORT = 8  #: letters that no room is too small for
LINE = 1.3  #: heights of letters from one line to the next
_COLUMN = 0.56  #: width of a letter for its height


def break_title(text: str, room: float, size: float) -> str:
    """The title with line breaks where it would be wider than `room` pixels; one with markup stays as it is."""
    if "<" in text or text_columns(text) <= SHORT:
        return text
    return "<br>".join(balance_lines(text, max(6.0, room / (size * _COLUMN)))) or text


def axis_title(text: str) -> str:
    """The title of an x axis that is as wide as the chart."""
    return break_title(text, PHONE - LABELS, USUAL["axis"])


def break_titles(fig: Any) -> None:
    """Break all titles of the chart, and make room above it for those that stand there."""
    look, plot = fig.layout, PHONE - _left_of(fig)
    if (look.title.text or "").strip():
        look.title.text = break_title(look.title.text, PHONE - 16, look.title.font.size or USUAL["title"])
    for axis in fig.select_xaxes():
        _break(axis, plot)
    for axis in fig.select_yaxes():
        _break(axis, (look.height or 400) - 90)
    _break_parts(fig, plot)
    for trace in fig.data:  # who points at a line hears its whole name, which its own text says
        if trace.name and trace.showlegend is not False:
            trace.name = break_title(trace.name, PHONE - LABELS, look.legend.font.size or USUAL["axis"])
    look.margin.t = margin_above(fig, int(look.margin.t or 0))


def margin_above(fig: Any, pixels: int) -> int:
    """The margin that a chart needs whose titles take `pixels` above it when each is one line."""
    on_top = [note for note in _titles_of_parts(fig) if note.y > 0.99]
    most = max((note.text.count("<br>") * (note.font.size or USUAL["part"]) for note in on_top), default=0)
    size = fig.layout.title.font.size or USUAL["title"]
    return pixels + round(LINE * (most + (fig.layout.title.text or "").count("<br>") * size))


def join_title(text: str | None) -> str:
    """A title as it was before it was broken, for those who hear it and for a file that breaks its lines itself."""
    line = ""
    for part in re.split(r"<br\s*/?>", text or ""):
        spaced = line and part and text_columns(line[-1]) == text_columns(part[0]) == 1 and not re.search(r"\w-$", line)
        line += f" {part}" if spaced else part
    return html.unescape(re.sub(r"<[^>]+>", "", line))


def _left_of(fig: Any) -> float:
    """Pixels that the names of the rows take, or the numbers of the axis."""
    if fig.layout.yaxis.showticklabels is False:
        return 20
    rows = (trace.y for trace in fig.data if "y" in trace and trace.y is not None)
    names = [*(fig.layout.yaxis.ticktext or ()), *(y for row in rows for y in row if isinstance(y, str))]
    size = fig.layout.yaxis.tickfont.size or USUAL["axis"]
    return max([LABELS, *(text_columns(name) * size * _COLUMN + 20 for name in names)])


def _break(axis: Any, pixels: float) -> None:
    """The title of an axis, of all axes that share so many pixels."""
    low, high = axis.domain or (0.0, 1.0)
    if axis.title.text:
        axis.title.text = break_title(
            axis.title.text, pixels * float(high - low), axis.title.font.size or USUAL["axis"]
        )


def _titles_of_parts(fig: Any) -> list[Any]:
    """Names of several plots side by side: Plotly keeps them as notes above each."""
    return [
        note
        for note in fig.layout.annotations
        if note.xref == note.yref == "paper" and note.yanchor == "bottom" and not note.textangle and note.text
    ]


def _break_parts(fig: Any, plot: float) -> None:
    notes = _titles_of_parts(fig)
    for note in notes:
        beside = [abs(other.x - note.x) for other in notes if math.isclose(other.y, note.y) and other is not note]
        to_edge = 2 * min(note.x, 1 - note.x)  # a title stands over the middle of its plot
        room = min([to_edge * plot + 8, *(each * plot - 8 for each in beside if each > 0.01)])
        note.text = break_title(note.text, room, note.font.size or USUAL["part"])


def place_legend_below() -> dict[str, object]:
    """A legend at the lower edge, under the title of the x axis, however many lines it takes on a narrow screen."""
    return {"yref": "container", "y": 0, "yanchor": "bottom", "font": {"size": 11}}


@lru_cache(maxsize=256)
def wrap_text(text: str, columns: float) -> tuple[str, ...]:
    """`text` in lines of at most `columns`; Chinese letters and emoji take two each, and a line may end at each."""
    lines: list[str] = []
    line, taken = "", 0.0
    for word in text.split():
        for number, part in enumerate(part for unit in _units(word) for part in _broken(unit, columns)):
            needed, gap = text_columns(part), " " if line and number == 0 else ""
            if line and taken + len(gap) + needed > columns:
                lines.append(line)
                line, taken, gap = "", 0.0, ""
            line, taken = f"{line}{gap}{part}", taken + len(gap) + needed
    return (*lines, line) if line else tuple(lines)


#: punctuation of Chinese text, and quotation marks of any, that no line begins with, and that none ends with
_CLOSING, _OPENING = "，。、：；！？）》」』】％…”’", "（《「『【“‘"


def _units(word: str) -> list[str]:
    """What of a word stays in one line where it can: a number, a Latin word, or a Chinese letter, with its signs."""
    units: list[str] = []
    for letter in word:
        last = units[-1][-1] if units else ""
        after_hyphen = last == "-" and units[-1][:-1].isalpha() and letter.isalpha()
        together = (
            letter in _CLOSING
            or last in _OPENING
            or text_columns(letter) == 0
            or text_columns(letter) == text_columns(last) == 1
        )
        together = together and not after_hyphen
        if units and together:
            units[-1] += letter
        else:
            units.append(letter)
    return units


def text_columns(text: str) -> int:
    """How many columns `text` takes: East Asian letters and emoji two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _broken(word: str, columns: float) -> list[str]:
    """A word in parts, each at most `columns` columns wide."""
    parts, part, taken = [], "", 0
    for letter in word:
        if part and taken + text_columns(letter) > columns:
            parts.append(part)
            part, taken = "", 0
        part, taken = part + letter, taken + text_columns(letter)
    return [*parts, part]


def balance_lines(text: str, columns: float) -> tuple[str, ...]:
    """As few lines as `wrap_text` needs, of about one length: no title ends in a line of one short word."""
    lines = wrap_text(text, columns)
    if len(lines) < 2:
        return lines
    for narrower in range(-(-text_columns(text) // len(lines)), int(columns)):
        tried = wrap_text(text, narrower)
        if len(tried) == len(lines):
            return tried
    return lines
