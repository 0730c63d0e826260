"""Lesson 11, two heads that work together: one marks each token with the one before it, another looks for that mark."""

import numpy as np

from attnviz.analysis import head_matrix
from attnviz.base.message import Message, Problem
from attnviz.models.capture import Cut
from attnviz.pages.explore.maths import why_there
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Subject,
    fact,
    nearest_answer,
)

READER = (18, 6)  #: layer and head of the trained model that looks for what came after the same word
#: weight from which it does so, and more than any other token has but the first, on which many heads rest
LEAST, AHEAD = 0.05, 0.01


def find_cell(subject: Subject) -> why_there.Cell:
    """Stack, layer, head, query and key: a word that came before, and what followed it there.

    Of such pairs it is the first that has half of the weight, else the one that has most. A Problem where the head
    looks at none.
    """
    tokens, weights = subject.tokens, weights_of(subject, READER)
    pairs = [
        (query, key + 1) for query in range(len(tokens)) for key in range(query - 1) if tokens[key] == tokens[query]
    ]
    if not pairs:
        raise Problem("No word comes twice here: type some words, and the same words again.")
    query, key = next((pair for pair in pairs if weights[pair] >= 0.5), max(pairs, key=lambda pair: weights[pair]))
    rivals = np.delete(weights[query], [0, key]).max(initial=0.0)
    if weights[query, key] < max(LEAST, rivals + AHEAD):
        raise Problem(
            "Here head 18.6 does not look at what followed the same word: type several words, and the same again."
        )
    return subject.trained_run.stacks[0].id, *READER, query, key


def weights_of(subject: Subject, head: tuple[int, int]) -> np.ndarray:
    """Weights (K, K) of a head of the trained model, 0 where a key is hidden."""
    matrix = head_matrix.head_matrix(subject.trained_run.stacks[0], *head, head_matrix.DisplayOptions())
    return np.where(matrix.hidden, 0.0, matrix.values)


def take_apart(subject: Subject) -> why_there.WhyThere:
    """The score of that cell, by what wrote its query and its key."""
    found: why_there.WhyThere = subject.rerun(why_there.run, find_cell(subject))
    return found


def cut_part(subject: Subject, part: str) -> Cut:
    """The weight of that cell without a part of the key."""
    cut: Cut = subject.rerun(why_there.cut_part, find_cell(subject), part)
    return cut


def _name(found: why_there.WhyThere) -> Message | str:
    """What the part of the key that adds most is called."""
    if found.source is not None:
        return Message("head {name}", {"name": found.largest})
    return Message("the token") if found.largest == "token" else found.largest.replace("mlp ", "MLP ")


@fact
def looks(subject: Subject) -> Facts:
    *_head, query, key = find_cell(subject)
    tokens, found = subject.tokens, take_apart(subject)
    return Facts(
        {
            "token": tokens[query],
            "key": tokens[key],
            "share": float(weights_of(subject, READER)[query, key]),
            "part": _name(found),
            "value": found.value,
            "rest": found.difference - found.value,
        },
        right="head" if found.source is not None else "mlp" if found.largest.startswith("mlp") else "token",
    )


def writer_of(subject: Subject) -> tuple[int, int]:
    """Layer and head that wrote most of the key."""
    found = take_apart(subject)
    if found.source is None:
        raise Problem("In this sentence no head wrote most of the key. In the lesson’s own sentence one did.")
    layer, head = map(int, found.largest.rsplit(".", 2)[-2:])
    return layer, head


@fact
def writes(subject: Subject) -> Facts:
    """Where the head that wrote the key looks from there."""
    *_head, query, key = find_cell(subject)
    tokens, source, head = subject.tokens, take_apart(subject).source, writer_of(subject)
    assert source is not None
    return Facts(
        {
            "part": ".".join(map(str, head)),
            "key": tokens[key],
            "source": tokens[source],
            "share": float(weights_of(subject, head)[key, source]),
            "token": tokens[query],
        }
    )


@fact
def without(subject: Subject) -> Facts:
    """What is left of the weight when the path is cut, and when the part is switched off in the whole model."""
    cut = cut_part(subject, take_apart(subject).largest)
    total = cut.weight if cut.total is None else cut.total
    left = {"all": 1.0, "half": 0.5, "none": 0.0}
    return Facts(
        {**looks(subject).values, "before": cut.weight_before, "after": cut.weight, "off": total},
        right=nearest_answer(left, cut.weight / max(cut.weight_before, 1e-30)),
    )
