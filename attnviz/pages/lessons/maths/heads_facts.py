"""Lesson 4, why several heads."""

from __future__ import annotations

import numpy as np

from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention
from attnviz.pages.lessons.maths.subject import HEAD, WIDTH, Facts, Subject
from attnviz.runs import head_matrix
from attnviz.runs.head_matrix import Look

MODEL_WIDTH, EIGHT = 512, 8
FEW = 3  #: favourites that are called few


def one_row(subject: Subject) -> Facts:
    """Two weights of one row can never both be large, because they share a sum of 1."""
    matrix, row = subject.matrix(), subject.row
    weights = np.sort(np.where(matrix.hidden[row], 0.0, matrix.values[row]))[::-1]
    second = float(weights[1]) if len(weights) > 1 else 0.0
    return Facts(
        {
            "token": matrix.row_name(row),
            "first": float(weights[0]),
            "second": second,
            "both": float(weights[0]) + second,
            "left": 1 - float(weights[0]),
        }
    )


def all_heads(subject: Subject) -> Facts:
    if subject.stack is None:
        return Facts({"layers": 1, "heads": 1, "all": 1, "kv_heads": 1})
    layers = subject.stack.layers
    every = sum(layer.n_heads for layer in layers)
    first = layers[0]
    return Facts({"layers": len(layers), "heads": first.n_heads, "all": every, "kv_heads": first.n_kv_heads})


def favourites(subject: Subject) -> Facts:
    """How many different tokens the heads of one layer look at most, from the same row."""
    row, layer = subject.row, HEAD[0]
    if subject.stack is None:
        matrices = [subject.matrix()]
    else:
        heads = subject.stack.layers[layer].n_heads
        matrices = [head_matrix.head_matrix(subject.stack, layer, head, Look()) for head in range(heads)]
    best = [int(np.where(each.hidden[row], -1.0, each.values[row]).argmax()) for each in matrices]
    different = len(set(best))
    right = "one" if different == 1 else "few" if different <= FEW else "many"
    token = matrices[0].row_name(row)
    return Facts({"token": token, "layer": layer, "heads": len(best), "different": different, "few": FEW}, right)


def cost(_subject: Subject) -> Facts:
    """Parameters of a layer of one wide head, and of eight narrow ones."""
    one, eight = (
        sum(p.numel() for p in Attention(HeadLayout(MODEL_WIDTH, heads)).parameters()) for heads in (1, EIGHT)
    )
    right = "same" if one == eight else "more" if eight > one else "less"
    return Facts(
        {"width": MODEL_WIDTH, "one": one, "eight": eight, "heads": EIGHT, "each": MODEL_WIDTH // EIGHT}, right
    )


def joined(subject: Subject) -> Facts:
    """W_O over the joined heads is the sum of each head through its own rows of W_O."""
    result = subject.by_hand(heads=2)
    heads, w_o = result.tensors["heads"][0], result.weights["W_O"]
    width = WIDTH // 2
    added = sum(heads[h] @ w_o[h * width : (h + 1) * width] for h in range(2))
    difference = float(np.abs(added - result.tensors["output"][0]).max())
    return Facts({"difference": difference, "heads": 2}, "added" if difference < 1e-5 else "other")
