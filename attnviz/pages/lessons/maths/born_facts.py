"""The lesson on how a head is born: the training of a small model, step by step."""

from math import log

from attnviz.pages.born.maths import life
from attnviz.pages.lessons.maths.lesson_parts import (
    Facts,
    Subject,
    fact,
    nearest_answer,
)

SENTENCE = "the cat saw a red bird"
GUESSES = {"hundred": 100, "three": 300, "thousand": 1000}  #: id of an answer -> step


def repeat_sentence(subject: Subject) -> life.RepeatedWords:
    """Repeat the sentence's first words once; those of the lesson where there are too few."""
    config = life.read(life.LIFE).config
    repeated = subject.first_words if len(subject.first_words) >= config.lags[0] else SENTENCE.split()
    return life.repeat_words(" ".join(repeated), config)


@fact
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


@fact
def cliff(_subject: Subject) -> Facts:
    """Step at which the second copy is predicted, and the steps of a tenth and of nine tenths of it."""
    run = life.read(life.LIFE)
    learned, (low, high) = (
        run.cliff or run.config.steps,
        (int(run.at[(run.accuracy >= level).argmax()]) for level in (life.BEGUN, life.DONE)),
    )
    right = nearest_answer({name: log(step) for name, step in GUESSES.items()}, log(learned))
    return Facts({"cliff": learned, "low": low, "high": high}, right)


@fact
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


@fact
def silenced(_subject: Subject) -> Facts:
    """Accuracy that is left at the end without the first layer's head."""
    run = life.read(life.LIFE)
    head = run.strongest_head(run.previous)
    share = float(life.measure_without_heads(life.LIFE, (head,))[-1, 1])
    shares = {"all": 1.0, "half": 0.5, "few": 0.0}
    return Facts(
        {"head": f"{head[0]}.{head[1]}", "whole": run.accuracy[-1], "share": share}, nearest_answer(shares, share)
    )


@fact
def one_layer(subject: Subject) -> Facts:
    """Accuracy of one layer, of two with the first fixed at blur, and without the first layer's head."""
    alone, blurred = life.read("one-layer"), life.read(life.BLURRED)
    values = {"steps": alone.config.steps, "alone": alone.accuracy[-1], "blurred": blurred.accuracy[-1]}
    values["share"] = silenced(subject).values["share"]
    return Facts(values, "yes" if alone.cliff is not None else "no")
