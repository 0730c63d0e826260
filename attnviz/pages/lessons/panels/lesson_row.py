"""Lesson 2: queries, keys, values, and the arithmetic of one row."""

from attnviz.base.words import N_
from attnviz.pages.lessons.maths import row_facts as facts
from attnviz.pages.lessons.panels.lesson_form import Lesson, LessonPicture, LessonStep, Notes, Question

LESSON = Lesson(
    "row",
    N_("One row, worked out"),
    (
        LessonStep(
            N_("Three vectors from one"),
            N_(
                "Three tables of learned numbers turn the vector of “{word}”, {x}, into three: a query q = {q}, "
                "what it "
                "looks for; a key k = {k}, how it is found; and a value v = {v}, what it hands over."
            ),
            LessonPicture("board", {"step": "project"}),
            N_("Choose Q, K or V above the picture, then a number: it is one row times one column."),
            facts.vectors,
            notes=Notes(
                N_("A library: the query is your question, the key the label on the spine, the value the book."),
                N_("They look for q, k and v in the model. Stored are W_Q, W_K and W_V; the vectors come and go."),
                4,
            ),
            terms=("query", "key", "value"),
            page="build",
            seen={"b_step": "project"},
        ),
        LessonStep(
            N_("A score: query times key"),
            N_(
                "How well does a key answer a query? Multiply them number by number and add up. For “{word}” and "
                "“{other}”: q·k = {q}·{k} = {score:.2f}, its largest score."
            ),
            LessonPicture("board", {"step": "scores"}),
            N_("Choose another cell of the last row and check the sum."),
            facts.score,
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
            seen={"b_step": "scores"},
        ),
        LessonStep(
            N_("Divide by √d_k"),
            N_(
                "Scores grow with the number of their terms, d_k, which is {width} here. So each is divided by √d_k = "
                "{root:.0f}: {score:.2f} becomes {scaled:.2f}. The next lesson says why."
            ),
            LessonPicture("board", {"step": "scale"}),
            N_("Choose a number and read what it was before."),
            facts.scaled,
            notes=Notes(N_("One sentence only: the reason is a lesson of its own."), "", 2),
            terms=("scaling", "score"),
            page="build",
            seen={"b_step": "scale"},
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
            facts.softmax,
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
            seen={"b_step": "softmax"},
        ),
        LessonStep(
            N_("The sum: weights times values"),
            N_(
                "“{word}” gives {share:.0%} to “{other}”, more than to any other. Weights times values, added up, make "
                "its output {output}."
            ),
            LessonPicture("board", {"step": "sum"}),
            N_("Work out one number of the output on paper."),
            facts.mixed,
            notes=Notes(N_("This is the mixture of lesson 1, with its numbers."), "", 3),
            terms=("value", "weight"),
            page="build",
            seen={"b_step": "sum"},
        ),
        LessonStep(
            N_("All rows at once"),
            N_(
                "All {n} rows together are one formula: softmax(QKᵀ/√d_k)·V. PyTorch’s own function gives the same "
                "numbers, to within {difference:.1g}. {n} tokens make {pairs} scores."
            ),
            LessonPicture("board", {"step": "softmax"}),
            N_("Make the sentence twice as long: how many scores are there now?"),
            facts.by_torch,
            Question(
                N_("Twice as many tokens: how many scores?"),
                N_("Four times as many: each token looks at each, so the number is squared."),
                {"two": N_("twice as many"), "four": N_("four times as many"), "eight": N_("eight times as many")},
                "four",
            ),
            notes=Notes(N_("Each row can be computed without the others: that is what a GPU likes."), "", 3),
            terms=("attention", "fused"),
            page="build",
            seen={"b_step": "softmax"},
        ),
    ),
)
