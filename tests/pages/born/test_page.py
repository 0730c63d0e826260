"""The page How a head is born, as a visitor uses it."""

import numpy as np
import pytest

from attnviz.base.rounding import format_number
from attnviz.pages.born import choices
from attnviz.pages.born.maths import life
from attnviz.pages.born.maths.life import Config
from tests.pages.conftest import charts, drawn, said, sound


def test_it_opens_with_the_whole_training_and_asks(visit):
    page = sound(visit("born"))
    assert "From which step is the second copy of your words predicted?" in said(page)
    shown, payload = drawn(page, "birth")
    assert not shown["open"], "what comes is not drawn before it is played or guessed"
    assert shown["steps"][shown["at"]] == 1500
    assert shown["tokens"] == ["the", "cat", "saw", "a", "red", "bird"] * 2
    run = life.read(life.LIFE)
    assert payload == run.numbers[shown["at"]].tobytes()
    best = run.induction.max((1, 2))
    assert shown["moment"] == min(step for step in run.at if (best[run.at >= step] >= 0.5).all())


def test_the_answer_is_computed(visit):
    page = visit("born")
    page.button(key="born_guess-300").click().run()
    right = life.accuracy_by_step(life.LIFE, life.repeat_words(choices.TEXT.default, Config()))
    before, first = life.read(life.LIFE).steps[np.flatnonzero(right < 0.5)[-1] :][:2]
    assert f"Computed: between steps {before} and {first}" in said(page), "nobody looked at your words between them"
    assert drawn(page, "birth")[0]["open"]


def test_a_silenced_head_is_measured_at_every_step(visit):
    page = visit("born", born_off="0.0", born_at="1500", born_guess="300")
    assert "With 0.0 silenced, **3%** of words are predicted at step 1,500" in said(page)
    shown, _payload = drawn(page, "birth")
    assert shown["silenced"] == [0]
    assert shown["curves"]["without"][-1] == pytest.approx(
        life.measure_without_heads(life.LIFE, ((0, 0),))[-1, 0], abs=1e-4
    )


@pytest.mark.parametrize("changed", choices.CHANGED.ids)
def test_other_runs_are_named_and_compared(visit, changed):
    page = sound(visit("born", born_section="others", born_changed=changed))
    assert len(charts(page)[0]["data"]) == 2 * (len(life.SEEDS) + 1 + (changed != "seeds"))
    run = life.read(life.LIFE if changed == "seeds" else changed)
    shown = "6 of 6 seeds learn it" if changed == "seeds" else format_number(run.accuracy[-1], ".0%")
    assert shown in said(page)


def test_the_order_is_counted_seed_by_seed(visit):
    """From which step on a head has half of its weight there, by a loop; 5 of 6 is what the shipped runs show."""
    first = 0
    for name in (life.LIFE, *life.SEEDS):
        run, found = life.read(name), []
        for scores in (run.previous, run.induction):
            below = [step for step, each in zip(run.at, scores, strict=True) if each.max() < life.FOUND_FROM]
            found.append(max(below))  # the last look before it is found for good
        assert max(found) < run.at[-1]
        first += found[0] < found[1]
    shown = said(visit("born", born_section="others"))
    assert f"In {first} of 6 a head has half of its weight on the token before, and only later one has it" in shown
    assert first == 5
