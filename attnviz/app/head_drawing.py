"""A head's matrix as the canvas and a table take it: its labels, its name, its sentence, its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.base.words import _
from attnviz.canvas.shared.kinds import Head, Raw, SaidOfRow
from attnviz.runs import head_matrix as experiment
from attnviz.runs.head_matrix import Look, Matrix
from attnviz.runs.model_run import Stack


def axes(matrix: Matrix) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """The labels of rows and columns; None for columns that are the rows' own tokens."""
    return matrix.rows, None if matrix.looks_at_itself else matrix.cols


def telling_row(matrix: Matrix) -> int:
    """The row for the sentence below: the one with the largest, farthest weight.

    The first token, a common sink, is ignored.
    """
    seen = np.where(matrix.hidden, 0.0, matrix.values)
    rows, cols = np.indices(seen.shape)
    telling = seen * np.log1p(np.abs(rows - cols)) * (cols > 0)
    return int(np.unravel_index(int(telling.argmax()), seen.shape)[0]) if seen.size else 0


def drawn_alone(matrix: Matrix, title: str, raw: Raw | None) -> Head:
    """A head that no overview stands beside."""
    return Head(matrix.values, title, matrix.hidden, raw=raw, sentence=sentence_of(matrix))


def sentence_of(matrix: Matrix) -> SaidOfRow:
    """What the canvas says of a row below the picture, in the visitor's language."""
    one, two, three = (_(message.template) for message in experiment.SAID[matrix.meaning])
    masked, none = (_(message.template) for message in (experiment.MASKED_ROW, experiment.FAINT_ROW))
    least = 1e-9 if matrix.meaning == "values" else 0.005
    return SaidOfRow((one, two, three, masked, none), telling_row(matrix), (matrix.row_at, matrix.col_at), least)


def head_title(stack: Stack, layer: int, head: int) -> str:
    template, share = titles(stack, layer)
    return template.format(layer=layer, head=head, kv=head // share)


def titles(stack: Stack, layer: int) -> tuple[str, int]:
    """How heads are called, and how many of them share one key/value head."""
    chosen = stack.layers[layer]
    if chosen.n_kv_heads == chosen.n_heads:
        return _("Layer {layer}, head {head}"), 1
    return _("Layer {layer}, head {head} (reads K/V head {kv})"), chosen.n_heads // chosen.n_kv_heads


def unit_of(look: Look) -> str:
    """The name of a value in colour bars and read-outs."""
    return _("weight × |value|") if look.values == "values" else _("weight")


def long_table(matrix: Matrix) -> dict[str, Any]:
    """One row for each cell: query, key, their positions, and the value, which is empty for hidden cells."""
    n_rows, n_cols = matrix.values.shape
    row, col = np.indices((n_rows, n_cols))
    values = np.where(matrix.hidden, np.nan, matrix.values)
    return {
        "query_position": np.array(matrix.row_at)[row.ravel()].tolist(),
        "query": [matrix.rows[i] for i in row.ravel()],
        "key_position": np.array(matrix.col_at)[col.ravel()].tolist(),
        "key": [matrix.cols[i] for i in col.ravel()],
        "value": ["" if np.isnan(v) else f"{v:.6g}" for v in values.ravel()],
    }
