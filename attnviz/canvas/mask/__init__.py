"""A boolean grid over tokens, painted by hand: who may look at whom, and what attention is left."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.base.message import Problem
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.component import count, mount_component
from attnviz.live.matrix_figures import MaskFigure

MOST_CELLS = 512 * 512


def mask_grid(
    key: str,
    mask: NDArray[np.bool_],
    tokens_q: Sequence[str],
    tokens_k: Sequence[str] | None = None,
    *,
    on_change: Callable[[NDArray[np.bool_]], None],
    label: str = "",
    scores: NDArray[np.float32] | None = None,
    scale: float | None = None,
    word: int = 0,
    layers: tuple[int, int] | None = None,
    on_stand: Callable[[int, int], None] | None = None,
) -> None:
    """Draw `mask` (Q, K), True = may attend, to be painted on.

    A gesture that begins on an allowed cell forbids, one that begins on a forbidden cell allows;
    Python hears of it when the gesture ends: `on_change` is called before the rerun, and the caller passes
    the new mask in. Undo and redo work in the browser and also reach Python.
    `label` is what the grid is called, in the visitor's language. With raw `scores` (T, T) and their `scale` cells show
    weights under the mask, and ribbons those of a `word`, or what reaches it in so many `layers`, of at most so many;
    `on_stand` hears of another word and other layers.
    """
    allowed = np.asarray(mask, bool)
    queries, keys = len(tokens_q), len(tokens_q if tokens_k is None else tokens_k)
    if allowed.shape != (queries, keys):
        raise ValueError(f"a mask of shape {allowed.shape} does not fit {queries} queries and {keys} keys")
    if allowed.size > MOST_CELLS:
        raise Problem(
            "{rows} × {columns} cells are more than can be painted: at most {most}.",
            rows=queries,
            columns=keys,
            most=MOST_CELLS,
        )
    q, k = [str(t) for t in tokens_q], None if tokens_k is None else [str(t) for t in tokens_k]
    figure = MaskFigure(allowed, q, q if k is None else k, scores=scores, scale=scale, word=word, layers=layers)
    payload = figure.payload
    header: dict[str, Any] = {"k": k, "label": label, "data": packing.fingerprint(payload, q, k)}

    def read(report: dict[str, Any]) -> tuple[NDArray[np.bool_], int, int] | None:
        painted = packing.parse_bits(report.get("bits"), allowed.shape)
        at, height = count(report.get("word"), queries), count(report.get("layers"), 1 + (layers[1] if layers else 1))
        return None if painted is None or at is None or not height else (painted, at, height)

    def hear(told: tuple[NDArray[np.bool_], int, int]) -> None:
        painted, *stand = told
        if on_stand is not None and layers is not None and stand != [word, layers[0]]:
            on_stand(*stand)
        if (painted != allowed).any():
            on_change(painted)

    mount_component(
        "mask",
        key,
        "paint",
        figure.header | header,
        read,
        hear,
        packing.deflate(payload),
    )
