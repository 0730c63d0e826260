"""Line breaks in the titles of a Plotly chart, its axes and its panels, so that they fit on a phone.

Plotly never wraps a title; it cuts it off at the edge of the chart. The server does not know the width of the window,
so a title is wrapped if it would not fit on a phone.
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
    """Wrap a title that is wider than `room` pixels at letters of `size` pixels; markup is left alone."""
    if "<" in text or text_columns(text) <= SHORT:
        return text
    return "<br>".join(balance_lines(text, max(6.0, room / (size * _COLUMN)))) or text


def axis_title(text: str) -> str:
    """Wrap the title of an x axis as wide as the chart."""
    return break_title(text, PHONE - LABELS, USUAL["axis"])


def break_titles(fig: Any) -> None:
    """Wrap all titles of a chart, and widen its top margin for them, in place."""
    layout, plot = fig.layout, PHONE - _left_margin(fig)
    if (layout.title.text or "").strip():
        layout.title.text = break_title(layout.title.text, PHONE - 16, layout.title.font.size or USUAL["title"])
    for axis in fig.select_xaxes():
        _break_axis_title(axis, plot)
    for axis in fig.select_yaxes():
        _break_axis_title(axis, (layout.height or 400) - 90)
    _break_panel_titles(fig, plot)
    for trace in fig.data:  # who points at a line hears its whole name, which its own text says
        if trace.name and trace.showlegend is not False:
            trace.name = break_title(trace.name, PHONE - LABELS, layout.legend.font.size or USUAL["axis"])
    layout.margin.t = margin_above(fig, int(layout.margin.t or 0))


def margin_above(fig: Any, pixels: int) -> int:
    """Top margin of a chart in pixels; `pixels` is the margin for titles of one line."""
    on_top = [note for note in _panel_titles(fig) if note.y > 0.99]
    most = max((note.text.count("<br>") * (note.font.size or USUAL["part"]) for note in on_top), default=0)
    size = fig.layout.title.font.size or USUAL["title"]
    return pixels + round(LINE * (most + (fig.layout.title.text or "").count("<br>") * size))


def join_title(text: str | None) -> str:
    """Undo the line breaks of a title, for screen readers and for files that wrap it themselves."""
    line = ""
    for segment in re.split(r"<br\s*/?>", text or ""):
        spaced = (
            line
            and segment
            and text_columns(line[-1]) == text_columns(segment[0]) == 1
            and not re.search(r"\w-$", line)
        )
        line += f" {segment}" if spaced else segment
    return html.unescape(re.sub(r"<[^>]+>", "", line))


def _left_margin(fig: Any) -> float:
    """Pixels of the labels left of the plot."""
    if fig.layout.yaxis.showticklabels is False:
        return 20
    rows = (trace.y for trace in fig.data if "y" in trace and trace.y is not None)
    names = [*(fig.layout.yaxis.ticktext or ()), *(y for row in rows for y in row if isinstance(y, str))]
    size = fig.layout.yaxis.tickfont.size or USUAL["axis"]
    return max([LABELS, *(text_columns(name) * size * _COLUMN + 20 for name in names)])


def _break_axis_title(axis: Any, pixels: float) -> None:
    """Wrap the title of an axis, which has its share of `pixels`."""
    low, high = axis.domain or (0.0, 1.0)
    if axis.title.text:
        axis.title.text = break_title(
            axis.title.text, pixels * float(high - low), axis.title.font.size or USUAL["axis"]
        )


def _panel_titles(fig: Any) -> list[Any]:
    """Titles of panels side by side: Plotly stores them as annotations."""
    return [
        note
        for note in fig.layout.annotations
        if note.xref == note.yref == "paper" and note.yanchor == "bottom" and not note.textangle and note.text
    ]


def _break_panel_titles(fig: Any, plot: float) -> None:
    notes = _panel_titles(fig)
    for note in notes:
        distances = [
            abs(neighbour.x - note.x)
            for neighbour in notes
            if math.isclose(neighbour.y, note.y) and neighbour is not note
        ]
        to_edge = 2 * min(note.x, 1 - note.x)  # a title stands over the middle of its plot
        room = min([to_edge * plot + 8, *(distance * plot - 8 for distance in distances if distance > 0.01)])
        note.text = break_title(note.text, room, note.font.size or USUAL["part"])


@lru_cache(maxsize=256)
def wrap_text(text: str, columns: float) -> tuple[str, ...]:
    """Lines of at most `columns`; Chinese characters and emoji take two, and a line may end after each."""
    lines: list[str] = []
    line, taken = "", 0.0
    for word in text.split():
        for number, chunk in enumerate(
            chunk for unit in _split_unbreakable(word) for chunk in _split_wide_word(unit, columns)
        ):
            needed, gap = text_columns(chunk), " " if line and number == 0 else ""
            if line and taken + len(gap) + needed > columns:
                lines.append(line)
                line, taken, gap = "", 0.0, ""
            line, taken = f"{line}{gap}{chunk}", taken + len(gap) + needed
    return (*lines, line) if line else tuple(lines)


#: punctuation of Chinese text, and quotation marks of any, that no line begins with, and that none ends with
_CLOSING, _OPENING = "，。、：；！？）》」』】％…”’", "（《「『【“‘"


def _split_unbreakable(word: str) -> list[str]:
    """Split a word where a line may end: numbers, Latin words and Chinese characters, each with its punctuation."""
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
    """Width of a text in columns: East Asian characters and emoji take two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _split_wide_word(word: str, columns: float) -> list[str]:
    """Split a word into chunks of at most `columns` columns."""
    chunks, chunk, taken = [], "", 0
    for letter in word:
        if chunk and taken + text_columns(letter) > columns:
            chunks.append(chunk)
            chunk, taken = "", 0
        chunk, taken = chunk + letter, taken + text_columns(letter)
    return [*chunks, chunk]


def balance_lines(text: str, columns: float) -> tuple[str, ...]:
    """Wrap a text like `wrap_text`, but into lines of similar length: no line is one short word."""
    lines = wrap_text(text, columns)
    if len(lines) < 2:
        return lines
    for narrower in range(-(-text_columns(text) // len(lines)), int(columns)):
        tried = wrap_text(text, narrower)
        if len(tried) == len(lines):
            return tried
    return lines
