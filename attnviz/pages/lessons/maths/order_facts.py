"""Lesson 6, how order gets in."""

from __future__ import annotations

import torch

from attnviz.core.positions import ALiBi
from attnviz.pages.lessons.maths.subject import Facts, Subject
from attnviz.pages.positions.maths import pair_rotation, shuffled_words

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
