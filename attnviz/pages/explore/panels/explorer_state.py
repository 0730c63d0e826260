"""The explorer's choices, limited to what this sentence and this model have: a head, its edit, its pins."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import head_drawing, widgets
from attnviz.app.links import link_state, shared_view
from attnviz.base.head_edit import LARGEST_FACTOR, LONGEST_WINDOW, HeadEdit
from attnviz.base.words import _
from attnviz.canvas.shared.kinds import Pin, Pins, PinSide
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


def matrices_over(
    heads: Sequence[int], run: ModelRun, stack: Stack, layer: int, look: Look, edit: HeadEdit
) -> Mapping[int, np.ndarray]:
    """Of each of these heads its matrix, NaN where masked, under the edit where that reaches them."""
    if edit.where == "head":
        edit = HeadEdit(seen=edit.seen)
    matrices = {other: head_drawing.edited_matrix(run, stack, layer, other, look, edit) for other in heads}
    return {other: matrix.plain for other, matrix in matrices.items()}


@dataclass(frozen=True)
class PictureAxis:
    """Which of the model's tokens each row, or each column, of a picture stands for. It holds no tensors."""

    lines: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...]  #: of each of the model's tokens

    def shown(self, position: int, label: str) -> int | None:
        """The row or column of a token that was kept; None where this picture does not have it.

        A token of another label stands there once the sentence or the model has changed: then the nearest token
        of that label is meant.
        """
        same = [at for at, each in enumerate(self.labels) if each == label]
        nearest = min(same, key=lambda at: abs(at - position), default=None)
        return next((line for line, tokens in enumerate(self.lines) if nearest in tokens), None)

    def kept(self, line: int) -> tuple[int, str] | None:
        """The position and label of the first token of a row or column; None beyond the picture."""
        if not 0 <= line < len(self.lines):
            return None
        return self.lines[line][0], self.labels[self.lines[line][0]]


Places = Mapping[PinSide, PictureAxis]  #: "q": the rows of a picture; "k": its columns


def places_of(stack: Stack, matrix: Matrix) -> Places:
    """What the rows and columns of a matrix stand for."""
    return {
        "q": PictureAxis(matrix.row_tokens, stack.queries.labels),
        "k": PictureAxis(matrix.col_tokens, stack.keys.labels),
    }


def pins(places: Places) -> Pins | None:
    """The pinned tokens and cell that this picture has; None when nothing was ever pinned."""
    chosen = link_state.value(choices.PINS)
    if chosen is None:
        return None
    lines = [(side, _line(places[side], at, *label)) for side, at, *label in chosen["t"]]
    tokens = dict.fromkeys(Pin(side, line) for side, line in lines if line is not None)
    row, col = None, None
    if "c" in chosen:
        query, key, *labels = chosen["c"]
        row, col = _line(places["q"], query, *labels[:1]), _line(places["k"], key, *labels[1:])
    return Pins(tuple(tokens), None if row is None or col is None else (row, col))


def _line(axis: PictureAxis, at: int, label: str | None = None) -> int | None:
    """The row or column that an entry of the link means; one of an earlier version has no label: it counts lines."""
    if at == choices.LAST:
        return len(axis.lines) - 1
    line = at if label is None else axis.shown(at, label)
    return None if line is None or line >= len(axis.lines) else line


def keep_pins(places: Places, pins: Pins) -> None:
    """Keep the pins, and let the stages follow a clicked cell again. A callback, with `places` filled in."""
    tokens = [(pin.axis, places[pin.axis].kept(pin.index)) for pin in pins.tokens]
    kept: dict[str, Any] = {"t": [[side, *token] for side, token in tokens if token is not None]}
    if pins.cell is not None:
        query, key = places["q"].kept(pins.cell[0]), places["k"].kept(pins.cell[1])
        if query is not None and key is not None:
            kept["c"] = [query[0], key[0], query[1], key[1]]
    link_state.put_all({choices.PINS: kept if pins else None, choices.STAGE: None})
