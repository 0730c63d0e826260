"""Lesson 2, one row worked out: query, keys, values, scores, softmax and the sum."""

import math

import numpy as np
import torch
import torch.nn.functional as functional

from attnviz.base.words import N_
from attnviz.core.attention import attend
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


def _named(subject: Subject) -> dict[str, object]:
    """The row that lessons speak of, and the key that it looks at most."""
    matrix = subject.matrix()
    return {"token": matrix.row_name(subject.row), "other": matrix.col_name(subject.favourite_key)}


def vectors(subject: Subject) -> Facts:
    width = subject.query_numbers().q.size
    x = subject.vectors
    return Facts({"width": width if x is None else x.shape[-1], "few": width, **_named(subject)})


def score(subject: Subject) -> Facts:
    """The score of the key that is looked at most, and the score of a key equal to the query."""
    numbers = subject.query_numbers()
    same_way = float(numbers.q @ numbers.q)
    return Facts(
        {
            "score": float(numbers.q @ numbers.k[subject.favourite_key]),
            "same_way": same_way,
            "width": numbers.q.size,
            **_named(subject),
        },
        right="positive" if same_way > 1e-9 else "zero" if same_way > -1e-9 else "negative",
    )


def scaled(subject: Subject) -> Facts:
    numbers = subject.query_numbers()
    raw = float(numbers.q @ numbers.k[subject.favourite_key])
    return Facts(
        {"score": raw, "scaled": raw * numbers.scale, "width": numbers.q.size, "root": 1 / numbers.scale}
        | _named(subject)
    )


def softmax(subject: Subject) -> Facts:
    """Two scores that differ by 1: how their weights compare, whatever the other scores are."""
    numbers = subject.query_numbers()
    row = torch.from_numpy(numbers.k[numbers.seen] @ numbers.q * numbers.scale).double()
    pair = torch.softmax(torch.cat([row, row[:1] + 1]), 0)
    times = float(pair[-1] / pair[0])
    return Facts(
        {"times": times, "total": float(subject.row_weights().sum()), **_named(subject)},
        right=nearest_answer({"same": 1, "e": math.e, "ten": 10}, times),
    )


def mixed(subject: Subject) -> Facts:
    return Facts({"share": float(subject.row_weights().max()), **_named(subject)})


def by_torch(subject: Subject) -> Facts:
    """The same in one line, by a function that this app did not write."""
    layer, head = subject.head_layer, subject.head_index
    stages = layer.stages(head)
    q, k, v = (tensor[0] for tensor in layer.qkv)
    kv_head = head * len(k) // len(q)
    mask = layer.mask_for()[0, 0]
    fused = functional.scaled_dot_product_attention(q[head], k[kv_head], v[kv_head], mask, scale=layer.scale_of(head))
    q2, k2, v2 = (torch.cat([tensor, tensor], -2)[:1] for tensor in (q, k, v))
    twice = attend(q2, k2, v2).scores
    rows = len(subject.tokens)
    return Facts(
        {"difference": float(np.abs((fused - stages.output[0, 0]).numpy()).max()), "n": rows, "pairs": rows * rows},
        right=nearest_answer({"two": 2, "four": 4, "eight": 8}, twice.shape[-1] * twice.shape[-2] / rows**2),
    )


LESSON = Lesson(
    "row",
    N_("One row, worked out"),
    (
        LessonStep(
            N_("Three vectors from one"),
            N_(
                "The head makes shorter vectors, of {few} numbers, from a token’s {width}. A :blue[query] says what "
                "“{token}” looks for. Each token has a :orange[key], by which it is found, and a :green[value], which "
                "it hands over."
            ),
            LessonPicture("story", {"from": "vectors", "to": "roles"}),
            N_("Compare the keys of two tokens: where they have the same colours, they are found alike."),
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
                "How well does a key answer the query? Multiply them number by number and add up. For "
                ":blue[“{token}”] and :orange[“{other}”] the {width} products make the score {score:.2f}."
            ),
            LessonPicture("story", {"from": "roles", "to": "scores"}),
            N_("Choose another row of the picture: its key meets the query."),
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
                "Scores grow with the number of their products, d_k, which is {width} here. So each is divided by √d_k "
                "= {root:.3g}: {score:.2f} with :orange[“{other}”] becomes {scaled:.2f}. The next lesson says why."
            ),
            LessonPicture("story", {"from": "scores", "to": "scaled"}),
            N_("Move the handle below the picture: all bars shrink by the same factor."),
            scaled,
            notes=Notes(N_("One sentence only: the reason is a lesson of its own."), "", 2),
            terms=("scaling", "score"),
            page="build",
            page_choices={"b_step": "scale"},
        ),
        LessonStep(
            N_("Softmax: scores become shares"),
            N_(
                "What follows :blue[“{token}”] is masked: it gets nothing. Then softmax takes e to the power of each "
                "score and divides by their sum. All :violet[weights] are positive and sum to {total:.2f}."
            ),
            LessonPicture("story", {"from": "scaled", "via": "masked", "to": "weights"}),
            N_("Find the largest score and its weight."),
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
            terms=("softmax", "weight", "mask"),
            page="build",
            page_choices={"b_step": "softmax"},
        ),
        LessonStep(
            N_("The sum: weights times values"),
            N_(
                ":blue[“{token}”] gives {share:.0%} to :orange[“{other}”], and no more to any other. :green[Values] "
                "times :violet[weights], added up, are its new vector."
            ),
            LessonPicture("story", {"from": "weights", "via": "values", "to": "mixture"}),
            N_("Move the handle to and fro, and follow one column of the values."),
            mixed,
            notes=Notes(N_("This is the mixture of lesson 1: now all of it has been worked out."), "", 3),
            terms=("value", "weight"),
            page="build",
            page_choices={"b_step": "sum"},
        ),
        LessonStep(
            N_("All rows at once"),
            N_(
                "Every token is a query, too. All rows together are one formula: softmax(QKᵀ/√d_k)·V. PyTorch’s own "
                "function gives the same numbers, to within {difference:.1g}. Each token has a score for each: {n} × "
                "{n} = {pairs}."
            ),
            LessonPicture("story", {"from": "mixture", "via": "new", "to": "matrix"}),
            N_("Find the row of the last steps: it needs only its own query."),
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
