"""The facts of the lessons on heads: several of them, masks, and the order of words."""

from __future__ import annotations

import numpy as np
import torch

from attnviz.base.message import Several
from attnviz.core import masks
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention
from attnviz.core.positions import ALiBi
from attnviz.pages.lessons.maths.subject import HEAD, WIDTH, Facts, Subject
from attnviz.pages.positions.maths import pair_rotation, shuffled_words
from attnviz.runs import head_matrix
from attnviz.runs.head_matrix import Look

MODEL_WIDTH, EIGHT = 512, 8
# Lesson 4, why several heads.
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


# Lesson 5, masks: who may look at whom, and why one sentence is many training examples.
def square(subject: Subject) -> Facts:
    n = len(subject.words)
    return Facts({"n": n, "all": n * n, "first": subject.words[0], "last": subject.words[-1]})


def kept(subject: Subject) -> Facts:
    n = len(subject.words)
    counted = int(masks.causal(n, n).sum())
    offered = {"half": n * n // 2, "triangle": n * (n + 1) // 2, "line": n}
    right = next(name for name in ("triangle", "half", "line") if offered[name] == counted)
    return Facts({"n": n, "all": n * n, "kept": counted, **offered}, right)


def later_words(subject: Subject) -> Facts:
    """The last word hidden from the layer altogether: what changes for the words before it, with and without a mask."""
    words = subject.words
    if len(words) < 2:
        return Facts({"last": words[-1], "causal": 0.0, "open": 0.0}, "no")
    changes = {}
    for mask in ("causal", "none"):
        whole = subject.by_hand(mask=mask).tensors["output"][0, :-1]
        shorter = subject.by_hand(words[:-1], mask=mask).tensors["output"][0]
        changes[mask] = float(np.abs(whole - shorter).max())
    right = "no" if changes["causal"] < 1e-5 else "yes"
    return Facts({"last": words[-1], "causal": changes["causal"], "open": changes["none"]}, right)


def examples(subject: Subject) -> Facts:
    """Each word but the last is asked for the next one, all in one pass."""
    words = subject.words
    shown = [f"{' '.join(words[: i + 1])} → {words[i + 1]}" for i in range(min(3, len(words) - 1))]
    count = len(words) - 1
    near = {"one": 1, "all": count}
    right = "one" if near["one"] == count == 1 else "all"
    return Facts({"n": len(words), "count": count, "shown": Several(tuple(shown)) if shown else words[0]}, right)


def too_late(subject: Subject) -> Facts:
    """Weights set to 0 after softmax, instead of scores to minus infinity before it."""
    weights = subject.by_hand().tensors["weights"][0, 0]
    n = len(weights)
    left = np.where(np.tri(n, dtype=bool), weights, 0.0).sum(-1)
    before = subject.by_hand(mask="causal").tensors["weights"][0, 0].sum(-1)
    right = "less" if float(left[0]) < 1 - 1e-6 else "one"
    return Facts({"word": subject.words[0], "left": float(left[0]), "proper": float(before[0])}, right)


# Lesson 6, how order gets in.
STEP = 5  #: positions that query and key move on together
NEAR, FAR = 1, 5


def moved(subject: Subject, kind: str, causal: bool = False) -> shuffled_words.Result:
    """The sentence backwards."""
    return shuffled_words.run(shuffled_words.Config(subject.words, kind, "reverse", causal))


def bag(subject: Subject) -> Facts:
    result = moved(subject, "none")
    return Facts({"change": result.change, "backwards": " ".join(result.words)}, "same" if result.same else "different")


def added(subject: Subject) -> Facts:
    result = moved(subject, "sinusoidal")
    word = subject.words[int(result.moved.argmax())]
    values = {"change": result.change, "word": word, "largest": result.largest}
    return Facts(values, "same" if result.same else "different")


def turned(_subject: Subject) -> Facts:
    """Query and key both move on: the score under RoPE."""
    here = pair_rotation.run(pair_rotation.Config())
    config = here.config
    there = pair_rotation.run(pair_rotation.Config(q_at=config.q_at + STEP, k_at=config.k_at + STEP))
    apart = pair_rotation.run(pair_rotation.Config(q_at=config.q_at + STEP))
    difference = abs(there.score - here.score)
    return Facts(
        {
            "q_at": config.q_at,
            "k_at": config.k_at,
            "step": STEP,
            "before": here.score,
            "after": there.score,
            "apart": apart.score,
            "difference": difference,
        },
        "same" if difference < 1e-6 else "different",
    )


def taken_off(_subject: Subject) -> Facts:
    """ALiBi's penalty on a near key and on a far one, in the first of four heads."""
    places = torch.arange(FAR + 1)
    bias = ALiBi(4).bias(places, places)
    assert bias is not None
    near, far = (-float(bias[0, FAR, FAR - distance]) for distance in (NEAR, FAR))
    right = "far" if far > near else "near" if near > far else "same"
    return Facts({"near": near, "far": far, "near_at": NEAR, "far_at": FAR}, right)


def by_mask(subject: Subject) -> Facts:
    free, causal = moved(subject, "none").every["none"]
    return Facts({"free": free, "causal": causal}, "yes" if causal > 1e-9 else "no")
