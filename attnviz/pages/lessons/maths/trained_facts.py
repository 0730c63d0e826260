"""Facts of the trained model: its next token, the head that adds most to it, and two heads that work together."""

import math

import numpy as np

from attnviz.analysis import head_matrix
from attnviz.analysis.predictions import TokenChoice, prediction_slots, token_choices
from attnviz.base.message import Message, Problem
from attnviz.base.rounding import format_number
from attnviz.models.capture import Cut
from attnviz.pages.explore.maths import why_there
from attnviz.pages.lessons.maths.lesson_parts import Facts, Subject, fact, nearest_answers
from attnviz.pages.why.maths import parts

OFFERED = 3
READER = (18, 6)  #: layer and head of the trained model that looks for what came after the same word
#: weight from which it does so, and more than any other token has but the first, on which many heads rest
LEAST, AHEAD = 0.05, 0.01


def likeliest_tokens(subject: Subject, n: int = 8) -> list[TokenChoice]:
    """The `n` likeliest next tokens of the trained model. Without one, raise a Problem."""
    run, loaded = subject.trained_run, subject.get_model()
    return token_choices(loaded, prediction_slots(run, loaded)[0], n)


@fact()
def next_token(subject: Subject) -> Facts:
    """The likeliest next token, offered among the three likeliest in the order of the alphabet, and its loss.

    The loss is what the model is paid for in training: the negative logarithm of the right token's probability.
    """
    first, second, *_others = offered = likeliest_tokens(subject, OFFERED)
    values = {"token": first.label, "share": first.probability, "longer": subject.text.rstrip() + first.text}
    values |= {"second": second.label, "second_share": second.probability}
    by_label = sorted(offered, key=lambda choice: choice.label)
    return Facts(
        values | {"loss": -math.log(max(first.probability, 1e-30))},
        (str(first.token),),
        tuple((str(choice.token), choice.label) for choice in by_label),
    )


@fact()
def who_said(subject: Subject) -> Facts:
    """The head that adds most to the logit difference of the two likeliest tokens, and the word that it reads."""
    attribution: parts.Parts = subject.rerun(parts.run, parts.TokenQuestion())
    layer, head = attribution.strongest
    sources, name = attribution.sources[layer, head], subject.matrix().col_name
    order = [int(at) for at in np.argsort(-sources)]
    offered = sorted({order[0], order[-1], len(sources) - 1})
    token, second = attribution.targets
    return Facts(
        {
            "token": token.label,
            "second": second.label,
            "lead": attribution.total,
            "layer": layer,
            "head": head,
            "part": float(attribution.heads[layer, head]),
            "source": name(order[0]),
            "value": float(sources[order[0]]),
            "rest": float(attribution.heads[layer, head] - sources[order[0]]),
        },
        tuple(str(at) for at in offered if format_number(sources[at], ".2f") == format_number(sources.max(), ".2f")),
        tuple((str(at), name(at)) for at in offered),
    )


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
    matrix = head_matrix.head_matrix(subject.trained_run.stacks[0], *head)
    return np.where(matrix.hidden, 0.0, matrix.values)


def take_apart(subject: Subject) -> why_there.WhyThere:
    """The score of that cell, by what wrote its query and its key."""
    return subject.rerun(why_there.run, find_cell(subject))


def cut_part(subject: Subject, part: str) -> Cut:
    """The weight of that cell without a part of the key."""
    return subject.rerun(why_there.cut_part, find_cell(subject), part)


def _name(found: why_there.WhyThere) -> Message | str:
    """What the part of the key that adds most is called."""
    if found.source is not None:
        return Message("head {name}", {"name": found.largest})
    return Message("the token") if found.largest == "token" else found.largest.replace("mlp ", "MLP ")


@fact()
def looks(subject: Subject) -> Facts:
    """What that head looks at from a repeated word, and the part of the key that adds most to the score."""
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
        ("head" if found.source is not None else "mlp" if found.largest.startswith("mlp") else "token",),
    )


def writer_of(subject: Subject) -> tuple[int, int]:
    """Layer and head that wrote most of the key."""
    found = take_apart(subject)
    if found.source is None:
        raise Problem("In this sentence no head wrote most of the key. In the lesson’s own sentence one did.")
    layer, head = map(int, found.largest.rsplit(".", 2)[-2:])
    return layer, head


@fact()
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


@fact(looks)
def without(subject: Subject) -> Facts:
    """What is left of the weight when the path is cut, and when the part is switched off in the whole model."""
    cut = cut_part(subject, take_apart(subject).largest)
    total = cut.weight if cut.total is None else cut.total
    return Facts(
        {"before": cut.weight_before, "after": cut.weight, "off": total},
        nearest_answers({"all": 1.0, "half": 0.5, "none": 0.0}, cut.weight / max(cut.weight_before, 1e-30)),
    )
