"""Lesson 4, why several heads."""

import numpy as np

from attnviz.analysis import head_matrix
from attnviz.base.words import N_
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention
from attnviz.pages.lessons.maths.lesson_parts import (
    HEAD,
    WIDTH,
    Facts,
    Lesson,
    LessonPicture,
    LessonStep,
    Notes,
    Question,
    Subject,
)

MODEL_WIDTH, EIGHT = 512, 8
FEW = 3  #: favourites that are called few


def one_row(subject: Subject) -> Facts:
    """Two weights of one row can never both be large, because they share a sum of 1."""
    matrix, row = subject.matrix(), subject.row
    weights = np.where(matrix.hidden[row], 0.0, matrix.values[row])
    largest = float(weights.max())
    return Facts(
        {"token": matrix.row_name(row), "first": largest, "left": 1 - largest},
        right="yes" if float(weights.sum()) >= 2 * 0.9 else "no",
    )


def all_heads(subject: Subject) -> Facts:
    layers = subject.layers
    every, first = sum(layer.n_heads for layer in layers), layers[0]
    return Facts({"layers": len(layers), "heads": first.n_heads, "all": every, "kv_heads": first.n_kv_heads})


def favourites(subject: Subject) -> Facts:
    """How many different tokens the heads of one layer look at most, from the same row."""
    row, layer = subject.row, HEAD[0]
    matrices = [subject.matrix()]
    if subject.stack is not None:
        heads = range(subject.stack.layers[layer].n_heads)
        matrices = [head_matrix.head_matrix(subject.stack, layer, head, head_matrix.DisplayOptions()) for head in heads]
    best = [int(np.where(matrix.hidden[row], -1.0, matrix.values[row]).argmax()) for matrix in matrices]
    different, token = len(set(best)), matrices[0].row_name(row)
    return Facts(
        {"token": token, "layer": layer, "heads": len(best), "different": different, "few": FEW},
        right="one" if different == 1 else "few" if different <= FEW else "many",
    )


def cost(_subject: Subject) -> Facts:
    """Parameters of a layer with one wide head, and with eight narrow ones."""
    one_head, eight_heads = (
        sum(p.numel() for p in Attention(HeadLayout(MODEL_WIDTH, heads)).parameters()) for heads in (1, EIGHT)
    )
    return Facts(
        {"width": MODEL_WIDTH, "one": one_head, "eight": eight_heads, "heads": EIGHT, "each": MODEL_WIDTH // EIGHT},
        right="same" if one_head == eight_heads else "more" if eight_heads > one_head else "less",
    )


def joined(subject: Subject) -> Facts:
    """W_O over the joined heads is the sum of each head through its own rows of W_O."""
    result = subject.attend_by_hand(heads=2)
    heads, w_o = result.tensors["heads"][0], result.weights["W_O"]
    width = WIDTH // 2
    added = sum(heads[h] @ w_o[h * width : (h + 1) * width] for h in range(2))
    difference = float(np.abs(added - result.tensors["output"][0]).max())
    return Facts({"difference": difference, "heads": 2}, "added" if difference < 1e-5 else "other")


LESSON = Lesson(
    "heads",
    N_("Why several heads?"),
    (
        LessonStep(
            N_("One row, one mixture"),
            N_(
                "In one head “{token}” has one row. Its largest weight is {first:.0%}, which leaves {left:.0%} for all "
                "others."
            ),
            LessonPicture("head"),
            N_("Look for a row that gives much to two tokens."),
            one_row,
            Question(
                N_("Can “{token}” give 90% to one token and 90% to another, in one head?"),
                N_("No: a row sums to 1. Here the largest weight leaves {left:.0%} for all others together."),
                {"yes": N_("yes"), "no": N_("no")},
            ),
            notes=Notes(N_("One head is one question. A word has several at once."), "", 3),
            terms=("head", "weight"),
            page="home",
        ),
        LessonStep(
            N_("So a model has many"),
            N_(
                "A small model has {layers} layers with {heads} heads each, {all} in all. Each head has its own W_Q; "
                "the {heads} of a layer share {kv_heads} W_K and {kv_heads} W_V, which lesson 7 explains."
            ),
            LessonPicture("heads"),
            N_("Choose any small picture. Look for diagonals, first columns, and single bright cells."),
            all_heads,
            notes=Notes(
                N_("Many heads rest on the first token: a place for weight that is not needed."),
                N_("They want to name every head. Most have no name."),
                4,
            ),
            terms=("multi_head", "layer", "sink"),
            page="explore",
        ),
        LessonStep(
            N_("They look at different things"),
            N_(
                "Take one layer and one row, “{token}” in layer {layer}, and ask each of its heads, {heads} in all, "
                "for its favourite."
            ),
            LessonPicture("tokens"),
            N_("Choose the heads one after the other."),
            favourites,
            Question(
                N_("How many different favourites do they have?"),
                N_("Heads: {heads}. Different favourites: {different}."),
                {"one": N_("one: all agree"), "few": N_("two or three"), "many": N_("four or more")},
            ),
            LessonPicture("heads", {"layer": "13"}),
            Notes(N_("Nobody told them what to look for. Training did, by the loss alone."), "", 3),
            ("head", "layer"),
            "explore",
        ),
        LessonStep(
            N_("Several heads cost no more"),
            N_(
                "A layer of width {width} can be one head of {width} or {heads} heads of {each}. Q, K and V are cut "
                "into a piece for each head; the vectors that they are made from are not: each head reads all "
                "{width} numbers."
            ),
            LessonPicture("board", {"step": "project", "heads": "2"}),
            N_("Find the line that separates the two heads in Q."),
            cost,
            Question(
                N_("{heads} heads instead of one: how many parameters do W_Q, W_K, W_V and W_O have?"),
                N_("One head: {one:,}. {heads} heads: {eight:,}. The same matrices are only cut differently."),
                {"more": N_("{heads} times as many"), "same": N_("as many"), "less": N_("fewer")},
            ),
            notes=Notes("", N_("They answer {heads} times. Each head is narrower."), 3),
            terms=("multi_head", "head"),
            page="build",
            page_choices={"b_step": "project"},
        ),
        LessonStep(
            N_("W_O brings them together"),
            N_(
                "The outputs of {heads} heads stand side by side, and W_O turns them into one vector of the model’s "
                "width."
            ),
            LessonPicture("board", {"step": "output", "heads": "2"}),
            N_("Choose a number of the output: which heads does it take from?"),
            joined,
            Question(
                N_("Is that the same as sending each head through its own part of W_O and adding up?"),
                N_("Yes, to within {difference:.1g}: so one can ask what a single head adds."),
                {"added": N_("yes"), "other": N_("no")},
            ),
            notes=Notes(N_("Heads never see each other inside a layer. They meet in this sum."), "", 3),
            terms=("w_o", "multi_head"),
            page="build",
            page_choices={"b_step": "output"},
        ),
    ),
    summary=N_(
        "One head makes one mixture for each token. {heads} narrower heads make {heads}, with no more parameters, and "
        "W_O adds them up."
    ),
)
