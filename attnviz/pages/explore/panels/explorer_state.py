"""The explorer's choices, limited to what this sentence and this model have: a head, its edit, its pins."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import streamlit as st

from attnviz.app import head_drawing, widgets
from attnviz.app.links import link_state, shared_view
from attnviz.base.head_edit import LARGEST_FACTOR, LONGEST_WINDOW, HeadEdit
from attnviz.base.words import _
from attnviz.canvas.shared.kinds import Pin, Pins
from attnviz.pages.explore import choices
from attnviz.runs.head_matrix import Look, Matrix
from attnviz.runs.model_run import ModelRun, Stack


def at(stack: Stack) -> tuple[int, int]:
    """(layer, head) on show: the chosen one, or the nearest that this stack has, in which case a caption says so."""
    layer, head = link_state.value(choices.AT)
    if stack.has(layer, head):
        return layer, head
    nearest = min(layer, len(stack.layers) - 1)
    nearest_head = min(head, stack.layers[nearest].n_heads - 1)
    if (layer, head) != choices.START:
        st.caption(
            _(
                "There is no layer {layer} head {head} here: layers go from 0 to {last}. "
                "Layer {to_layer} head {to_head} is shown."
            ).format(layer=layer, head=head, last=len(stack.layers) - 1, to_layer=nearest, to_head=nearest_head)
        )
    return nearest, nearest_head


def go_to(layer: int, head: int) -> None:
    """Show another head. Call it from callbacks."""
    link_state.put(choices.AT, (layer, head))


def stage(n_q: int, n_k: int) -> tuple[int, int | None] | None:
    """The query and key chosen in the stages, if this sentence has them; a missing key is None."""
    held = link_state.value(choices.STAGE)
    if held is None or held[0] >= n_q:
        return None
    query, key = held
    return query, None if key is None or key >= n_k else key


def link() -> str:
    """The link to this view for a caption; empty when it is too long, or opens the view on this machine only."""
    return shared_view.public_address(shared_view.LONGEST_IN_CAPTION) or ""


def edit(stack: Stack, layer: int) -> HeadEdit:
    """The mask and the scale that the link holds, as far as this sentence has its tokens; seen where it can be."""
    chosen = HeadEdit(
        mask=link_state.value(choices.MASK),
        window=link_state.value(choices.WINDOW),
        hidden=tuple(key for key in link_state.value(choices.HIDDEN) if isinstance(key, int)),
        painted=base64.b64decode(link_state.value(choices.PAINTED) or ""),
        scale=link_state.value(choices.SCALE),
        factor=link_state.value(choices.FACTOR),
        where=link_state.value(choices.WHERE),
        seen=link_state.value(choices.SEEN) if stack.layers[layer].exact else "before",
    )
    return chosen.fitted(len(stack.queries), len(stack.keys))


def edit_on_canvas(edit: HeadEdit) -> HeadEdit:
    """The edit for the controls beside the head: they know what was looked at last, even while nothing is changed."""
    return replace(edit, seen=link_state.value(choices.SEEN))


def keep_edit(edit: HeadEdit) -> None:
    """Keep what a hand has changed; in the link it is one step. A callback."""
    link_state.put_all({
        choices.MASK: edit.mask,
        choices.WINDOW: min(edit.window, LONGEST_WINDOW),
        choices.HIDDEN: edit.hidden,
        choices.PAINTED: base64.b64encode(edit.painted).decode() or None if edit.mask == "painted" else None,
        choices.SCALE: edit.scale,
        choices.FACTOR: min(edit.factor, LARGEST_FACTOR),
        choices.WHERE: edit.where,
        choices.SEEN: edit.seen,
    })  # fmt: skip


def say_refusals(stack: Stack) -> None:
    """Say why parts of the link that are about mask and scale are not used."""
    widgets.chosen_of(choices.HIDDEN, range(len(stack.keys)))
    for choice in (choices.MASK, choices.WINDOW, choices.HIDDEN, choices.SCALE, choices.FACTOR, choices.WHERE):
        widgets.say_refusal(choice)


def over() -> tuple[int, ...]:
    """The heads whose lines the visitor laid over each other, by number; they stay when another layer is on show."""
    return tuple(head for head in link_state.value(choices.OVER) if isinstance(head, int))


def keep_over(heads: tuple[int, ...]) -> None:
    """Keep them. A callback."""
    link_state.put(choices.OVER, heads)


def matrices_over(
    heads: Sequence[int], run: ModelRun, stack: Stack, layer: int, look: Look, edit: HeadEdit
) -> Mapping[int, np.ndarray]:
    """Of each of these heads its matrix, NaN where masked, under the edit where that reaches them."""
    if edit.where == "head":
        edit = HeadEdit(seen=edit.seen)
    matrices = {}
    for other in heads:
        matrix = head_drawing.edited_matrix(run, stack, layer, other, look, edit)
        matrices[other] = np.where(matrix.hidden, np.nan, matrix.values)
    return matrices


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


def pins(places: Places) -> Pins | None:
    """The pinned tokens and cell that this picture has; None when nothing was ever pinned."""
    held = link_state.value(choices.PINS)
    if held is None:
        return None
    tokens = dict.fromkeys(pin for entry in held["t"] if (pin := _pin(places, entry)) is not None)
    return Pins(tuple(tokens), _cell(places, held.get("c")))


def _pin(places: Places, entry: Sequence[Any]) -> Pin | None:
    axis, at = entry[0], entry[1]
    size = len(places.rows if axis == "q" else places.cols)
    if at == choices.LAST:
        return Pin(axis, size - 1)
    # a link of an earlier version has no label: it counts rows and columns of the picture
    line = places.shown(axis, at, entry[2]) if len(entry) > 2 else at
    return None if line is None or line >= size else Pin(axis, line)


def _cell(places: Places, held: Sequence[Any] | None) -> tuple[int, int] | None:
    if held is None:
        return None
    row, col = held[:2]
    if len(held) > 2:
        row, col = places.shown("q", row, held[2]), places.shown("k", col, held[3])
    if row is None or col is None or row >= len(places.rows) or col >= len(places.cols):
        return None
    return row, col


def keep_pins(places: Places, held: Pins) -> None:
    """Keep the pins, and let the stages follow a clicked cell again. A callback, with `places` filled in."""
    found = [(pin.axis, places.kept(pin.axis, pin.index)) for pin in held.tokens]
    said: dict[str, Any] = {"t": [[axis, *token] for axis, token in found if token is not None]}
    if held.cell is not None:
        query, key = places.kept("q", held.cell[0]), places.kept("k", held.cell[1])
        if query is not None and key is not None:
            said["c"] = [query[0], key[0], query[1], key[1]]
    link_state.put_all({choices.PINS: said if held else None, choices.STAGE: None})
