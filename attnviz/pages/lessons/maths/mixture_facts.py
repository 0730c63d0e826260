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
    Facts,
    Lesson,
    LessonPicture,
    LessonStep,
    Notes,
    Question,
    Subject,
    nearest_answer,
)


def tokens(subject: Subject) -> Facts:
    labels = subject.tokens
    vectors, width = subject.vectors, subject.head_layer.qkv[0].shape[-1]
    return Facts(
        {
            "n": len(labels),
            "first": labels[0],
            "last": labels[-1],
            "repeated": len(labels) - len(set(labels)),
            "width": width if vectors is None else vectors.shape[-1],
            "few": width,
        }
    )


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
            "heads": sum(layer.n_heads for layer in subject.layers),
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


def offered(subject: Subject) -> Facts:
    """What a token hands over: a value, made of its vector."""
    matrix, row = subject.matrix(), subject.row
    width = Architecture.preset("smollm2-135m").layers[0].d_model
    return Facts(
        {"token": matrix.row_name(row), "width": width, "few": subject.head_layer.qkv[2].shape[-1], **_best(subject)}
    )


def _best(subject: Subject) -> dict[str, object]:
    """The key that the row looks at most, and its share."""
    key = subject.favourite_key
    return {"key": subject.matrix().col_name(key), "share": float(subject.matrix().values[subject.row, key])}


def one_hot(subject: Subject) -> Facts:
    """All weight on one key: the output is that key's value vector."""
    numbers = subject.query_numbers()
    best = subject.favourite_key
    q, k, v = (torch.from_numpy(vectors)[None] for vectors in (numbers.q[None], numbers.k, numbers.v))
    output, v, seen = attend(q, k, v, torch.arange(len(numbers.v)) == best).output[0, 0], v[0], numbers.seen
    distance = {
        "value": float((output - v[best]).abs().max()),
        "zero": float(output.abs().max()),
        "mean": float((output - v[torch.from_numpy(seen)].mean(0)).abs().max()),
    }
    nearest = nearest_answer(distance, 0.0)
    return Facts(
        {"token": subject.matrix().row_name(numbers.row), "difference": distance["value"], **_best(subject)},
        right=nearest,
        also_right=tuple(name for name in distance if name != nearest and distance[name] < 1e-6),
    )


def swapped(subject: Subject) -> Facts:
    """One word exchanged for another: whose weights change."""
    exchange, before = subject.exchange, np.maximum(subject.query_numbers().weights, 0)
    changed = int((np.abs(exchange.weights - before).max(-1) > 1e-6).sum())
    row, why = subject.row, N_("rows before it cannot see it; every row from it on has another key to look at.")
    if not changed:
        why = N_("no row has another weight.")
        if len(before) == 1:
            why = N_("it is alone, and gives all its weight to itself, whichever word it is.")
    return Facts(
        {
            "word": exchange.old,
            "new": exchange.new,
            "rows": changed,
            "n": len(before),
            "why": Message(why),
            "token": subject.matrix().row_name(row),
            "before": float(before[row, exchange.at]),
            "after": float(exchange.weights[row, exchange.at]),
        },
        right="none" if not changed else "one" if changed == 1 else "all",
    )


LESSON = Lesson(
    "attention",
    N_("What attention is"),
    (
        LessonStep(
            N_("Words become numbers"),
            N_(
                "A model cuts your sentence into tokens, {n} of them, from “{first}” to “{last}”. Each becomes a "
                "vector, a list of {width} numbers. A strip shows the first {few} as colours. It knows nothing yet of "
                "its neighbours."
            ),
            LessonPicture("story", {"from": "words", "to": "vectors"}),
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
                "Attention is done by heads: small parts of a model, {heads} in this one. In each, "
                ":blue[“{token}”] takes something from :orange[itself and the tokens before it], {n} in all. We follow "
                "one head."
            ),
            LessonPicture("story", {"from": "vectors", "to": "asked"}),
            N_("Read the weights down the picture: the longer a bar, the more is taken from there."),
            favourite,
            Question(
                N_("Which of these does “{token}” look at most, in this head?"),
                N_("“{token}” gives {share:.0%} of its attention to “{key}”, and no more to any other."),
            ),
            LessonPicture("story", {"from": "asked", "to": "shares"}),
            Notes(
                N_("Ask the room for a show of hands before you press a button. Lesson 5 says why it looks only back."),
                N_("They expect what a person would look at. One head among hundreds need not look there."),
                4,
            ),
            ("attention", "weight", "head"),
            "home",
        ),
        LessonStep(
            N_("The weights of a row sum to 1"),
            N_(
                "What is taken from each is its :violet[weight]. :blue[“{token}”] shares out a total of {total:.2f}: "
                "the bars fill one bar. More for one is less for the others."
            ),
            LessonPicture("story", {"from": "shares", "to": "weights"}),
            N_("Move the handle below the picture to and fro: no bar is lost."),
            row_sum,
            notes=Notes(
                N_("A row is a budget. Softmax, in lesson 2, is what turns any numbers into shares."),
                N_("They read columns as sums too. Only rows sum to 1."),
                3,
            ),
            terms=("softmax", "weight"),
            page="home",
        ),
        LessonStep(
            N_("Each token offers a value"),
            N_(
                "What is handed over is no word but a :green[value]: a shorter vector of {few} numbers, which the head "
                "makes of a token’s {width}. The weights say how much of each is taken."
            ),
            LessonPicture("story", {"from": "weights", "to": "values"}),
            N_("Compare the strips: equal tokens need not offer equal values, because their neighbours differ."),
            offered,
            notes=Notes(
                N_("Weights choose, values are what is carried. Queries and keys, in lesson 2, make the weights."),
                N_("They think a value is a number that says how good a token is. It is a vector."),
                2,
            ),
            terms=("value", "weight"),
            page="build",
            page_choices={"b_step": "project"},
        ),
        LessonStep(
            N_("The new vector is a mixture"),
            N_(
                "Each :green[value] is multiplied by its :violet[weight], and all are added up. That is the new vector "
                "of :blue[“{token}”], and the model goes on with it. This is all that attention does."
            ),
            LessonPicture("story", {"from": "values", "to": "mixture"}),
            N_("Follow one column down: a colour below is the sum of those above it."),
            one_hot,
            Question(
                N_("If “{token}” gave all its weight to “{key}”, what would come out?"),
                N_("1 times the value of “{key}”, 0 times the others: it differs from the first by {difference:.1g}."),
                {
                    "value": N_("the value vector of “{key}”"),
                    "mean": N_("the mean of all value vectors"),
                    "zero": N_("zero"),
                },
            ),
            LessonPicture("story", {"from": "mixture", "to": "new"}),
            Notes(
                N_("Before it is added to the old vector, one more matrix, W_O, brings it to the model’s width."),
                N_("They think attention copies tokens. It mixes vectors, and copies only when one weight is 1."),
                4,
            ),
            ("value", "weight"),
            "build",
            {"b_step": "sum"},
        ),
        LessonStep(
            N_("Another word, another mixture"),
            N_("The weights are not stored in the model. They are computed anew from the words of each sentence."),
            LessonPicture("story", {"from": "new", "to": "shares"}),
            N_("Exchange a word in the sentence at the top and watch the bars."),
            swapped,
            Question(
                N_("“{word}” becomes “{new}”. In how many rows, of {n}, do weights change?"),
                N_("In {rows} of {n}: {why} “{token}” gave it {before:.0%} and gives {after:.0%}."),
                {
                    "one": N_("in its own row only"),
                    "all": N_("in its own and in rows after it"),
                    "none": N_("in none"),
                },
            ),
            LessonPicture("story", {"from": "shares", "to": "changed"}),
            Notes(
                N_("A layer with fixed weights would mix every sentence alike. This is the difference."),
                N_("They answer “its own row”. Its column changes as well, and with it every row that sees it."),
                4,
            ),
            ("attention", "softmax"),
            "build",
            {"b_step": "softmax"},
        ),
    ),
    summary=N_(
        "A token’s new vector is a mixture of value vectors. Its weights sum to 1 and are made from the sentence: with "
        "one other word, rows change, {rows} of {n}."
    ),
)
