"""Lesson 4: why several heads."""

from attnviz.base.words import N_
from attnviz.pages.lessons.maths import heads_facts as facts
from attnviz.pages.lessons.panels.lesson_form import Lesson, LessonPicture, LessonStep, Notes, Question

LESSON = Lesson(
    "heads",
    N_("Why several heads?"),
    (
        LessonStep(
            N_("One row, one mixture"),
            N_(
                "In one head “{token}” has one row. Its largest weight is {first:.0%}, which leaves {left:.0%} for all "
                "others; the second largest is {second:.0%}."
            ),
            LessonPicture("head"),
            N_("Look for a row that gives much to two tokens."),
            facts.one_row,
            Question(
                N_("Can “{token}” give 90% to one token and 90% to another, in one head?"),
                N_("No: a row sums to 1. Here the two largest make {both:.0%} together."),
                {"yes": N_("yes"), "no": N_("no")},
                "no",
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
            facts.all_heads,
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
                "Take one layer and one row, “{token}” in layer {layer}, and ask each of its {heads} heads "
                "for its favourite."
            ),
            LessonPicture("tokens"),
            N_("Predict, then choose the heads one after the other."),
            facts.favourites,
            Question(
                N_("How many different favourites do these {heads} heads have?"),
                N_("{different} different ones among {heads} heads."),
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
                "A layer of width {width} can be one head of {width} or {heads} heads of {each}. The heads cut the "
                "width into pieces."
            ),
            LessonPicture("board", {"step": "project", "heads": "2"}),
            N_("Find the line that separates the two heads in Q."),
            facts.cost,
            Question(
                N_("{heads} heads instead of one: how many parameters do W_Q, W_K, W_V and W_O have?"),
                N_("One head: {one:,}. {heads} heads: {eight:,}. The same matrices are only cut differently."),
                {"more": N_("{heads} times as many"), "same": N_("as many"), "less": N_("fewer")},
            ),
            notes=Notes("", N_("They answer {heads} times. Each head is narrower."), 3),
            terms=("multi_head", "head"),
            page="build",
            seen={"b_step": "project"},
        ),
        LessonStep(
            N_("W_O brings them together"),
            N_(
                "The outputs of {heads} heads stand side by side, and W_O turns them into one vector of the model’s "
                "width."
            ),
            LessonPicture("board", {"step": "output", "heads": "2"}),
            N_("Choose a number of the output: which heads does it take from?"),
            facts.joined,
            Question(
                N_("Is that the same as sending each head through its own part of W_O and adding up?"),
                N_("Yes, to within {difference:.1g}: so one can ask what a single head adds."),
                {"added": N_("yes"), "other": N_("no")},
            ),
            notes=Notes(N_("Heads never see each other inside a layer. They meet in this sum."), "", 3),
            terms=("w_o", "multi_head"),
            page="build",
            seen={"b_step": "output"},
        ),
    ),
)
