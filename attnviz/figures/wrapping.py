"""A text broken into lines as its language breaks it, where no browser does: in an SVG, and in Plotly's titles."""

from __future__ import annotations

import unicodedata


def wrapped(text: str, columns: float) -> list[str]:
    """`text` in lines of at most `columns`; Chinese letters and emoji take two each, and a line may end at each."""
    lines: list[str] = []
    line, taken = "", 0.0
    for word in text.split():
        for number, part in enumerate(part for unit in _units(word) for part in _broken(unit, columns)):
            needed, gap = wide(part), " " if line and number == 0 else ""
            if line and taken + len(gap) + needed > columns:
                lines.append(line)
                line, taken, gap = "", 0.0, ""
            line, taken = f"{line}{gap}{part}", taken + len(gap) + needed
    return [*lines, line] if line else lines


#: punctuation of Chinese text, and quotation marks of any, that no line begins with, and that none ends with
_CLOSING, _OPENING = "，。、：；！？）》」』】％…”’", "（《「『【“‘"


def _units(word: str) -> list[str]:
    """What of a word stays in one line where it can: a number, a Latin word, or a Chinese letter, with its signs."""
    units: list[str] = []
    for letter in word:
        last = units[-1][-1] if units else ""
        after_hyphen = last == "-" and units[-1][:-1].isalpha() and letter.isalpha()
        together = letter in _CLOSING or last in _OPENING or wide(letter) == 0 or wide(letter) == wide(last) == 1
        together = together and not after_hyphen
        if units and together:
            units[-1] += letter
        else:
            units.append(letter)
    return units


def wide(text: str) -> int:
    """How many columns `text` takes: East Asian letters and emoji two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _broken(word: str, columns: float) -> list[str]:
    """A word in parts, each at most `columns` columns wide."""
    parts, part, taken = [], "", 0
    for letter in word:
        if part and taken + wide(letter) > columns:
            parts.append(part)
            part, taken = "", 0
        part, taken = part + letter, taken + wide(letter)
    return [*parts, part]


def balanced(text: str, columns: float) -> list[str]:
    """As few lines as `wrapped` needs, of about one length: no title ends in a line of one short word."""
    lines = wrapped(text, columns)
    if len(lines) < 2:
        return lines
    for narrower in range(-(-wide(text) // len(lines)), int(columns)):
        tried = wrapped(text, narrower)
        if len(tried) == len(lines):
            return tried
    return lines
