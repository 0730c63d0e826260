"""Lesson 8, where attention sits in a model: from a token to the next one."""

from __future__ import annotations

import math

import numpy as np

from attnviz.base.message import Problem
from attnviz.models.architecture import Architecture
from attnviz.pages.lessons.maths.cache_facts import MODEL, NAME, total_parameters
from attnviz.pages.lessons.maths.subject import Facts, Subject
from attnviz.runs.predictions import TokenChoice, slots, token_choices

OFFERED = 3


def chain(subject: Subject) -> Facts:
    if subject.stack is None:
        return Facts({"n": len(subject.tokens), "layers": 1, "heads": 1})
    layers = subject.stack.layers
    return Facts({"n": len(subject.tokens), "layers": len(layers), "heads": layers[0].n_heads})


def residual(subject: Subject) -> Facts:
    made = subject.by_hand().tensors
    difference = float(np.abs(made["X"] + made["output"] - made["residual"]).max())
    return Facts({"word": subject.words[-1], "difference": difference}, "added" if difference < 1e-6 else "replaced")


def share(_subject: Subject) -> Facts:
    attention, everything = Architecture.preset(MODEL).attention_parameters(), total_parameters()
    part = attention / everything
    near = {"sixth": 1 / 6, "half": 1 / 2, "most": 9 / 10}
    right = min(near, key=lambda name: abs(near[name] - part))
    return Facts({"model": NAME, "share": part, "attention": attention / 1e9, "all": everything / 1e9}, right)


def likeliest(subject: Subject, n: int = 8) -> list[TokenChoice]:
    """The tokens that the trained model holds most likely to come next."""
    if subject.run is None or subject.loaded is None:
        raise Problem("This step needs a trained model on this machine: the page Explore says how to get one")
    loaded = subject.loaded()
    return token_choices(loaded, slots(subject.run, loaded)[0], n)


def following(subject: Subject) -> Facts:
    """The likeliest next token, offered among the three likeliest in the order of the alphabet."""
    found = likeliest(subject)
    offered = sorted(found[:OFFERED], key=lambda each: each.label)
    values = {
        "token": found[0].label,
        "share": found[0].probability,
        "second": found[1].label,
        "second_share": found[1].probability,
    }
    return Facts(values, str(found[0].token), tuple((str(each.token), each.label) for each in offered))


def surprise(subject: Subject) -> Facts:
    """What the model is paid for in training: the negative logarithm of the right token's probability."""
    found = likeliest(subject)
    return Facts(
        {"token": found[0].label, "share": found[0].probability, "loss": -math.log(max(found[0].probability, 1e-30))}
    )


def loop(subject: Subject) -> Facts:
    found = likeliest(subject)
    return Facts({"token": found[0].label, "longer": subject.text.rstrip() + found[0].text})
