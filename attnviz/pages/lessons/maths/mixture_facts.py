"""Lesson 1, what attention is: a token's new vector is a weighted mixture of others."""

from functools import partial

import numpy as np
import torch

from attnviz.base.message import Message
from attnviz.base.rounding import format_number
from attnviz.base.words import N_
from attnviz.core.attention import attend
from attnviz.models.architecture import Architecture
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Subject,
    fact,
    nearest_answer,
)


@fact
def tokens(subject: Subject) -> Facts:
    labels = subject.tokens
    vectors, width = subject.vectors, subject.head_layer.qkv[0].shape[-1]
    return Facts(
        {
            "n": len(labels),
            "first": labels[0],
            "last": labels[-1],
            "repeated": len(labels) - len(set(labels)),
            "width": width if vectors is None else vectors.shape[-1],
            "few": width,
        }
    )


@fact
def favourite(subject: Subject) -> Facts:
    """The key that the row on show looks at most; offered beside two others that it may look at."""
    matrix, row = subject.matrix(), subject.row
    seen = np.where(matrix.hidden[row], -1.0, matrix.values[row])
    best = int(seen.argmax())
    allowed = [int(key) for key in np.argsort(seen) if seen[key] >= 0 and key != best]
    offered = sorted({best, *allowed[:1], *allowed[-1:]})
    in_percent = partial(format_number, spec=".0%")
    return Facts(
        {
            "token": matrix.row_name(row),
            "key": matrix.col_name(best),
            "share": float(seen[best]),
            "n": int((~matrix.hidden[row]).sum()),
            "heads": sum(layer.n_heads for layer in subject.layers),
        },
        str(best),
        tuple((str(key), matrix.col_name(key)) for key in offered),
        tuple(str(key) for key in offered if key != best and in_percent(seen[key]) == in_percent(seen[best])),
    )


@fact
def row_sum(subject: Subject) -> Facts:
    matrix, row = subject.matrix(), subject.row
    return Facts(
        {
            "token": matrix.row_name(row),
            "total": float(np.where(matrix.hidden[row], 0.0, matrix.values[row]).sum()),
            "n": int((~matrix.hidden[row]).sum()),
            "hidden": int(matrix.hidden[row].sum()),
        }
    )


@fact
def offered(subject: Subject) -> Facts:
    """What a token hands over: a value, made of its vector."""
    matrix, row = subject.matrix(), subject.row
    width = Architecture.preset("smollm2-135m").layers[0].d_model
    return Facts(
        {"token": matrix.row_name(row), "width": width, "few": subject.head_layer.qkv[2].shape[-1], **_best(subject)}
    )


def _best(subject: Subject) -> dict[str, object]:
    """The key that the row looks at most, and its share."""
    key = subject.favourite_key
    return {"key": subject.matrix().col_name(key), "share": float(subject.matrix().values[subject.row, key])}


@fact
def one_hot(subject: Subject) -> Facts:
    """All weight on one key: the output is that key's value vector."""
    numbers = subject.query_numbers()
    best = subject.favourite_key
    q, k, v = (torch.from_numpy(vectors)[None] for vectors in (numbers.q[None], numbers.k, numbers.v))
    output, v, seen = attend(q, k, v, torch.arange(len(numbers.v)) == best).output[0, 0], v[0], numbers.seen
    distance = {
        "value": float((output - v[best]).abs().max()),
        "zero": float(output.abs().max()),
        "mean": float((output - v[torch.from_numpy(seen)].mean(0)).abs().max()),
    }
    nearest = nearest_answer(distance, 0.0)
    return Facts(
        {"token": subject.matrix().row_name(numbers.row), "difference": distance["value"], **_best(subject)},
        right=nearest,
        also_right=tuple(name for name in distance if name != nearest and distance[name] < 1e-6),
    )


@fact
def swapped(subject: Subject) -> Facts:
    """One word exchanged for another: whose weights change."""
    exchange, before = subject.exchange, np.maximum(subject.query_numbers().weights, 0)
    changed = int((np.abs(exchange.weights - before).max(-1) > 1e-6).sum())
    row, why = subject.row, N_("rows before it cannot see it; every row from it on has another key to look at.")
    if not changed:
        why = N_("no row has another weight.")
        if len(before) == 1:
            why = N_("it is alone, and gives all its weight to itself, whichever word it is.")
    return Facts(
        {
            "word": exchange.old,
            "new": exchange.new,
            "rows": changed,
            "n": len(before),
            "why": Message(why),
            "token": subject.matrix().row_name(row),
            "before": float(before[row, exchange.at]),
            "after": float(exchange.weights[row, exchange.at]),
        },
        right="none" if not changed else "one" if changed == 1 else "all",
    )
