"""Heads of a layer whose lines lie over those of the head on show: between the link, the canvas and the picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from attnviz.app import edited_head
from attnviz.app.links import link_state
from attnviz.figures.theme import overlaid
from attnviz.pages.explore import choices
from attnviz.runs.head_matrix import Look
from attnviz.runs.model_run import ModelRun, Stack
from attnviz.runs.what_if import WhatIf


def chosen() -> tuple[int, ...]:
    """The heads that the visitor laid over each other, by number; they stay when another layer is on show."""
    return tuple(head for head in link_state.value(choices.OVER) if isinstance(head, int))


def keep(heads: tuple[int, ...]) -> None:
    """Keep them. A callback."""
    link_state.put(choices.OVER, heads)


def laid_over(stack: Stack, layer: int, head: int) -> tuple[int, ...]:
    """The heads of this layer that lie over head `head`."""
    return overlaid(chosen(), head, stack.layers[layer].n_heads)[1:]


def matrices(
    heads: Sequence[int], run: ModelRun, stack: Stack, layer: int, look: Look, change: WhatIf, seen: str
) -> Mapping[int, np.ndarray]:
    """Of each of these heads its matrix, NaN where masked, under the change where that reaches them."""
    if change.where == "head":
        change = replace(change, pattern="model", hidden=(), scale="model", factor=1.0)
    found = {}
    for other in heads:
        matrix = edited_head.matrix(run, stack, layer, other, look, change, seen)
        found[other] = np.where(matrix.hidden, np.nan, matrix.values)
    return found
