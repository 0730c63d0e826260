"""Lesson 3, why scores are divided by the square root of d_k."""

import math

import numpy as np
import torch

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
from attnviz.pages.scaling.maths import saturation, variance

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


def saturated(subject: Subject) -> Facts:
    """The largest weight of the row: scores divided by d_k, by its root, and not at all."""
    key, width = subject.favourite_key, subject.query_numbers().q.size
    even, usual, raw = (float(subject.row_weights(scale)[key]) for scale in (1 / width, None, 1.0))
    matrix = subject.matrix()
    return Facts(
        {
            "token": matrix.row_name(subject.row),
            "key": matrix.col_name(key),
            "n": int((~matrix.hidden[subject.row]).sum()),
            "d_k": width,
            "even": even,
            "scaled": usual,
            "raw": raw,
        }
    )


def off(subject: Subject) -> Facts:
    """The row that lessons speak of, with and without scaling."""
    scaled, unscaled = (torch.from_numpy(subject.row_weights(scale)).double() for scale in (None, 1.0))
    entropy_drop, best = float(entropy(scaled) - entropy(unscaled)), int(unscaled.argmax())
    return Facts(
        {
            "token": subject.matrix().row_name(subject.row),
            "key": subject.matrix().col_name(best),
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


def too_much(subject: Subject) -> Facts:
    """Largest weight if scores are divided by d_k itself instead of its root."""
    facts = saturated(subject).values
    largest = float(subject.row_weights(1 / subject.query_numbers().q.size).max())
    even, usual = 1 / int(str(facts["n"])), float(subject.row_weights().max())
    answers = {"even": even, "same": usual, "one": 1}
    right = nearest_answer(answers, largest)
    return Facts(
        {**facts, "largest": largest, "even": even, "scaled": usual},
        right=right,
        also_right=tuple(name for name in answers if name != right and abs(answers[name] - answers[right]) < 1e-6),
    )


LESSON = Lesson(
    "scaling",
    N_("Why divide by √d_k?"),
    (
        LessonStep(
            N_("Longer vectors, larger scores"),
            N_(
                "A score adds up d_k products, {d_k} in this head; each is positive or negative. Move the handle below "
                "the picture: the more products, the farther scores spread."
            ),
            LessonPicture("story", {"to": "scores", "handle": "terms"}),
            N_("Compare how far raw and scaled scores of random numbers reach."),
            spread,
            Question(
                N_(
                    "Now random, independent numbers with mean 0 and variance 1 in place of the head’s. How large is a "
                    "score of {d_k} products typically?"
                ),
                N_(
                    "Measured on {pairs:,} random pairs: {typical:.2f}. The variance of the sum is d_k = {d_k}, so its "
                    "root, √{d_k} = {root:.0f}, is typical. Divided by it, {scaled:.2f}."
                ),
                {"one": N_("about 1"), "root": N_("about {root:.0f}"), "all": N_("about {d_k}")},
            ),
            LessonPicture("spread", {"d_k": "64"}),
            Notes(
                N_("Signs cancel: a sum of 64 is typically 8 in size, not 64. That is why it is the root."),
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
                "A score larger by Δ gives e^Δ times the weight. Divided by d_k, scores are small, and "
                ":blue[“{token}”] spreads its weight: :orange[“{key}”] has {even:.0%}. Undivided, it has {raw:.0%}."
            ),
            LessonPicture("story", {"to": "weights", "scale": "inverse", "handle": "scale"}),
            N_("Move the handle to × 1, and find where one key has passed one half."),
            saturated,
            notes=Notes(
                N_("This is called saturation. Effective keys: so many keys that share alike would be as undecided."),
                N_("They think the order of the keys changes. It never does; only distances grow."),
                4,
            ),
            terms=("saturation", "softmax", "effective_keys"),
            page="scaling",
        ),
        LessonStep(
            N_("On a real head"),
            N_("Back to the head as it was trained: with scaling. Now this is switched off."),
            LessonPicture("story", {"to": "weights"}),
            N_("Move the handle from the head’s own scale to none, and back."),
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
            LessonPicture("story", {"to": "weights", "scale": "none", "handle": "scale"}),
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
                "Training changes scores a little and looks at what comes of it. Random vectors show this for any d_k: "
                "here few products, and no key has all. Entropy, in nats, is the natural logarithm of the effective "
                "keys."
            ),
            LessonPicture("bars", {"d_k": "4"}),
            N_("Compare the curves at large d_k."),
            gradient,
            Question(
                N_(
                    "Without scaling, at d_k = {d_k}: how much of a change in scores gets through softmax, compared "
                    "to with scaling?"
                ),
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
            LessonPicture("story", {"to": "weights"}),
            N_("Move the handle from 1/d_k to the head’s own scale."),
            too_much,
            Question(
                N_("Divided by d_k = {d_k}: what are the weights of “{token}” like?"),
                N_(
                    "The largest is {largest:.1%}, and even weights would be {even:.1%} each; divided by √d_k it is "
                    "{scaled:.0%}. The root keeps the spread of scores at 1, whatever d_k is."
                ),
                {"even": N_("almost even"), "same": N_("as with √d_k"), "one": N_("one key has all")},
            ),
            LessonPicture("story", {"to": "weights", "scale": "inverse", "handle": "scale"}),
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
