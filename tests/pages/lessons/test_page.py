"""The lessons as a visitor walks them: every step with several sentences, questions, links, arrows' buttons, files."""

import re
from html import unescape
from itertools import pairwise

import pytest

from attnviz.app.links import link_reading
from attnviz.app.workarounds.streamlit_adapter import SESSION
from attnviz.base import units
from attnviz.base.message import Problem
from attnviz.pages.lessons import lessons
from attnviz.pages.lessons.maths import cost_facts
from attnviz.pages.lessons.maths.lesson_parts import Facts
from attnviz.pages.lessons.panels import lesson_file, open_lesson, paper
from attnviz.serve import page_table  # noqa: F401
from tests.pages.conftest import drawn, said

LESSONS = open_lesson.LESSONS
ODD = "两只鸟看见了它 & <b>x</b> $y$ {z}"


def errors(page):
    return [str(part.value) for part in page.error]


def shown_story(page) -> dict:
    """What the picture of lessons 1 to 3 is sent: the header."""
    return drawn(page, "attention_story")[0]


def answer(page, id):
    return page.button(key=f"l-answer-{id}").click().run()


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize("sentence", [None, ODD])
def test_every_step_can_be_read_and_answered_and_its_picture_begins_where_the_last_one_ended(visit, lesson, sentence):
    """Where a question waits, its answer goes on from the picture before it: one sentence, one row, one head."""
    link = {} if sentence is None else {"l_text": sentence}
    page = visit("lessons", lesson=lesson, l_notes="true", **link)
    steps, stories = LESSONS[lesson].steps, []
    for at, step in enumerate(steps, 1):
        assert not page.exception
        assert errors(page) == [], step.title
        assert unescape(page.subheader[0].value) == step.title
        dots = [unescape(button.label) for button in page.button if button.key.startswith("l-step-")]
        assert dots == [f"Step {n} of {len(steps)}: {each.title}" for n, each in enumerate(steps, 1)]
        assert "For the teacher" in said(page)
        if step.picture.kind == "story":
            stories.append(shown_story(page))
        if step.question is not None:
            offered = [button.key for button in page.button if button.key.startswith("l-answer-")]
            assert len(offered) >= 2 or sentence is not None
            page.button(key=offered[0]).click().run()
            assert not page.exception
            assert errors(page) == [], step.title
            assert "You predicted: " in said(page)
            assert "Computed: —" not in said(page)
            assert "Lecturer" not in said(page), "the app's own answers are all computed"
            if step.after is not None and step.after.kind == "story":
                stories.append(shown_story(page))
        assert ("Now you know" in said(page)) == (at == len(steps))
        if at < len(steps):
            page.button(key="l-next").click().run()
    if lesson in ("attention", "row"):
        assert len(stories) >= len(steps)
        assert all((each["tokens"], each["row"]) == (stories[0]["tokens"], stories[0]["row"]) for each in stories)
        assert all(last["track"][-1] == each["track"][0] for last, each in pairwise(stories))


def test_the_prediction_stands_beside_the_truth_and_what_a_step_sets_is_undone_once_it_is_left(visit):
    page = answer(visit("lessons", lesson="scaling", step="3", l_width="256"), "flatter")
    assert page.session_state[SESSION]["_chosen"]["l_width"] == 256
    assert "You predicted: its weights become more even" in said(page)
    assert "Computed: fewer tokens get more of it" in said(page)
    page.button(key="l-next").click().run()
    assert "l_width" not in page.session_state[SESSION]["_chosen"]
    page.button(key="l-previous").click().run()
    assert "You predicted" not in said(page)
    assert page.button(key="l-answer-sharper")


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=lambda lesson: lesson.id)
def test_a_plan_fills_its_45_and_its_90_minutes(lesson):
    rows = [minutes for minutes, _what in paper.plan_rows(lesson, lambda _step, text: text)]
    assert tuple(map(sum, zip(*rows, strict=True))) == (45, 90)
    assert all(minutes >= 0 for row in rows for minutes in row)


OWN = """title = "Mine"

[[step]]
title = "Two ways"
idea = "Look at {n} tokens."
facts = "mixture_facts.tokens"
picture = "tokens"
question = "Which is it?"
answers = ["this", "that"]
right = 2
truth = "That one."
link = "scaling?s_dk=16&s_section=alternatives"
"""


def test_a_lecturers_lesson_comes_with_its_link_asks_and_leads_on(visit):
    page = visit("lessons", lesson="own", l_text="Two birds", l_own=link_reading.pack([OWN]))
    assert page.subheader[0].value == "Two ways"
    assert "Look at 2 tokens" in said(page)
    assert "That one." not in unescape(said(page))
    answer(page, "1")
    assert "You predicted: this" in said(page)
    assert "Lecturer’s answer: that" in unescape(said(page))
    assert "Computed:" not in said(page)
    assert "That one." in unescape(said(page))
    page.button(key="l-further").click().run()
    assert not page.exception
    assert {page.session_state[SESSION]["_chosen"][name] for name in ("s_dk", "s_section")} == {16, "alternatives"}


@pytest.mark.parametrize(
    "idea, says",
    [
        # a sentence for every six characters
        ("{token}" * 280, "would become 8,400 characters with its facts; 4,000 are allowed"),
        ("{n:s} tokens", "asks for"),
    ],
)
def test_a_lecturers_text_that_cannot_be_filled_is_one_sentence(idea, says):
    lesson, facts = (
        lesson_file.read(OWN.replace("Look at {n} tokens.", idea)),
        Facts({"token": "x" * 30, "n": 3}),
    )
    with pytest.raises(Problem, match=says):
        lessons.fill_sentence(lesson.steps[0].idea, facts)


HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script>[a](javascript:alert(1))![b](//evil.example/x.png)"


def test_markup_in_a_lecturers_lesson_is_shown_as_it_stands(visit):
    kept = ("picture", "facts", "right", "link")
    lines = [
        re.sub('"[^"]+"', f'"{HOSTILE}"', line) if not line.startswith(kept) else line for line in OWN.splitlines()
    ]
    notes = [f'{key} = "{HOSTILE}"' for key in ("do", "say", "wrong")]
    link = {"l_notes": "true", "l_own": link_reading.pack(["\n".join(lines + notes)])}
    for kind in ("worksheet", "plan"):
        paper_of_it = visit("lessons", lesson="own", l_paper=kind, l_text=HOSTILE, **link)
        (sheet,) = [part.proto.body for part in paper_of_it.get("html") if "l-paper" in part.proto.body]
        assert HOSTILE in unescape(sheet)
        assert not re.search(r"<(img|script|a)\b", sheet)
    page = visit("lessons", lesson="own", **link)
    assert errors(page) == []
    answer(page, "1")
    shown = [
        *(
            str(part.value)
            for kind in ("markdown", "caption", "success", "info", "subheader")
            for part in page.get(kind)
        )
    ]
    shown += [button.label for button in page.button]
    found = [text for text in shown if "alert" in text]
    assert len(found) >= 6
    for text in found:
        assert HOSTILE in unescape(text)
        assert not re.search(r"<\w|\]\(|!\[", text), "neither an element nor a link nor a picture"
    assert not any(part.allow_html for part in page.markdown)


def test_the_word_that_is_exchanged_is_named_with_its_weight_before_and_after(visit):
    page = answer(visit("lessons", lesson="attention", step="6"), "all")
    header = shown_story(page)
    changed = header["changed"]
    new = changed["names"][changed["at"]]
    assert new != header["tokens"][changed["at"]]
    assert f"becomes “{new}”" in said(page)
    assert f"and gives {changed['weights'][changed['at']]:.0%}." in unescape(said(page))
    assert sum(changed["weights"]) == pytest.approx(1, abs=1e-4)


def test_the_bytes_of_each_scheme_stand_below_the_cache_that_grows(visit):
    steps = LESSONS["cache"].steps
    step = next(number for number, each in enumerate(steps, 1) if each.picture.kind == "growth")
    shown = said(visit("lessons", lesson="cache", step=str(step)))
    for name, kv_heads in (("MHA", 32), ("GQA", 8), ("MQA", 1)):  # of Llama-3.1-8B: layers, K and V, d_head, 16 bits
        assert f"{name} {units.binary(32 * 2 * kv_heads * 128 * 2 * cost_facts.TOKENS)}" in shown


def test_a_lesson_that_was_saved_with_pictures_of_before_opens(visit):
    old = OWN.replace('picture = "tokens"', 'picture = "tokens"\nset = { show = "vectors" }')
    page = visit("lessons", lesson="own", l_own=link_reading.pack([old]))
    assert errors(page) == []
    assert shown_story(page)["track"] == ["vectors"]
