"""Pinned tokens are kept as tokens of the model, so that they stay on their words however the picture is arranged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from attnviz import canvas
from attnviz.app.links import link_state
from attnviz.pages.explore import choices
from attnviz.runs.head_matrix import Matrix
from attnviz.runs.model_run import Stack


@dataclass(frozen=True)
class Places:
    """Which of the model's tokens each row and each column of a picture stands for. It holds no tensors."""

    rows: tuple[tuple[int, ...], ...]
    cols: tuple[tuple[int, ...], ...]
    queries: tuple[str, ...]  #: label of each of the model's tokens that look
    keys: tuple[str, ...]

    @classmethod
    def of(cls, stack: Stack, matrix: Matrix) -> Places:
        return cls(matrix.row_tokens, matrix.col_tokens, stack.queries.labels, stack.keys.labels)

    def shown(self, axis: Literal["q", "k"], position: int, label: str) -> int | None:
        """The row (axis "q") or column of a token that was kept; None where this picture does not have it.

        A token of another label stands there once the sentence or the model has changed: then the nearest token
        of that label is meant.
        """
        lines, labels = (self.rows, self.queries) if axis == "q" else (self.cols, self.keys)
        at = _nearest(labels, position, label)
        return next((line for line, tokens in enumerate(lines) if at in tokens), None)

    def kept(self, axis: Literal["q", "k"], line: int) -> tuple[int, str] | None:
        """The position and label of the first token of a row or column; None beyond the picture."""
        lines, labels = (self.rows, self.queries) if axis == "q" else (self.cols, self.keys)
        if not 0 <= line < len(lines):
            return None
        return lines[line][0], labels[lines[line][0]]


def _nearest(labels: Sequence[str], position: int, label: str) -> int | None:
    same = [at for at, each in enumerate(labels) if each == label]
    return min(same, key=lambda at: abs(at - position), default=None)


def pins(places: Places) -> canvas.Pins | None:
    """The pinned tokens and cell that this picture has; None when nothing was ever pinned."""
    held = link_state.value(choices.PINS)
    if held is None:
        return None
    tokens = dict.fromkeys(pin for entry in held["t"] if (pin := _pin(places, entry)) is not None)
    return canvas.Pins(tuple(tokens), _cell(places, held.get("c")))


def _pin(places: Places, entry: Sequence[Any]) -> canvas.Pin | None:
    axis, at = entry[0], entry[1]
    size = len(places.rows if axis == "q" else places.cols)
    if at == choices.LAST:
        return canvas.Pin(axis, size - 1)
    # a link of an earlier version has no label: it counts rows and columns of the picture
    line = places.shown(axis, at, entry[2]) if len(entry) > 2 else at
    return None if line is None or line >= size else canvas.Pin(axis, line)


def _cell(places: Places, held: Sequence[Any] | None) -> tuple[int, int] | None:
    if held is None:
        return None
    row, col = held[:2]
    if len(held) > 2:
        row, col = places.shown("q", row, held[2]), places.shown("k", col, held[3])
    if row is None or col is None or row >= len(places.rows) or col >= len(places.cols):
        return None
    return row, col


def keep(places: Places, held: canvas.Pins) -> None:
    """Keep the pins, and let the stages follow a clicked cell again. A callback, with `places` filled in."""
    found = [(pin.axis, places.kept(pin.axis, pin.index)) for pin in held.tokens]
    said: dict[str, Any] = {"t": [[axis, *token] for axis, token in found if token is not None]}
    if held.cell is not None:
        query, key = places.kept("q", held.cell[0]), places.kept("k", held.cell[1])
        if query is not None and key is not None:
            said["c"] = [query[0], key[0], query[1], key[1]]
    link_state.put_all({choices.PINS: said if held else None, choices.STAGE: None})
