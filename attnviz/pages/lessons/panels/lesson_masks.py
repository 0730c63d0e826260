"""Lesson 5: masks, and why a causal one."""

from attnviz.base.words import N_
from attnviz.pages.lessons.maths import mask_facts as facts
from attnviz.pages.lessons.panels.lesson_form import Lesson, LessonPicture, LessonStep, Notes, Question

LESSON = Lesson(
    "masks",
    N_("Masks, and why a causal one"),
    (
        LessonStep(
            N_("Without a mask all look at all"),
            N_("{n} words make {n} × {n} = {all} scores. “{first}” can look at “{last}”, which comes after it."),
            LessonPicture("mask", {"mask": "none"}),
            N_("Click a cell on the left to hide it, and watch its row on the right."),
            facts.square,
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
            N_("Predict, then read the picture row by row."),
            facts.kept,
            Question(
                N_("How many of the {all} scores does a causal mask keep?"),
                N_("{kept} of {all}: 1 + 2 + … + {n}, a little more than half, because each word sees itself."),
                {"half": N_("exactly half, {half}"), "triangle": N_("{triangle}"), "line": N_("{line}, one a row")},
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
            facts.later_words,
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
            facts.examples,
            Question(
                N_("How many training examples are these {n} words, in one pass?"),
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
            seen={"m_view": "training"},
        ),
        LessonStep(
            N_("Before softmax, not after it"),
            N_("A mask sets scores to minus infinity before softmax. Why not simply set weights to 0 after it?"),
            LessonPicture("board", {"step": "mask", "mask": "causal"}),
            N_("Choose a hidden cell and read what becomes of its score."),
            facts.too_late,
            Question(
                N_("Weights set to 0 after softmax: what does the row of “{word}” sum to?"),
                N_(
                    "To {left:.2f}; masked before softmax it sums to {proper:.2f}. The words that it may see get "
                    "too little."
                ),
                {"one": N_("to 1, as always"), "less": N_("to less than 1")},
            ),
            notes=Notes(N_("A common mistake in code, and it trains: only worse."), "", 3),
            terms=("mask", "softmax"),
            page="masks",
            seen={"m_view": "traps"},
        ),
    ),
)
