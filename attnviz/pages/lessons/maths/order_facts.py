"""Lesson 6, how order gets in."""

import torch

from attnviz.base.message import Message
from attnviz.base.words import N_
from attnviz.core.positions import ALiBi
from attnviz.pages.lessons.maths.lesson_parts import Facts, Lesson, LessonPicture, LessonStep, Notes, Question, Subject
from attnviz.pages.positions.maths import rotation, shuffled_words

STEP = 5  #: positions that query and key move on together
NEAR, FAR = 1, 5


def reverse_sentence(subject: Subject, kind: str, causal: bool = False) -> shuffled_words.Result:
    """Run attention over the sentence and over its reverse."""
    return shuffled_words.run(shuffled_words.Config(subject.first_words, kind, "reverse", causal))


def bag(subject: Subject) -> Facts:
    result = reverse_sentence(subject, "none")
    return Facts(
        {"change": result.change, "backwards": " ".join(result.words)}, "same" if result.is_unchanged else "different"
    )


def added(subject: Subject) -> Facts:
    result = reverse_sentence(subject, "sinusoidal")
    word = subject.first_words[int(result.output_change.argmax())]
    return Facts(
        {"change": result.change, "word": word, "largest": result.largest},
        "same" if result.is_unchanged else "different",
    )


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


LESSON = Lesson(
    "order",
    N_("How order gets in"),
    (
        LessonStep(
            N_("A bag of words"),
            N_("Nothing so far says which word comes first. Read the sentence backwards: “{backwards}”."),
            LessonPicture("tokens"),
            N_("Compare any cell of the two pictures: the same two words, the same weight."),
            bag,
            Question(
                N_("Does any word get another output?"),
                N_(
                    "No number changes by more than {change:.1g}, which is rounding: to attention it is the same "
                    "sentence."
                ),
                {"same": N_("no"), "different": N_("yes")},
            ),
            LessonPicture("order", {"kind": "none"}),
            Notes(N_("“Dog bites man” and “man bites dog” would be one and the same."), "", 4),
            ("position", "self_attention"),
            "positions",
        ),
        LessonStep(
            N_("Add the place to the vector"),
            N_(
                "The first transformer adds a pattern of sines and cosines to each word’s vector, another one "
                "for each place."
            ),
            LessonPicture("order", {"kind": "sinusoidal"}),
            N_("Compare the two pictures now."),
            added,
            notes=Notes(
                N_("The output of “{word}” now changes by up to {change:.2f}, where outputs reach {largest:.2f}."),
                N_("They fear that adding spoils the word. In many dimensions there is room for both."),
                4,
            ),
            terms=("sinusoidal", "position"),
            page="positions",
        ),
        LessonStep(
            N_("Turn query and key instead"),
            N_(
                "Llama, Qwen, Gemma and many others use RoPE: pairs of numbers in q and k are turned by an angle that "
                "grows with the place. Query at {q_at}, key at {k_at}: their score is {before:.2f}."
            ),
            LessonPicture("circle"),
            N_("Let both walk on together."),
            turned,
            Question(
                N_("Both move on by {step} places. What happens to the score?"),
                N_(
                    "It stays, {before:.2f} and {after:.2f}: of the two places only their offset counts. If the query "
                    "alone moves, it is "
                    "{apart:.2f}."
                ),
                {"same": N_("it stays"), "different": N_("it changes")},
            ),
            notes=Notes(N_("Two clock hands: both an hour later, the angle between them is the same."), "", 5),
            terms=("rope",),
            page="positions",
            page_choices={"p_section": "circle"},
        ),
        LessonStep(
            N_("Or take something off the score"),
            N_("ALiBi leaves the vectors alone and takes something off each score, more the farther the key is."),
            LessonPicture("order", {"kind": "alibi", "mask": "causal"}),
            N_("Look for how the weights fade to the left."),
            taken_off,
            Question(
                N_("Which key loses more, one {near_at} place away or one {far_at} places away?"),
                N_(
                    "{near:.2f} is taken off at distance {near_at} and {far:.2f} at {far_at}, in the first of four "
                    "heads."
                ),
                {"near": N_("the near one"), "same": N_("both the same"), "far": N_("the far one")},
            ),
            notes=Notes(
                N_(
                    "No parameters at all. It is defined beyond the length of training; whether the model still does "
                    "well there is another question."
                ),
                "",
                3,
            ),
            terms=("alibi",),
            page="positions",
        ),
        LessonStep(
            N_("A mask is an order too"),
            N_("Without positions and without a mask, reading backwards changes outputs by {free:.1g}: nothing."),
            LessonPicture("order", {"kind": "none"}),
            N_("Compare the first rows."),
            by_mask,
            Question(
                N_("Still without positions, but with a causal mask: can the order be felt?"),
                N_("{says}"),
                {"yes": N_("yes"), "no": N_("no")},
            ),
            LessonPicture("order", {"kind": "none", "mask": "causal"}),
            Notes(N_("Some decoders are trained without any positions, and it works."), "", 3),
            ("causal_mask", "position"),
            "positions",
        ),
    ),
    summary=N_(
        "Attention alone reads a bag of words. Positions in the vectors, in q and k or in the scores bring the order "
        "in. So does a causal mask, where words differ: backwards, outputs change by up to {causal:.2g}."
    ),
)
