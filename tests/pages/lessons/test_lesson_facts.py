"""Numbers that lessons say: against transformers, the page about sharing, and what another hand computes."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from attnviz.analysis.model_run import Request, run_model
from attnviz.base.message import Problem
from attnviz.base.rounding import format_number
from attnviz.models.architecture import Architecture
from attnviz.models.capture import capture
from attnviz.pages.born.maths import life
from attnviz.pages.lessons.maths import all_facts, cost_facts, hand_facts, lesson_parts, trained_facts
from attnviz.pages.lessons.maths.lesson_parts import Facts
from attnviz.pages.lessons.panels import open_lesson
from attnviz.pages.why.maths import parts
from tests.models.conftest import trained
from tests.models.tiny import eager

ANY: Any = None  #: a subject that the facts do not look at


def test_the_number_of_weights_is_what_transformers_builds():
    config = Architecture.preset(cost_facts.MODEL).config
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    built = {id(p): p.numel() for p in model.parameters()}
    assert cost_facts.total_parameters() == sum(built.values())


def test_what_alibi_takes_off_is_positive_and_the_published_slope_times_the_distance() -> None:
    found = hand_facts.taken_off(ANY)
    slope = 2 ** (-8 / 4)  # of the first of four heads, as in the paper
    for place in ("near", "far"):
        assert found.values[place] == pytest.approx(slope * found.values[f"{place}_at"])
        assert found.values[place] > 0
    assert found.right == ("far",)


def test_the_head_that_said_so_is_the_one_that_adds_most_and_its_word_the_one_it_reads_that_from() -> None:
    smollm2 = trained("smollm2-135m")
    run = run_model(Request("smollm2-135m", open_lesson.LESSONS["model"].sentence), smollm2)
    made = parts.run(run, smollm2, parts.TokenQuestion())
    found = trained_facts.who_said(lesson_parts.Subject(run, lambda: smollm2, lambda *_what: made))
    most = max((part for part in made.by_size if part.head is not None), key=lambda part: part.value)
    assert (found.values["layer"], found.values["head"]) == (most.layer, most.head)
    assert dict(found.answers)[found.right[0]].strip() == "Italy"
    assert 0.9 * most.value < found.values["value"]


def test_of_two_heads_one_writes_what_the_other_finds_and_the_cut_says_that_it_is_needed() -> None:
    subject = subject_of(open_lesson.LESSONS["pair"].sentence, is_trained=True)
    tokens = [token.strip() for token in subject.tokens]
    model = trained("smollm2-135m").model
    inputs = subject.run.inputs_on(model.device)
    weights = eager(model, **inputs).attentions
    found, told, left = (fact(subject) for fact in (trained_facts.looks, trained_facts.writes, trained_facts.without))
    assert (found.values["token"], found.values["key"], found.right) == ("stone", "green", ("head",))
    assert found.values["share"] == pytest.approx(float(weights[18][0, 6, 6, 2]), abs=1e-3)
    assert (told.values["part"], told.values["source"]) == ("16.0", "stone")
    assert told.values["share"] == pytest.approx(float(weights[16][0, 0, 2, tokens.index("stone")]), abs=1e-3)
    cut = capture(model, residual=True, **inputs).score_attribution(18, 6, 6, 2).cut("16.0")
    assert (left.values["after"], left.values["off"]) == (pytest.approx(cut.weight), pytest.approx(cut.total))
    assert left.right == ("none",)


@pytest.mark.parametrize(
    "text, why",
    [("cat", "comes twice"), ("the the the the", "does not look"), ("river stone river", "does not look")],
)
def test_two_heads_need_a_word_that_comes_twice_and_is_looked_at_so(text: str, why: str) -> None:
    """Of equal words, none is looked at more; elsewhere the head rests on the first token."""
    with pytest.raises(Problem, match=why):
        trained_facts.looks(subject_of(text, is_trained=True))


def subject_of(text: str, is_trained: bool) -> lesson_parts.Subject:
    if not is_trained:
        return lesson_parts.random_subject(text)
    smollm2 = trained("smollm2-135m")
    run = run_model(Request("smollm2-135m", text), smollm2)
    return lesson_parts.Subject(
        run,
        lambda: smollm2,
        lambda compute, *arguments: compute(run, smollm2, *arguments),
        lambda other: subject_of(other, True),
    )


PLAIN = ("cat", "the the the the", "Two birds", "a b a", "was y", "a a a a a a a", "The cat sat on the mat.")


@pytest.mark.parametrize("is_trained", [False, True])
@pytest.mark.parametrize("text", PLAIN)
def test_what_a_lesson_says_of_any_sentence_holds(text: str, is_trained: bool) -> None:
    """Of one word, of equal words, of ties: superlatives, sums, and every answer that the sentence makes right."""
    subject = subject_of(text, is_trained)
    facts: dict[str, Facts] = {}
    for name, compute in all_facts.FACTS.items():
        try:
            facts[name] = compute(subject)
        except Problem:
            few = name in ("later_words", "examples", "too_late") or name in ("bag", "added", "by_mask")
            alone = (few or name == "unchanged") and text == "cat"
            assert alone or name in ("looks", "writes", "without") or not is_trained, name
    right = {name: {*each.right} for name, each in facts.items()}

    words = facts["sentence"].values
    assert words["repeated"] == sum(token in subject.tokens[:at] for at, token in enumerate(subject.tokens))
    matrix, row = subject.matrix(), subject.row
    weights = np.where(matrix.hidden[row], -1, matrix.values[row])
    assert (len(weights) < 2) or (weights >= 0).sum() > 1, "a row that has a choice"
    favourite = facts["favourite"]
    best = {
        str(key)
        for key, weight in enumerate(weights)
        if format_number(weight, ".0%") == format_number(weights.max(), ".0%")
    }
    assert right["favourite"] == best & set(dict(favourite.answers))
    assert favourite.values["share"] == pytest.approx(weights.max())
    assert all(weights[int(key)] >= 0 for key, _token in favourite.answers), "none that the mask hides is offered"
    assert len(favourite.answers) == len(set(favourite.answers)) >= min(2, (weights >= 0).sum())

    mixed, numbers = facts["row"], subject.query_numbers()
    assert mixed.values["share"] == pytest.approx(weights.max(), abs=1e-5)
    seen_values, best_value = numbers.v[numbers.seen], numbers.v[numbers.weights[row].argmax()]
    assert ("mean" in right["one_hot"]) == np.allclose(best_value, seen_values.mean(0), atol=1e-6)
    swapped = facts["swapped"].values
    assert ("alone" in str(swapped["why"])) == (swapped["n"] == 1)
    assert (swapped["rows"] == 0) <= ("none" in right["swapped"])
    before, after = np.maximum(numbers.weights, 0), subject.exchange.weights
    own_alone = [i for i in range(len(before)) if np.abs(before - after)[i].max() > 1e-6] == [subject.exchange.at]
    assert ("one" in right["swapped"]) == own_alone
    assert swapped["rows"] <= swapped["n"] - subject.exchange.at, "an earlier row cannot know of a later word"

    n = len(subject.first_words)
    kept = facts["causal_mask"].values
    seen = sum(i + 1 for i in range(n))
    assert (kept["kept"], 2 * kept["half"]) == (seen, n * n)
    assert 2 * seen > n * n
    assert "…" in str(kept["terms"]) or sum(map(int, str(kept["terms"]).split(" + "))) == seen
    assert right["causal_mask"] == {name for name in ("half", "triangle", "line") if kept[name] == seen}
    if n > 1:
        assert right["examples"] == {"all"} | ({"one"} if n == 2 else set())
        step = open_lesson.LESSONS["masks"].steps[-1]
        assert step.question is not None
        assert "To 1;" not in step.question.truth.format(**facts["too_late"].values)
        alike = len(set(subject.first_words)) == 1
        assert right["by_mask"] == {"no" if alike else "yes"}
        assert ("alike" in str(facts["by_mask"].values["says"])) == alike

    if is_trained:
        told = facts["who_said"]
        assert told.values["value"] + told.values["rest"] == pytest.approx(told.values["part"])
        assert len({name for _, name in told.answers}) == len(told.answers), "answers that can be told apart"


def test_how_a_head_is_born_is_told_with_the_runs_own_numbers():
    run, alone = life.read("life"), life.read("one-layer")
    right = dict(zip(run.at.tolist(), run.accuracy.tolist(), strict=True))
    assert cost_facts.training(ANY).values["before"] == right[0]
    told = cost_facts.cliff(ANY).values
    assert right[told["low"]] >= 0.1
    assert right[told["high"]] >= 0.9
    assert right[told["cliff"]] >= 0.5 > right[max(step for step in right if step < told["cliff"])]
    order = cost_facts.order(ANY).values
    assert run.previous.max((1, 2))[run.at.tolist().index(order["before"])] >= 0.5
    assert order["one"] == "0.0"
    assert cost_facts.silenced(ANY).right == ("few",)
    assert cost_facts.silenced(ANY).values["share"] == pytest.approx(
        life.measure_without_heads("life", ((0, 0),))[-1, 1]
    )
    assert cost_facts.one_layer(ANY).values["alone"] == alone.accuracy[-1]
    assert cost_facts.one_layer(ANY).right == ("no",)
