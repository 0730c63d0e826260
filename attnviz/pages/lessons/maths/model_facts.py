"""Lesson 9, where attention sits in a model: from a token to the next one."""

import math

import numpy as np

from attnviz.analysis.predictions import TokenChoice, prediction_slots, token_choices
from attnviz.base.rounding import format_number
from attnviz.models.architecture import Architecture
from attnviz.pages.lessons.maths.cache_facts import MODEL, NAME, total_parameters
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Subject,
    fact,
    nearest_answer,
)
from attnviz.pages.why.maths import parts

OFFERED = 3


@fact
def chain(subject: Subject) -> Facts:
    layers = subject.layers
    return Facts({"n": len(subject.tokens), "layers": len(layers), "heads": layers[0].n_heads, "text": subject.text})


@fact
def residual(subject: Subject) -> Facts:
    tensors = subject.attend_by_hand().tensors
    difference = float(np.abs(tensors["X"] + tensors["output"] - tensors["residual"]).max())
    return Facts(
        {"word": subject.hand_words[-1], "difference": difference}, "added" if difference < 1e-6 else "replaced"
    )


@fact
def share(_subject: Subject) -> Facts:
    attention, everything = Architecture.preset(MODEL).attention_parameters(), total_parameters()
    return Facts(
        {"model": NAME, "share": attention / everything, "attention": attention / 1e9, "all": everything / 1e9},
        right=nearest_answer({"sixth": 1 / 6, "half": 1 / 2, "most": 9 / 10}, attention / everything),
    )


def likeliest_tokens(subject: Subject, n: int = 8) -> list[TokenChoice]:
    """The `n` likeliest next tokens of the trained model. Without one, raise a Problem."""
    run, loaded = subject.trained_run, subject.get_model()
    return token_choices(loaded, prediction_slots(run, loaded)[0], n)


@fact
def following(subject: Subject) -> Facts:
    """The likeliest next token, offered among the three likeliest in the order of the alphabet."""
    first, second, *_others = offered = likeliest_tokens(subject, OFFERED)
    return Facts(
        {"token": first.label, "share": first.probability, "second": second.label, "second_share": second.probability},
        right=str(first.token),
        answers=tuple((str(choice.token), choice.label) for choice in sorted(offered, key=lambda choice: choice.label)),
    )


@fact
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
        right=str(order[0]),
        answers=tuple((str(at), name(at)) for at in offered),
        also_right=tuple(
            str(at)
            for at in offered
            if at != order[0] and format_number(sources[at], ".2f") == format_number(sources[order[0]], ".2f")
        ),
    )


@fact
def surprise(subject: Subject) -> Facts:
    """What the model is paid for in training: the negative logarithm of the right token's probability."""
    first = likeliest_tokens(subject)[0]
    return Facts({"token": first.label, "share": first.probability, "loss": -math.log(max(first.probability, 1e-30))})


@fact
def loop(subject: Subject) -> Facts:
    first = likeliest_tokens(subject)[0]
    return Facts({"token": first.label, "longer": subject.text.rstrip() + first.text})
