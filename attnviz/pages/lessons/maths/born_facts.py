"""The lesson on how a head is born: the training of a small model, step by step."""

from math import log

from attnviz.base.words import N_
from attnviz.pages.born.maths import life
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

SENTENCE = "the cat saw a red bird"
GUESSES = {"hundred": 100, "three": 300, "thousand": 1000}  #: id of an answer -> step


def repeat_sentence(subject: Subject) -> life.RepeatedWords:
    """Repeat the sentence's first words once; those of the lesson where there are too few."""
    config = life.read(life.LIFE).config
    repeated = subject.first_words if len(subject.first_words) >= config.lags[0] else SENTENCE.split()
    return life.repeat_words(" ".join(repeated), config)


def task(_subject: Subject) -> Facts:
    run = life.read(life.LIFE)
    config = run.config
    return Facts(
        {
            "layers": config.layers,
            "heads": config.heads,
            "words": config.words,
            "before": run.accuracy[0],
            "steps": config.steps,
        }
    )


def cliff(_subject: Subject) -> Facts:
    """Step at which the second copy is predicted, and the steps of a tenth and of nine tenths of it."""
    run = life.read(life.LIFE)
    learned, (low, high) = (
        run.cliff or run.config.steps,
        (int(run.at[(run.accuracy >= level).argmax()]) for level in (life.BEGUN, life.DONE)),
    )
    right = nearest_answer({name: log(step) for name, step in GUESSES.items()}, log(learned))
    return Facts({"cliff": learned, "low": low, "high": high}, right)


def order(_subject: Subject) -> Facts:
    """Step at which a head of each kind has half of its weight on its pattern, and the best heads at the end."""
    run = life.read(life.LIFE)
    before, after = run.find_pattern_step(run.previous) or 0, run.find_pattern_step(run.induction) or 0
    names = {
        name: f"{layer}.{head}"
        for name, (layer, head) in (
            ("one", run.strongest_head(run.previous)),
            ("two", run.strongest_head(run.induction)),
        )
    }
    return Facts(
        {"before": before, "after": after, **names},
        "before" if before < after else "after" if after < before else "both",
    )


def silenced(_subject: Subject) -> Facts:
    """Accuracy that is left at the end without the first layer's head."""
    run = life.read(life.LIFE)
    head = run.strongest_head(run.previous)
    share = float(life.measure_without_heads(life.LIFE, (head,))[-1, 1])
    shares = {"all": 1.0, "half": 0.5, "few": 0.0}
    return Facts(
        {"head": f"{head[0]}.{head[1]}", "whole": run.accuracy[-1], "share": share}, nearest_answer(shares, share)
    )


def one_layer(subject: Subject) -> Facts:
    """Accuracy of one layer, of two with the first fixed at blur, and without the first layer's head."""
    alone, blurred = life.read("one-layer"), life.read(life.BLURRED)
    values = {"steps": alone.config.steps, "alone": alone.accuracy[-1], "blurred": blurred.accuracy[-1]}
    values["share"] = silenced(subject).values["share"]
    return Facts(values, "yes" if alone.cliff is not None else "no")


LESSON = Lesson(
    "born",
    N_("How a head is born"),
    (
        LessonStep(
            N_("Words that come twice"),
            N_(
                "A tiny model has {layers} layers of {heads} heads, and nothing else. It reads some words and then the "
                "same words again, and learns to say which of its {words} words comes next. Before training it gets "
                "{before:.0%} of the second copy right."
            ),
            LessonPicture("birth", {"step": "0"}),
            N_("Look at the heads: every row is spread over all that it may look at."),
            task,
            notes=Notes(N_("Nobody tells the heads where to look. Only the next word is known."), "", 3),
            terms=("head", "training_step"),
            page="born",
        ),
        LessonStep(
            N_("Nothing, and then everything"),
            N_("After 100 steps of training the heads are still a blur, and the loss has hardly moved."),
            LessonPicture("birth", {"step": "100"}),
            N_("Drag the handle over the cliff, or play it."),
            cliff,
            Question(
                N_("About which step is the second copy predicted?"),
                N_(
                    "From step {cliff} on. Between steps {low} and {high} it goes from a tenth of the words to nine "
                    "tenths."
                ),
                {"hundred": N_("step 100"), "three": N_("step 300"), "thousand": N_("step 1,000")},
            ),
            LessonPicture("birth", {"step": "333", "whole": "yes"}),
            Notes("", N_("They expect it to fall slowly. The loss falls off a cliff."), 4),
            ("nat", "training_step"),
            "born",
        ),
        LessonStep(
            N_("Two kinds of heads"),
            N_(
                "In the end head {one} looks at the token before, and head {two} at what came next when the same word "
                "stood there last time."
            ),
            LessonPicture("birth", {"step": "274"}),
            N_("Follow both curves around the cliff."),
            order,
            Question(
                N_("Which kind has half of its weight there first?"),
                N_("The token before: at step {before}. What came next last time: at step {after}."),
                {"before": N_("the token before"), "after": N_("what came next"), "both": N_("both at once")},
            ),
            LessonPicture("birth", {"step": "356", "whole": "yes"}),
            Notes(N_("Neither is of use without the other. The second kind is called an induction head."), "", 4),
            ("previous_token_head", "induction"),
            "born",
        ),
        LessonStep(
            N_("One needs the other"),
            N_("At the end of training {whole:.0%} of the words are predicted. Now head {head} is silenced."),
            LessonPicture("birth", {"step": "1500", "whole": "yes"}),
            N_("Click a head to silence it, and click it again."),
            silenced,
            Question(
                N_("How many of the words are predicted without head {head}?"),
                N_("{share:.0%}. It told every token what it follows, and that is what the other head looks for."),
                {"all": N_("nearly all"), "half": N_("about half"), "few": N_("next to none")},
            ),
            LessonPicture("birth", {"step": "1500", "whole": "yes", "off": "0.0"}),
            Notes("", N_("They think that the head which finds the word does it alone."), 4),
            ("knock_out", "induction"),
            "born",
        ),
        LessonStep(
            N_("It takes two layers"),
            N_("One head writes what comes before each token, and another reads it: the second must come later."),
            LessonPicture("runs", {"changed": "seeds"}),
            N_("Compare the other runs on the page."),
            one_layer,
            Question(
                N_("Can one layer alone learn it in {steps:,} steps?"),
                N_("{alone:.0%} of the words. With two layers, the first fixed at blur: {blurred:.0%}."),
                {"yes": N_("yes"), "no": N_("no")},
            ),
            LessonPicture("runs", {"changed": "one-layer"}),
            Notes(N_("All of these runs were really made; the page names them."), "", 3),
            ("layer", "induction"),
            "born",
            {"born_section": "others"},
        ),
    ),
    sentence=SENTENCE,
    summary=N_(
        "A head that repeats needs one before it that looks back by one. Both come within a few steps, and without the "
        "first only {share:.0%} of the words are predicted."
    ),
    page_links=(
        (N_("Type words of your own, and silence other heads"), "born", {}),
        (N_("See the same two kinds in a trained model"), "explore", {"by": "induction"}),
        (N_("See how much such heads do in passages of novels"), "heads", {"hd_text": "books"}),
    ),
)
