"""Lesson 4, why several heads."""

import numpy as np

from attnviz.analysis import head_matrix
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention
from attnviz.pages.lessons.maths.lesson_parts import (
    HEAD,
    WIDTH,
    Facts,
    Subject,
    fact,
)

MODEL_WIDTH, EIGHT = 512, 8
FEW = 3  #: favourites that are called few


@fact
def one_row(subject: Subject) -> Facts:
    """Two weights of one row can never both be large, because they share a sum of 1."""
    matrix, row = subject.matrix(), subject.row
    weights = np.where(matrix.hidden[row], 0.0, matrix.values[row])
    largest = float(weights.max())
    return Facts(
        {"token": matrix.row_name(row), "first": largest, "left": 1 - largest},
        right="yes" if float(weights.sum()) >= 2 * 0.9 else "no",
    )


@fact
def all_heads(subject: Subject) -> Facts:
    layers = subject.layers
    every, first = sum(layer.n_heads for layer in layers), layers[0]
    return Facts({"layers": len(layers), "heads": first.n_heads, "all": every, "kv_heads": first.n_kv_heads})


@fact
def favourites(subject: Subject) -> Facts:
    """How many different tokens the heads of one layer look at most, from the same row."""
    row, layer = subject.row, HEAD[0]
    matrices = [subject.matrix()]
    if subject.stack is not None:
        heads = range(subject.stack.layers[layer].n_heads)
        matrices = [head_matrix.head_matrix(subject.stack, layer, head, head_matrix.DisplayOptions()) for head in heads]
    best = [int(np.where(matrix.hidden[row], -1.0, matrix.values[row]).argmax()) for matrix in matrices]
    different, token = len(set(best)), matrices[0].row_name(row)
    return Facts(
        {"token": token, "layer": layer, "heads": len(best), "different": different, "few": FEW},
        right="one" if different == 1 else "few" if different <= FEW else "many",
    )


@fact
def cost(_subject: Subject) -> Facts:
    """Parameters of a layer with one wide head, and with eight narrow ones."""
    one_head, eight_heads = (
        sum(p.numel() for p in Attention(HeadLayout(MODEL_WIDTH, heads)).parameters()) for heads in (1, EIGHT)
    )
    return Facts(
        {"width": MODEL_WIDTH, "one": one_head, "eight": eight_heads, "heads": EIGHT, "each": MODEL_WIDTH // EIGHT},
        right="same" if one_head == eight_heads else "more" if eight_heads > one_head else "less",
    )


@fact
def joined(subject: Subject) -> Facts:
    """W_O over the joined heads is the sum of each head through its own rows of W_O."""
    result = subject.attend_by_hand(heads=2)
    heads, w_o = result.tensors["heads"][0], result.weights["W_O"]
    width = WIDTH // 2
    added = sum(heads[h] @ w_o[h * width : (h + 1) * width] for h in range(2))
    difference = float(np.abs(added - result.tensors["output"][0]).max())
    return Facts({"difference": difference, "heads": 2}, "added" if difference < 1e-5 else "other")
