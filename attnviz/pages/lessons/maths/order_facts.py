"""Lesson 6, how order gets in."""

import torch

from attnviz.base.message import Message
from attnviz.base.words import N_
from attnviz.core.positions import ALiBi
from attnviz.pages.lessons.maths.lesson_parts import Facts, Subject, fact
from attnviz.pages.positions.maths import rotation, shuffled_words

STEP = 5  #: positions that query and key move on together
NEAR, FAR = 1, 5


def reverse_sentence(subject: Subject, kind: str, causal: bool = False) -> shuffled_words.Result:
    """Run attention over the sentence and over its reverse."""
    return shuffled_words.run(shuffled_words.Config(subject.first_words, kind, "reverse", causal))


@fact
def bag(subject: Subject) -> Facts:
    result = reverse_sentence(subject, "none")
    return Facts(
        {"change": result.change, "backwards": " ".join(result.words)}, "same" if result.is_unchanged else "different"
    )


@fact
def added(subject: Subject) -> Facts:
    result = reverse_sentence(subject, "sinusoidal")
    word = subject.first_words[int(result.output_change.argmax())]
    return Facts(
        {"change": result.change, "word": word, "largest": result.largest},
        "same" if result.is_unchanged else "different",
    )


@fact
def turned(_subject: Subject) -> Facts:
    """Query and key both move on: the score under RoPE."""
    here = rotation.random_pair(rotation.PairConfig())
    config = here.config
    there = rotation.random_pair(rotation.PairConfig(q_at=config.q_at + STEP, k_at=config.k_at + STEP))
    apart = rotation.random_pair(rotation.PairConfig(q_at=config.q_at + STEP))
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


@fact
def taken_off(_subject: Subject) -> Facts:
    """ALiBi's penalty on a near key and on a far one, in the first of four heads."""
    places = torch.arange(FAR + 1)
    bias = ALiBi(4).bias(places, places)
    assert bias is not None
    near, far = (-float(bias[0, FAR, FAR - distance]) for distance in (NEAR, FAR))
    return Facts(
        {"near": near, "far": far, "near_at": NEAR, "far_at": FAR},
        right="far" if far > near else "near" if near > far else "same",
    )


@fact
def by_mask(subject: Subject) -> Facts:
    free, causal = reverse_sentence(subject, "none").every["none"]
    differs = causal > 1e-9
    template = (
        N_("Outputs change by up to {causal:.2g}. A word sees those before it: where they differ, an order.")
        if differs
        else N_("Outputs change by {causal:.1g}: these words are all alike, so that any order is the same.")
    )
    return Facts(
        {"free": free, "causal": causal, "says": Message(template, {"causal": causal})}, "yes" if differs else "no"
    )
