"""Lesson 2, one row worked out: query, keys, values, scores, softmax and the sum."""

import math

import numpy as np
import torch
import torch.nn.functional as functional

from attnviz.base.words import N_
from attnviz.pages.lessons.maths.lesson_parts import (
    WIDTH,
    Facts,
    Lesson,
    LessonPicture,
    LessonStep,
    Notes,
    Question,
    Subject,
    format_vector,
    nearest_answer,
)


def vectors(subject: Subject) -> Facts:
    tensors = subject.attend_by_hand().tensors
    return Facts(
        {
            "word": subject.hand_words[-1],
            "width": WIDTH,
            "x": format_vector(tensors["X"][0, -1]),
            "q": format_vector(tensors["Q"][0, 0, -1]),
            "k": format_vector(tensors["K"][0, 0, -1]),
            "v": format_vector(tensors["V"][0, 0, -1]),
        }
    )


def score(subject: Subject) -> Facts:
    """The last word's best score, written out, and the score of a key equal to the query."""
    tensors = subject.attend_by_hand().tensors
    q, scores = tensors["Q"][0, 0, -1], tensors["scores"][0, 0, -1]
    best = int(scores.argmax())
    same_way = float(q @ q)
    return Facts(
        {
            "word": subject.hand_words[-1],
            "other": subject.hand_words[best],
            "q": format_vector(q),
            "k": format_vector(tensors["K"][0, 0, best]),
            "score": float(scores[best]),
            "same_way": same_way,
        },
        right="positive" if same_way > 1e-9 else "zero" if same_way > -1e-9 else "negative",
    )


def scaled(subject: Subject) -> Facts:
    tensors = subject.attend_by_hand().tensors
    best = int(tensors["scores"][0, 0, -1].argmax())
    return Facts(
        {
            "score": float(tensors["scores"][0, 0, -1, best]),
            "scaled": float(tensors["scaled"][0, 0, -1, best]),
            "width": WIDTH,
            "root": math.sqrt(WIDTH),
        }
    )


def softmax(subject: Subject) -> Facts:
    """Two scores that differ by 1: how their weights compare, whatever the other scores are."""
    tensors = subject.attend_by_hand().tensors
    row = torch.from_numpy(tensors["scaled"][0, 0, -1]).double()
    pair = torch.softmax(torch.cat([row, row[:1] + 1]), 0)
    times = float(pair[-1] / pair[0])
    return Facts(
        {"times": times, "word": subject.hand_words[-1], "total": float(tensors["weights"][0, 0, -1].sum())},
        right=nearest_answer({"same": 1, "e": math.e, "ten": 10}, times),
    )


def mixed(subject: Subject) -> Facts:
    tensors = subject.attend_by_hand().tensors
    weights = tensors["weights"][0, 0, -1]
    best = int(weights.argmax())
    return Facts(
        {
            "word": subject.hand_words[-1],
            "other": subject.hand_words[best],
            "share": float(weights[best]),
            "output": format_vector(tensors["heads"][0, 0, -1]),
        }
    )


def by_torch(subject: Subject) -> Facts:
    """The same in one line, by a function that this app did not write."""
    tensors = subject.attend_by_hand().tensors
    q, k, v = (torch.from_numpy(tensors[name]) for name in "QKV")
    fused = functional.scaled_dot_product_attention(q, k, v).numpy()
    rows, twice = len(subject.hand_words), subject.attend_by_hand(subject.hand_words * 2).tensors["scores"]
    return Facts(
        {"difference": float(np.abs(fused - tensors["heads"]).max()), "n": rows, "pairs": rows * rows},
        right=nearest_answer({"two": 2, "four": 4, "eight": 8}, twice.size / tensors["scores"].size),
    )


LESSON = Lesson(
    "row",
    N_("One row, worked out"),
    (
        LessonStep(
            N_("Three vectors from one"),
            N_(
                "Three tables of numbers make three vectors of the one of “{word}”: a query, what it looks for; a key, "
                "how it is found; a value, what it hands over. Its query, {q}, is the last row of Q."
            ),
            LessonPicture("board", {"step": "project"}),
            N_("Choose Q, K or V above the picture, then a number: it is one row times one column."),
            vectors,
            notes=Notes(
                N_("A library: the query is your question, the key the label on the spine, the value the book."),
                N_("They look for q, k and v in the model. Stored are W_Q, W_K and W_V; the vectors come and go."),
                4,
            ),
            terms=("query", "key", "value"),
            page="build",
            page_choices={"b_step": "project"},
        ),
        LessonStep(
            N_("A score: query times key"),
            N_(
                "How well does a key answer a query? Multiply them number by number and add up. For “{word}” and "
                "“{other}”: q·k = {q}·{k} = {score:.2f}, its largest score."
            ),
            LessonPicture("board", {"step": "scores"}),
            N_("Choose another cell of the last row and check the sum."),
            score,
            Question(
                N_("A key that is exactly this query: what is its score?"),
                N_("q·q = {same_way:.2f}: vectors that point the same way have a positive product."),
                {"positive": N_("positive"), "zero": N_("zero"), "negative": N_("negative")},
            ),
            notes=Notes(
                N_("The dot product measures how far two vectors point the same way, and how long they are."),
                N_("They take it for a distance. Large means alike here, not far apart."),
                4,
            ),
            terms=("score", "query", "key"),
            page="build",
            page_choices={"b_step": "scores"},
        ),
        LessonStep(
            N_("Divide by √d_k"),
            N_(
                "Scores grow with the number of their terms, d_k, which is {width} here. So each is divided by √d_k = "
                "{root:.0f}: {score:.2f} becomes {scaled:.2f}. The next lesson says why."
            ),
            LessonPicture("board", {"step": "scale"}),
            N_("Choose a number and read what it was before."),
            scaled,
            notes=Notes(N_("One sentence only: the reason is a lesson of its own."), "", 2),
            terms=("scaling", "score"),
            page="build",
            page_choices={"b_step": "scale"},
        ),
        LessonStep(
            N_("Softmax: scores become shares"),
            N_(
                "Softmax takes e to the power of each score and divides by the row’s sum. All weights are "
                "positive, and "
                "those of “{word}” sum to {total:.2f}."
            ),
            LessonPicture("board", {"step": "softmax"}),
            N_("Find the largest score of a row and its weight."),
            softmax,
            Question(
                N_("One key’s score is 1 larger than another’s. How do their weights compare?"),
                N_("{times:.2f} times as large: e, whatever the other scores are."),
                {
                    "same": N_("they are almost the same"),
                    "e": N_("2.7 times as large"),
                    "ten": N_("ten times as large"),
                },
            ),
            notes=Notes(
                N_("Only differences of scores count: add 5 to a whole row and nothing changes."),
                N_("They expect twice the score to be twice the weight. A difference is a factor."),
                4,
            ),
            terms=("softmax", "weight"),
            page="build",
            page_choices={"b_step": "softmax"},
        ),
        LessonStep(
            N_("The sum: weights times values"),
            N_(
                "“{word}” gives {share:.0%} to “{other}”, and no more to any other. Weights times values, added up, "
                "make its output {output}."
            ),
            LessonPicture("board", {"step": "sum"}),
            N_("Work out one number of the output on paper."),
            mixed,
            notes=Notes(N_("This is the mixture of lesson 1, with its numbers."), "", 3),
            terms=("value", "weight"),
            page="build",
            page_choices={"b_step": "sum"},
        ),
        LessonStep(
            N_("All rows at once"),
            N_(
                "All rows together are one formula: softmax(QKᵀ/√d_k)·V. PyTorch’s own function gives the same "
                "numbers, to within {difference:.1g}. Each token has a score for each: {n} × {n} = {pairs}."
            ),
            LessonPicture("board", {"step": "softmax"}),
            N_("Find the scores of the last row: each row needs only its own query."),
            by_torch,
            Question(
                N_("Twice as many tokens: how many scores?"),
                N_("Four times as many: each token looks at each, so the number is squared."),
                {"two": N_("twice as many"), "four": N_("four times as many"), "eight": N_("eight times as many")},
            ),
            notes=Notes(N_("Each row can be computed without the others: that is what a GPU likes."), "", 3),
            terms=("attention", "fused"),
            page="build",
            page_choices={"b_step": "softmax"},
        ),
    ),
    summary=N_(
        "Attention is four steps: score, divide, softmax, mix. All rows go through them at once: their scores are {n} "
        "× {n} = {pairs}."
    ),
)
