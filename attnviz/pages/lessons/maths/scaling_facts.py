"""Lesson 3, why scores are divided by the square root of d_k."""

import math

import numpy as np
import torch

from attnviz.base.head_edit import HeadEdit
from attnviz.base.words import N_
from attnviz.core.measures import entropy
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Lesson,
    LessonPicture,
    LessonStep,
    Notes,
    Question,
    Subject,
    nearest_answer,
)
from attnviz.pages.scaling.maths import growing_width, saturation, variance

USUAL, WIDE = 64, 512


def spread(_subject: Subject) -> Facts:
    """How large a dot product of random q and k typically is: the root of its measured variance."""
    measured = variance.first_result(variance.Config(d_k=USUAL))
    typical = math.sqrt(measured.raw.variance)
    return Facts(
        {
            "d_k": USUAL,
            "root": math.sqrt(USUAL),
            "typical": typical,
            "scaled": math.sqrt(measured.scaled.variance),
            "pairs": measured.pairs,
        },
        right=nearest_answer({"one": 0.0, "root": math.log(USUAL) / 2, "all": math.log(USUAL)}, math.log(typical)),
    )


def saturated(_subject: Subject) -> Facts:
    row = growing_width.run(growing_width.Config(d_k=WIDE))
    return Facts({"d_k": WIDE, "n": row.config.n_keys, "raw": row.raw.largest, "scaled": row.scaled.largest})


def off(subject: Subject) -> Facts:
    """The row that lessons speak of, with and without scaling."""
    row = subject.row
    before, after = subject.matrix(), subject.matrix(HeadEdit(scale="none"))
    scaled, unscaled = (
        torch.from_numpy(np.where(matrix.hidden[row], 0.0, matrix.values[row])).double() for matrix in (before, after)
    )
    entropy_drop, best = float(entropy(scaled) - entropy(unscaled)), int(unscaled.argmax())
    return Facts(
        {
            "token": before.row_name(row),
            "key": before.col_name(best),
            "before": float(scaled[best]),
            "after": float(unscaled[best]),
        },
        right="same" if abs(entropy_drop) < 1e-9 else "sharper" if entropy_drop > 0 else "flatter",
    )


def gradient(_subject: Subject) -> Facts:
    """Median norm of softmax's Jacobian, raw and scaled: how much of a change in scores gets through."""
    raw, scaled = _median_norm("raw"), _median_norm("sqrt")
    return Facts(
        {"d_k": WIDE, "raw": raw, "scaled": scaled, "times": scaled / raw},
        right="less" if raw < scaled else "more" if raw > scaled else "same",
    )


def _median_norm(alternative: str) -> float:
    measured = saturation.run(saturation.Config(alternative=alternative))
    return float(measured.bands["jacobian"].middle[np.argmin(np.abs(np.log(measured.d_k / WIDE)))])


def too_much(_subject: Subject) -> Facts:
    """Largest weight if scores are divided by d_k itself instead of its root."""
    row = growing_width.run(growing_width.Config(d_k=WIDE))
    weights = torch.softmax(torch.from_numpy(row.raw.logits).double() / WIDE, 0)
    largest, even = float(weights.max()), 1 / len(weights)
    return Facts(
        {"d_k": WIDE, "largest": largest, "even": even, "scaled": row.scaled.largest},
        right=nearest_answer({"even": even, "same": row.scaled.largest, "one": 1}, largest),
    )


LESSON = Lesson(
    "scaling",
    N_("Why divide by √d_k?"),
    (
        LessonStep(
            N_("Longer vectors, larger scores"),
            N_(
                "A score adds up d_k products. Take random, independent numbers with mean 0 and variance 1. With one "
                "product, as in the picture, a score has a typical size of 1. Now take d_k = {d_k} of them."
            ),
            LessonPicture("spread", {"d_k": "1"}),
            N_("Compare how far raw and scaled scores reach."),
            spread,
            Question(
                N_("How large is such a score typically?"),
                N_(
                    "Measured on {pairs:,} pairs: {typical:.2f}. The variance of the sum is d_k = {d_k}, so its root, "
                    "√{d_k} = {root:.0f}, is typical. Divided by it, {scaled:.2f}."
                ),
                {"one": N_("about 1"), "root": N_("about {root:.0f}"), "all": N_("about {d_k}")},
            ),
            LessonPicture("spread", {"d_k": "64"}),
            Notes(
                N_("Signs differ, so most terms cancel: the sum grows like a random walk, with the root."),
                N_("They answer {d_k}, as if all terms had one sign."),
                4,
            ),
            ("score", "scaling"),
            "scaling",
            {"s_section": "variance"},
        ),
        LessonStep(
            N_("Large differences: one key takes all"),
            N_(
                "At d_k = {d_k} the largest of {n} weights is {raw:.0%} without scaling and {scaled:.0%} with it. "
                "Scores that differ by Δ give weights that differ by the factor e^Δ, so large differences leave one "
                "winner."
            ),
            LessonPicture("bars", {"d_k": "512"}),
            N_("Find the d_k at which the largest raw weight passes one half."),
            saturated,
            notes=Notes(
                N_("This is called saturation. Nothing was learned here: the vectors are random."),
                N_("They think the winner means something. It won by chance."),
                4,
            ),
            terms=("saturation", "softmax"),
            page="scaling",
        ),
        LessonStep(
            N_("On a real head"),
            N_(
                "Now the head of lesson 1, on your sentence. It was trained with scaling, and this can be switched off."
            ),
            LessonPicture("head"),
            N_("Move the scale to “no scaling”, and back."),
            off,
            Question(
                N_("What happens to the row of “{token}” when scaling is off?"),
                N_("Its weight on “{key}” goes from {before:.1%} to {after:.1%}."),
                {
                    "flatter": N_("its weights become more even"),
                    "sharper": N_("fewer tokens get more of it"),
                    "same": N_("nothing: its order stays"),
                },
            ),
            LessonPicture("head", {"scale": "none"}),
            Notes(
                N_("The order of the weights stays: softmax never swaps two keys. Only their distance grows."),
                N_("They mix up “the order stays” with “nothing changes”."),
                4,
            ),
            ("scaling", "entropy"),
            "home",
            {"scaled": "false"},
        ),
        LessonStep(
            N_("Why that hurts: no gradient"),
            N_(
                "Training changes scores a little and looks at what comes of it. Once you have predicted, a curve "
                "shows how much of a change in the scores softmax lets through."
            ),
            LessonPicture("bars", {"d_k": "512"}),
            N_("Compare the curves at large d_k."),
            gradient,
            Question(
                N_("Without scaling, at d_k = {d_k}: how much gets through, compared to with scaling?"),
                N_(
                    "The median is {raw:.3g} without and {scaled:.3g} with scaling: a row that is almost one-hot "
                    "hardly answers to its scores."
                ),
                {"more": N_("more"), "same": N_("as much"), "less": N_("much less")},
            ),
            LessonPicture("curves", {"d_k": "512"}),
            Notes(
                N_("“Regions where it has extremely small gradients”: this is the sentence from the paper, measured."),
                N_("They think large weights mean large gradients. At 0 and at 1 softmax is flat."),
                4,
            ),
            ("saturation", "softmax"),
            "scaling",
            {"s_section": "saturation"},
        ),
        LessonStep(
            N_("Why the root, and not d_k?"),
            N_("Why not be safe and divide by d_k itself? Then scores shrink as d_k grows."),
            LessonPicture("bars", {"d_k": "512"}),
            N_("Move d_k with the third row of bars on show."),
            too_much,
            Question(
                N_("Divided by d_k = {d_k}: what are the weights like?"),
                N_(
                    "The largest is {largest:.1%}, and even weights would be {even:.1%} each; divided by √d_k it is "
                    "{scaled:.0%}. The root keeps the spread of scores at 1, whatever d_k is."
                ),
                {"even": N_("almost even"), "same": N_("as with √d_k"), "one": N_("one key has all")},
            ),
            LessonPicture("bars", {"d_k": "512", "also": "inverse"}),
            Notes(
                N_("Too large: one winner by chance. Too small: a plain mean. The root is in between for every d_k."),
                "",
                3,
            ),
            ("scaling", "temperature"),
            "scaling",
        ),
    ),
    summary=N_("Divided by √d_k, scores spread alike at any d_k, and gradients get through."),
)
