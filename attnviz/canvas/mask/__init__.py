"""A boolean grid over tokens, painted with mouse, finger or keyboard: who may look at whom."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.base.message import Problem
from attnviz.base.packed import pack_bits
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.component import mount_component
from attnviz.live import canvas_wording

MOST_CELLS = 512 * 512


def mask_grid(
    key: str,
    mask: NDArray[np.bool_],
    tokens_q: Sequence[str],
    tokens_k: Sequence[str] | None = None,
    *,
    on_change: Callable[[NDArray[np.bool_]], None],
    label: str = "",
    compact: bool = False,
) -> None:
    """Draw `mask` (Q, K), True = may attend, to be painted on.

    A gesture that begins on an allowed cell forbids, one that begins on a forbidden cell allows;
    Python hears of it when the gesture ends: `on_change` is called before the rerun, and the caller passes
    the new mask in. Undo and redo work in the browser and also reach Python.
    `label` is what the grid is called, in the visitor's language; a `compact` one stands beside compact heads.
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
    bits = pack_bits(allowed)
    q, k = [str(t) for t in tokens_q], None if tokens_k is None else [str(t) for t in tokens_k]
    header: dict[str, Any] = {
        "shape": list(allowed.shape),
        "compact": compact,
        "q": q,
        "k": k,
        "label": label,
        "colours": canvas_wording.scene_colours(),
        "words": canvas_wording.mask_text(),
        "data": packing.fingerprint(bits, q, k),
    }
    squeezed = packing.deflate(bits)
    mount_component(
        "mask",
        key,
        "paint",
        header,
        lambda report: packing.parse_bits(report.get("bits"), allowed.shape),
        on_change,
        squeezed,
    )
