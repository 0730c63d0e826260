"""Lesson 2, one row worked out: query, keys, values, scores, softmax and the sum."""

import math

import numpy as np
import torch
import torch.nn.functional as functional

from attnviz.core.attention import attend
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Subject,
    fact,
    nearest_answer,
)


def _named(subject: Subject) -> dict[str, object]:
    """The row that lessons speak of, and the key that it looks at most."""
    matrix = subject.matrix()
    return {"token": matrix.row_name(subject.row), "other": matrix.col_name(subject.favourite_key)}


@fact
def vectors(subject: Subject) -> Facts:
    width = subject.query_numbers().q.size
    x = subject.vectors
    return Facts({"width": width if x is None else x.shape[-1], "few": width, **_named(subject)})


@fact
def score(subject: Subject) -> Facts:
    """The score of the key that is looked at most, and the score of a key equal to the query."""
    numbers = subject.query_numbers()
    same_way = float(numbers.q @ numbers.q)
    return Facts(
        {
            "score": float(numbers.q @ numbers.k[subject.favourite_key]),
            "same_way": same_way,
            "width": numbers.q.size,
            **_named(subject),
        },
        right="positive" if same_way > 1e-9 else "zero" if same_way > -1e-9 else "negative",
    )


@fact
def scaled(subject: Subject) -> Facts:
    numbers = subject.query_numbers()
    raw = float(numbers.q @ numbers.k[subject.favourite_key])
    return Facts(
        {"score": raw, "scaled": raw * numbers.scale, "width": numbers.q.size, "root": 1 / numbers.scale}
        | _named(subject)
    )


@fact
def softmax(subject: Subject) -> Facts:
    """Two scores that differ by 1: how their weights compare, whatever the other scores are."""
    numbers = subject.query_numbers()
    row = torch.from_numpy(numbers.k[numbers.seen] @ numbers.q * numbers.scale).double()
    pair = torch.softmax(torch.cat([row, row[:1] + 1]), 0)
    times = float(pair[-1] / pair[0])
    return Facts(
        {"times": times, "total": float(subject.row_weights().sum()), **_named(subject)},
        right=nearest_answer({"same": 1, "e": math.e, "ten": 10}, times),
    )


@fact
def mixed(subject: Subject) -> Facts:
    return Facts({"share": float(subject.row_weights().max()), **_named(subject)})


@fact
def by_torch(subject: Subject) -> Facts:
    """The same in one line, by a function that this app did not write."""
    layer, head = subject.head_layer, subject.head_index
    stages = layer.stages(head)
    q, k, v = (tensor[0] for tensor in layer.qkv)
    kv_head = head * len(k) // len(q)
    mask = layer.mask_for()[0, 0]
    fused = functional.scaled_dot_product_attention(q[head], k[kv_head], v[kv_head], mask, scale=layer.scale_of(head))
    q2, k2, v2 = (torch.cat([tensor, tensor], -2)[:1] for tensor in (q, k, v))
    twice = attend(q2, k2, v2).scores
    rows = len(subject.tokens)
    return Facts(
        {"difference": float(np.abs((fused - stages.output[0, 0]).numpy()).max()), "n": rows, "pairs": rows * rows},
        right=nearest_answer({"two": 2, "four": 4, "eight": 8}, twice.shape[-1] * twice.shape[-2] / rows**2),
    )
