"""A boolean grid over tokens, painted by hand: which token may look at which, and the attention that is left."""

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
    `label` is the name of the grid, in the visitor's language. With raw `scores` (T, T) and their `scale`, cells show
    the weights under the mask, and ribbons show those of one `word`. `layers` (n, most): ribbons show what reaches the
    word within n layers, and a visitor chooses n up to `most`. `on_stand(word, n)` is called when either is changed.
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

    def call_back(report: tuple[NDArray[np.bool_], int, int]) -> None:
        painted, *stand = report
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
        call_back,
        packing.deflate(payload),
    )
