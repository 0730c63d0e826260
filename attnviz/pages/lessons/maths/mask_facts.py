"""Lesson 5, masks: who may look at whom, and why one sentence is many training examples."""

import numpy as np

from attnviz.base.message import MessageList
from attnviz.base.words import N_
from attnviz.core import masks
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Lesson,
    LessonPicture,
    LessonStep,
    Notes,
    Question,
    Subject,
    require_two,
)


def square(subject: Subject) -> Facts:
    n = len(subject.first_words)
    return Facts({"n": n, "all": n * n, "first": subject.first_words[0], "last": subject.first_words[-1]})


def kept(subject: Subject) -> Facts:
    n = len(subject.first_words)
    counted = int(masks.causal(n, n).sum())
    offered = {"half": n * n / 2, "triangle": n * (n + 1) // 2, "line": n}
    right, *also_right = (name for name in ("triangle", "half", "line") if offered[name] == counted)
    terms = " + ".join(map(str, range(1, n + 1))) if n < 4 else f"1 + 2 + … + {n}"
    return Facts(
        {"n": n, "all": n * n, "kept": counted, "terms": terms, **offered}, right, also_right=tuple(also_right)
    )


def later_words(subject: Subject) -> Facts:
    """Largest change of the earlier words' outputs when the last word is removed, with and without a mask."""
    require_two(subject.hand_words)
    hand_words = subject.hand_words
    changes = {}
    for mask in ("causal", "none"):
        full = subject.attend_by_hand(mask=mask).tensors["output"][0, :-1]
        changes[mask] = float(
            np.abs(full - subject.attend_by_hand(hand_words[:-1], mask=mask).tensors["output"][0]).max()
        )
    return Facts(
        {"last": hand_words[-1], "causal": changes["causal"], "open": changes["none"]},
        right="no" if changes["causal"] < 1e-5 else "yes",
    )


def examples(subject: Subject) -> Facts:
    """Each word but the last is asked for the next one, all in one pass."""
    require_two(subject.hand_words)
    first_words = subject.first_words
    pairs = [f"{' '.join(first_words[: i + 1])} → {first_words[i + 1]}" for i in range(min(3, len(first_words) - 1))]
    count = len(first_words) - 1
    return Facts(
        {"n": len(first_words), "count": count, "shown": MessageList(tuple(pairs))},
        right="all",
        also_right=("one",) if count == 1 else (),
    )


def too_late(subject: Subject) -> Facts:
    """Weights set to 0 after softmax, instead of scores to minus infinity before it."""
    require_two(subject.hand_words)
    after, before = (subject.attend_by_hand(mask=mask).tensors["weights"][0, 0, 0] for mask in ("none", "causal"))
    left = float(after[0])  # the first word may see itself alone
    return Facts(
        {"word": subject.hand_words[0], "left": left, "proper": float(before.sum())},
        right="less" if left < 1 - 1e-6 else "one",
    )


LESSON = Lesson(
    "masks",
    N_("Masks, and why a causal one"),
    (
        LessonStep(
            N_("Without a mask all look at all"),
            N_(
                "Each word has a score for each: {n} × {n} = {all}. The first, “{first}”, can look at the "
                "last, “{last}”."
            ),
            LessonPicture("mask", {"mask": "none"}),
            N_("Click a cell on the left to hide it, and watch its row on the right."),
            square,
            notes=Notes(N_("A model that only reads, such as BERT, has no mask but for padding."), "", 3),
            terms=("mask", "self_attention"),
            page="masks",
        ),
        LessonStep(
            N_("A causal mask hides what comes later"),
            N_(
                "A model that writes must not see the word that it is to guess. So each word sees itself and "
                "those before it."
            ),
            LessonPicture("mask", {"mask": "none"}),
            N_("Read the picture row by row."),
            kept,
            Question(
                N_("How many scores, of {all}, does a causal mask keep?"),
                N_("{kept} of {all}: {terms}, more than half, because each word sees itself."),
                {"half": N_("exactly half, {half:g}"), "triangle": N_("{triangle}"), "line": N_("{line}, one a row")},
            ),
            LessonPicture("mask", {"mask": "causal"}),
            Notes(
                N_("Rows look, columns are looked at: the upper right is the future."),
                N_("They hide the lower left."),
                4,
            ),
            ("causal_mask",),
            "masks",
        ),
        LessonStep(
            N_("What comes later changes nothing"),
            N_("Take the last word, “{last}”, away, and compare the outputs of the words before it."),
            LessonPicture("board", {"step": "softmax", "mask": "causal"}),
            N_("Type a longer sentence that begins the same way: the first rows stay."),
            later_words,
            Question(
                N_("Under a causal mask: do the outputs of earlier words change?"),
                N_("By at most {causal:.1g} under the mask, and by {open:.2g} without one."),
                {"no": N_("no"), "yes": N_("yes, a little")},
            ),
            notes=Notes(N_("This is what makes caching possible, in lesson 7."), "", 3),
            terms=("causal_mask", "kv_cache"),
            page="masks",
        ),
        LessonStep(
            N_("One sentence is many examples"),
            N_(
                "Because no word sees what follows, each can be asked for the next one, all in one pass: {shown}. That "
                "is how language models are trained."
            ),
            LessonPicture("mask", {"mask": "causal"}),
            N_("Open one cell in the upper right: now one of the answers is given away."),
            examples,
            Question(
                N_("How many training examples does this sentence give in one pass?"),
                N_("{count}: each word but the last is asked for the one after it."),
                {"one": N_("1: the last word"), "all": N_("{count}")},
            ),
            notes=Notes(
                N_("A text of 8,192 tokens is 8,191 questions for the price of one pass."),
                N_("They think of one guess for each sentence."),
                4,
            ),
            terms=("next_token", "causal_mask"),
            page="masks",
            page_choices={"m_view": "training"},
        ),
        LessonStep(
            N_("Before softmax, not after it"),
            N_("A mask sets scores to minus infinity before softmax. Why not simply set weights to 0 after it?"),
            LessonPicture("board", {"step": "mask", "mask": "causal"}),
            N_("Choose a hidden cell and read what becomes of its score."),
            too_late,
            Question(
                N_("Weights set to 0 after softmax: what does the row of “{word}” sum to?"),
                N_(
                    "To {left:.3g}; masked before softmax it sums to {proper:.2f}. The words that it may see get "
                    "too little, and how little tells of the hidden ones: they still stand in the denominator."
                ),
                {"one": N_("to 1, as always"), "less": N_("to less than 1")},
            ),
            notes=Notes(
                N_("A common mistake in code. It trains, and the future leaks through the denominator of softmax."),
                "",
                3,
            ),
            terms=("mask", "softmax"),
            page="masks",
            page_choices={"m_view": "traps"},
        ),
    ),
    summary=N_(
        "A causal mask hides what comes later, before softmax: a row still sums to {proper:.2f}, and one pass asks "
        "every word for the next."
    ),
)
