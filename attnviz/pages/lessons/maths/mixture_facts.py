"""Lesson 1, what attention is: a token's new vector is a weighted mixture of others."""

from functools import partial

import numpy as np
import torch

from attnviz.base.message import Message
from attnviz.base.rounding import format_number
from attnviz.base.words import N_
from attnviz.core.attention import attend
from attnviz.models.architecture import Architecture
from attnviz.pages.lessons.maths.lesson_parts import (
    WIDTH,
    Facts,
    Lesson,
    LessonPicture,
    LessonStep,
    Notes,
    Question,
    Subject,
    nearest_answer,
)

NEW_WORD, OTHER_NEW_WORD = "moon", "sun"


def tokens(subject: Subject) -> Facts:
    labels = subject.tokens
    return Facts({"n": len(labels), "first": labels[0], "last": labels[-1], "repeated": len(labels) - len(set(labels))})


def favourite(subject: Subject) -> Facts:
    """The key that the row on show looks at most; offered beside two others that it may look at."""
    matrix, row = subject.matrix(), subject.row
    seen = np.where(matrix.hidden[row], -1.0, matrix.values[row])
    best = int(seen.argmax())
    allowed = [int(key) for key in np.argsort(seen) if seen[key] >= 0 and key != best]
    offered = sorted({best, *allowed[:1], *allowed[-1:]})
    in_percent = partial(format_number, spec=".0%")
    return Facts(
        {
            "token": matrix.row_name(row),
            "key": matrix.col_name(best),
            "share": float(seen[best]),
            "n": int((~matrix.hidden[row]).sum()),
        },
        str(best),
        tuple((str(key), matrix.col_name(key)) for key in offered),
        tuple(str(key) for key in offered if key != best and in_percent(seen[key]) == in_percent(seen[best])),
    )


def row_sum(subject: Subject) -> Facts:
    matrix, row = subject.matrix(), subject.row
    return Facts(
        {
            "token": matrix.row_name(row),
            "total": float(np.where(matrix.hidden[row], 0.0, matrix.values[row]).sum()),
            "n": int((~matrix.hidden[row]).sum()),
            "hidden": int(matrix.hidden[row].sum()),
        }
    )


def smaller(subject: Subject) -> Facts:
    """What is worked out by hand, beside what the model computes with."""
    few, trained = subject.hand_words, Architecture.preset("smollm2-135m").layers[0]
    return Facts({"n": len(few), "few": WIDTH, "first": few[0], "word": few[-1], "width": trained.d_model})


def one_hot(subject: Subject) -> Facts:
    """All weight on one word: the output is that word's value vector."""
    tensors = subject.attend_by_hand().tensors
    q, k, v = (torch.from_numpy(tensors[name]) for name in "QKV")
    output = attend(q, k, v, torch.arange(q.shape[-2]) == 0).output[0, 0, -1]
    distance = {
        "value": float((output - v[0, 0, 0]).abs().max()),
        "zero": float(output.abs().max()),
        "mean": float((output - v[0, 0].mean(0)).abs().max()),
    }
    return Facts(
        {"word": subject.hand_words[-1], "other": subject.hand_words[0], "difference": distance["value"]},
        right=nearest_answer(distance, 0.0),
        also_right=tuple(name for name in distance if name != nearest_answer(distance, 0.0) and distance[name] < 1e-6),
    )


def swapped(subject: Subject) -> Facts:
    """One word exchanged for another: whose weights change."""
    hand_words = subject.hand_words
    new = NEW_WORD if hand_words[0] != NEW_WORD else OTHER_NEW_WORD
    before = subject.attend_by_hand().tensors["weights"][0, 0]
    after = subject.attend_by_hand((new, *hand_words[1:])).tensors["weights"][0, 0]
    changed = int((np.abs(after - before).max(-1) > 1e-6).sum())
    why = N_(
        "every word looks at the new word’s key too, and a row that gives it another weight has another rest for the "
        "others."
    )
    if len(hand_words) == 1:
        why = N_("a word that is alone gives all its weight to itself, whichever word it is.")
    return Facts(
        {"word": hand_words[0], "new": new, "rows": changed, "n": len(hand_words), "why": Message(why)},
        right="all" if changed == len(hand_words) else "one" if changed == 1 else "none" if not changed else "some",
    )


LESSON = Lesson(
    "attention",
    N_("What attention is"),
    (
        LessonStep(
            N_("A sentence becomes tokens"),
            N_(
                "A model cuts your sentence into tokens, {n} of them, from “{first}” to “{last}”. Each becomes a list "
                "of "
                "numbers, a vector. At the start that vector knows nothing of its neighbours."
            ),
            LessonPicture("tokens", {"show": "vectors"}),
            N_("Type another sentence at the top and see where it is cut."),
            tokens,
            notes=Notes(
                N_("Everything that follows has one row for each of these pieces."),
                N_("They take tokens for words. A rare word is cut into several tokens."),
                2,
            ),
            terms=("token", "embedding"),
            page="explore",
        ),
        LessonStep(
            N_("Each token looks at others"),
            N_(
                "Attention lets “{token}” look at itself and at the tokens before it, {n} in all, and gives each a "
                "weight: how much it takes from there. Lesson 5 says why only from those."
            ),
            LessonPicture("tokens", {"show": "asked"}),
            N_("Point at other rows of the picture."),
            favourite,
            Question(
                N_("Which of these does “{token}” look at most, in this head?"),
                N_("“{token}” gives {share:.0%} of its attention to “{key}”, and no more to any other."),
            ),
            LessonPicture("head"),
            Notes(
                N_("Ask the room for a show of hands before you press a button."),
                N_("They expect what a person would look at. One head among hundreds need not look there."),
                4,
            ),
            ("attention", "weight", "head"),
            "home",
        ),
        LessonStep(
            N_("The weights of a row sum to 1"),
            N_(
                "“{token}” shares a total weight of {total:.2f} among the tokens that it looks at, {n} in all. More "
                "for one is less for the others."
            ),
            LessonPicture("head"),
            N_("Change the scale: each row is shared out anew, and sums to 1 again."),
            row_sum,
            notes=Notes(
                N_("A row is a budget. That is what softmax is for: it turns any numbers into shares."),
                N_("They read columns as sums too. Only rows sum to 1."),
                3,
            ),
            terms=("softmax", "weight"),
            page="home",
        ),
        LessonStep(
            N_("Smaller, so that we can count"),
            N_(
                "The model gives each token {width} numbers: too many to work out on paper. From here to the end of "
                "lesson 2 we count with {few} random numbers for each word from “{first}” to “{word}”. The steps stay "
                "the same; these numbers know nothing of words."
            ),
            LessonPicture("board", {"step": "embed"}),
            N_("Find the row of “{word}”: we follow it through all steps."),
            smaller,
            notes=Notes(
                N_("Nothing is trained from here on. What matters is how each number comes from others."),
                N_("They look for the grammar in these numbers. There is none."),
                2,
            ),
            terms=("embedding",),
            page="build",
            page_choices={"b_step": "embed"},
        ),
        LessonStep(
            N_("The new vector is a mixture"),
            N_(
                "The new vector of “{word}” is a weighted mixture: each word’s value vector times its weight, "
                "added up. That is all that attention does."
            ),
            LessonPicture("board", {"step": "sum"}),
            N_("Choose a number on the right: the picture shows which weights and values it is made of."),
            one_hot,
            Question(
                N_("If “{word}” gave all its weight to “{other}”, what would come out?"),
                N_(
                    "1 times the value of “{other}”, 0 times the others: it differs from the first by {difference:.1g}."
                ),
                {
                    "value": N_("the value vector of “{other}”"),
                    "mean": N_("the mean of all value vectors"),
                    "zero": N_("zero"),
                },
            ),
            notes=Notes(
                N_("Weights choose, values are what is carried."),
                N_("They think attention copies tokens. It mixes vectors, and copies only when one weight is 1."),
                4,
            ),
            terms=("value", "weight"),
            page="build",
            page_choices={"b_step": "sum"},
        ),
        LessonStep(
            N_("Another word, another mixture"),
            N_("The weights are not stored in the model. They are computed anew from the words of each sentence."),
            LessonPicture("board", {"step": "softmax"}),
            N_("Exchange “{word}” in the sentence at the top and watch all rows."),
            swapped,
            Question(
                N_("“{word}” becomes “{new}”. In how many rows, of {n}, do weights change?"),
                N_("In {rows} of {n}: {why}"),
                {"one": N_("in its own row only"), "all": N_("in every row"), "none": N_("in none")},
            ),
            notes=Notes(
                N_("A layer with fixed weights would mix every sentence alike. This is the difference."),
                N_("They answer “its own row”. Its column changes as well, and with it every row."),
                4,
            ),
            terms=("attention", "softmax"),
            page="build",
            page_choices={"b_step": "softmax"},
        ),
    ),
    summary=N_(
        "A token’s new vector is a mixture of value vectors. Its weights sum to 1 and are made from the sentence: with "
        "one other word, rows change, {rows} of {n}."
    ),
)
