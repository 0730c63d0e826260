"""Lesson 2, one row worked out: query, keys, values, scores, softmax and the sum."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as functional

from attnviz.pages.lessons.maths.subject import WIDTH, Facts, Subject, written


def vectors(subject: Subject) -> Facts:
    made = subject.by_hand().tensors
    return Facts(
        {
            "word": subject.words[-1],
            "width": WIDTH,
            "x": written(made["X"][0, -1]),
            "q": written(made["Q"][0, 0, -1]),
            "k": written(made["K"][0, 0, -1]),
            "v": written(made["V"][0, 0, -1]),
        }
    )


def score(subject: Subject) -> Facts:
    """The last word's best score, written out; and what a key that points the query's own way would get."""
    made = subject.by_hand().tensors
    q, scores = made["Q"][0, 0, -1], made["scores"][0, 0, -1]
    best = int(scores.argmax())
    same_way = float(q @ q)
    right = "positive" if same_way > 1e-9 else "zero" if same_way > -1e-9 else "negative"
    values = {
        "word": subject.words[-1],
        "other": subject.words[best],
        "q": written(q),
        "k": written(made["K"][0, 0, best]),
        "score": float(scores[best]),
        "same_way": same_way,
    }
    return Facts(values, right)


def scaled(subject: Subject) -> Facts:
    made = subject.by_hand().tensors
    best = int(made["scores"][0, 0, -1].argmax())
    return Facts(
        {
            "score": float(made["scores"][0, 0, -1, best]),
            "scaled": float(made["scaled"][0, 0, -1, best]),
            "width": WIDTH,
            "root": math.sqrt(WIDTH),
        }
    )


def softmax(subject: Subject) -> Facts:
    """Two scores that differ by 1: how their weights compare, whatever the other scores are."""
    row = torch.from_numpy(subject.by_hand().tensors["scaled"][0, 0, -1]).double()
    pair = torch.softmax(torch.cat([row, row[:1] + 1]), 0)
    times = float(pair[-1] / pair[0])
    near = {"same": 1.0, "e": math.e, "ten": 10.0}
    right = min(near, key=lambda name: abs(near[name] - times))
    weights = subject.by_hand().tensors["weights"][0, 0, -1]
    return Facts({"times": times, "word": subject.words[-1], "total": float(weights.sum())}, right)


def mixed(subject: Subject) -> Facts:
    made = subject.by_hand().tensors
    weights = made["weights"][0, 0, -1]
    best = int(weights.argmax())
    return Facts(
        {
            "word": subject.words[-1],
            "other": subject.words[best],
            "share": float(weights[best]),
            "output": written(made["heads"][0, 0, -1]),
        }
    )


def by_torch(subject: Subject) -> Facts:
    """The same in one line, by a function that this app did not write."""
    made = subject.by_hand().tensors
    q, k, v = (torch.from_numpy(made[name]) for name in "QKV")
    theirs = functional.scaled_dot_product_attention(q, k, v).numpy()
    rows = len(subject.words)
    return Facts({"difference": float(np.abs(theirs - made["heads"]).max()), "n": rows, "pairs": rows * rows})
