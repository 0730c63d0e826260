"""Facts of the sentence and of the head's row that lessons follow: weights, scores, values, other heads."""

import math
from itertools import takewhile

import numpy as np
import torch
import torch.nn.functional as functional

from attnviz.base.message import Message
from attnviz.base.rounding import format_number
from attnviz.base.words import N_
from attnviz.core.attention import attend
from attnviz.core.measures import entropy
from attnviz.pages.lessons.maths.lesson_parts import Facts, Subject, fact, nearest_answers, require_two

FEW = 3  #: favourites that are called few


@fact()
def sentence(subject: Subject) -> Facts:
    """What the sentence is cut into, and the model that reads it."""
    labels, layers = subject.tokens, subject.layers
    return Facts(
        {
            "n": len(labels),
            "pairs": len(labels) ** 2,
            "first": labels[0],
            "last": labels[-1],
            "repeated": len(labels) - len(set(labels)),
            "text": subject.text,
            "width": subject.vectors.shape[-1],
            "few": subject.head_layer.qkv[0].shape[-1],
            "layers": len(layers),
            "heads": layers[0].n_heads,
            "all": sum(layer.n_heads for layer in layers),
            "kv_heads": layers[0].n_kv_heads,
        }
    )


@fact()
def row(subject: Subject) -> Facts:
    """The row that lessons speak of, and the key that it looks at most."""
    matrix, at, key, numbers = subject.matrix(), subject.row, subject.favourite_key, subject.query_numbers()
    score, share, seen = float(numbers.q @ numbers.k[key]), float(matrix.values[at, key]), int(numbers.seen.sum())
    return Facts(
        {
            "token": matrix.row_name(at),
            "key": matrix.col_name(key),
            "other": matrix.col_name(key),
            "share": share,
            "first": share,
            "left": 1 - share,
            "total": float(subject.row_weights().sum()),
            "n": seen,
            "hidden": len(numbers.seen) - seen,
            "score": score,
            "scaled": score * numbers.scale,
            "same_way": float(numbers.q @ numbers.q),
            "width": numbers.q.size,
            "d_k": numbers.q.size,
            "root": 1 / numbers.scale,
        }
    )


@fact(row)
def favourite(subject: Subject) -> Facts:
    """The key that the row looks at most, offered beside two others that it may look at."""
    matrix, at = subject.matrix(), subject.row
    seen = np.where(matrix.hidden[at], -1.0, matrix.values[at])
    best, shares = int(seen.argmax()), [format_number(weight, ".0%") for weight in seen]
    allowed = [int(key) for key in np.argsort(seen) if seen[key] >= 0 and key != best]
    offered = sorted({best, *allowed[:1], *allowed[-1:]})
    return Facts(
        {"heads": sum(layer.n_heads for layer in subject.layers)},
        tuple(str(key) for key in offered if shares[key] == shares[best]),
        tuple((str(key), matrix.col_name(key)) for key in offered),
    )


@fact(row)
def one_hot(subject: Subject) -> Facts:
    """All weight on one key: the output is that key's value vector."""
    numbers, best = subject.query_numbers(), subject.favourite_key
    q, k, v = (torch.from_numpy(vectors)[None] for vectors in (numbers.q[None], numbers.k, numbers.v))
    output, v = attend(q, k, v, torch.arange(len(numbers.v)) == best).output[0, 0], v[0]
    others = {"value": v[best], "zero": torch.zeros(()), "mean": v[torch.from_numpy(numbers.seen)].mean(0)}
    distance = {name: float((output - vector).abs().max()) for name, vector in others.items()}
    return Facts({"difference": distance["value"]}, nearest_answers(distance, 0.0))


@fact(row)
def swapped(subject: Subject) -> Facts:
    """One word exchanged for another: whose weights change."""
    exchange, before = subject.exchange, np.maximum(subject.query_numbers().weights, 0)
    changed = np.flatnonzero(np.abs(exchange.weights - before).max(-1) > 1e-6).tolist()
    if len(before) == 1:
        why = N_("it is alone, and gives all its weight to itself, whichever word it is.")
    elif not changed:
        why = N_("no row has another weight.")
    elif exchange.at == 0:
        why = N_("its own row sees nothing else; every row after it has another key to look at.")
    else:
        why = N_("rows before it cannot see it; every row from it on has another key to look at.")
    values = {
        "word": exchange.old,
        "new": exchange.new,
        "rows": len(changed),
        "n": len(before),
        "why": Message(why),
        "before": float(before[subject.row, exchange.at]),
        "after": float(exchange.weights[subject.row, exchange.at]),
    }
    return Facts(values, ("none" if not changed else "one" if changed == [exchange.at] else "all",))


@fact(row)
def score(subject: Subject) -> Facts:
    """The sign of the score of a key equal to the query."""
    length = float(subject.query_numbers().q @ subject.query_numbers().q)
    return Facts({}, ("positive" if length > 1e-9 else "zero" if length > -1e-9 else "negative",))


@fact(row)
def softmax(subject: Subject) -> Facts:
    """Two scores that differ by 1: how their weights compare, whatever the other scores are."""
    numbers = subject.query_numbers()
    scores = torch.from_numpy(numbers.k[numbers.seen] @ numbers.q * numbers.scale).double()
    pair = torch.softmax(torch.cat([scores, scores[:1] + 1]), 0)
    times = float(pair[-1] / pair[0])
    return Facts({"times": times}, nearest_answers({"same": 1, "e": math.e, "ten": 10}, times))


@fact(sentence)
def by_torch(subject: Subject) -> Facts:
    """All rows by a function that this app did not write, and the scores of twice as many tokens."""
    layer, (_layer, head) = subject.head_layer, subject.head
    q, k, v = (tensor[0] for tensor in layer.qkv)
    kv_head, mask = head * len(k) // len(q), layer.mask_for()[0, 0]
    fused = functional.scaled_dot_product_attention(q[head], k[kv_head], v[kv_head], mask, scale=layer.scale_of(head))
    q2, k2, v2 = (torch.cat([tensor, tensor], -2)[:1] for tensor in (q, k, v))
    twice = attend(q2, k2, v2).scores
    times = twice.shape[-1] * twice.shape[-2] / len(subject.tokens) ** 2
    difference = float((fused - layer.stages(head).output[0, 0]).abs().max())
    return Facts({"difference": difference}, nearest_answers({"two": 2, "four": 4, "eight": 8}, times))


@fact(row)
def scales(subject: Subject) -> Facts:
    """The largest weight of the row: scores divided by d_k, by its root, and not at all."""
    factors = {"even": 1 / subject.query_numbers().q.size, "scaled": None, "raw": 1.0}
    return Facts({name: float(subject.row_weights(by)[subject.favourite_key]) for name, by in factors.items()})


@fact(row)
def off(subject: Subject) -> Facts:
    """The row with and without scaling."""
    scaled, unscaled = (torch.from_numpy(subject.row_weights(scale)).double() for scale in (None, 1.0))
    entropy_drop, best = float(entropy(scaled) - entropy(unscaled)), int(unscaled.argmax())
    return Facts(
        {"key": subject.matrix().col_name(best), "before": float(scaled[best]), "after": float(unscaled[best])},
        ("same" if abs(entropy_drop) < 1e-9 else "sharper" if entropy_drop > 0 else "flatter",),
    )


@fact(row)
def too_much(subject: Subject) -> Facts:
    """Largest weight if scores are divided by d_k itself instead of its root."""
    numbers = subject.query_numbers()
    largest, usual = (float(subject.row_weights(scale).max()) for scale in (1 / numbers.q.size, None))
    answers = {"even": 1 / int(numbers.seen.sum()), "same": usual, "one": 1}
    return Facts({"largest": largest, "even": answers["even"], "scaled": usual}, nearest_answers(answers, largest))


@fact(row)
def one_row(subject: Subject) -> Facts:
    """Whether two weights of one row can both be 90%: its sum says so."""
    return Facts({}, ("yes" if float(subject.row_weights().sum()) >= 2 * 0.9 else "no",))


@fact()
def favourites(subject: Subject) -> Facts:
    """How many different tokens the heads of one layer look at most, from the same row."""
    at, (layer, _head) = subject.row, subject.head
    weights = subject.head_layer.weights()[0, :, at].float().numpy(force=True)  # (H, K), 0 where masked
    different = len({int(row.argmax()) for row in weights})
    values = {"token": subject.matrix().row_name(at), "layer": layer, "heads": len(weights), "different": different}
    return Facts(values | {"few": FEW}, ("one" if different == 1 else "few" if different <= FEW else "many",))


@fact()
def unchanged(subject: Subject) -> Facts:
    """The keys and values of the head's first tokens, before and after another token follows."""
    require_two(subject.token_texts)
    shorter, longer = subject.of_text("".join(subject.token_texts[:-1])), subject.query_numbers()
    pairs = zip(shorter.tokens, subject.tokens, strict=False)
    same = len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])  # without its end a text may be cut otherwise
    before, size = shorter.query_numbers(), float(np.abs(longer.k).max())
    both = ((before.k, longer.k), (before.v, longer.v))
    difference = max(float(np.abs(old[:same] - new[:same]).max()) for old, new in both)
    values = {"last": subject.tokens[-1], "difference": difference, "size": size}
    return Facts(values, ("no" if difference < 1e-4 * size else "yes",))
