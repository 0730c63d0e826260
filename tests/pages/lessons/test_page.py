"""The lessons as a visitor walks them: every step with several sentences, questions, links, arrows' buttons, files."""

import re
from html import unescape

import pytest
import torch

from attnviz.app.glossary_terms import TERMS
from attnviz.app.links import link_reading
from attnviz.app.links.choices import choices_of
from attnviz.app.mends.streamlit_adapter import SESSION
from attnviz.app.text import plain
from attnviz.base.message import Problem
from attnviz.canvas.shared.packing import unblob
from attnviz.models.loading import load
from attnviz.pages.lessons import choices as lesson_choices
from attnviz.pages.lessons import lessons
from attnviz.pages.lessons.maths.lesson_parts import Facts
from attnviz.pages.lessons.panels import all_lessons, own_lesson
from attnviz.serve import page_table  # noqa: F401
from tests.pages.conftest import canvases_on, drawn, said

LESSONS = all_lessons.LESSONS
ODD = "两只鸟看见了它 & <b>x</b> $y$ {z}"


def errors(page):
    return [str(part.value) for part in page.error]


def answer(page, id):
    return page.button(key=f"l-answer-{id}").click().run()


def test_lessons_of_four_to_seven_steps_stand_in_the_order_of_the_links_and_their_terms_and_ways_on_exist():
    assert tuple(LESSONS) == lesson_choices.IDS
    assert len(LESSONS) >= 9
    for lesson in LESSONS.values():
        assert 4 <= len(lesson.steps) <= 7
        for step in lesson.steps:
            assert set(step.terms) <= set(TERMS)
            known = {choice.name: choice for choice in choices_of(step.page)}
            for name, text in step.seen.items():
                known[name].read(text)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize("sentence", [None, ODD])
def test_every_step_can_be_read_and_answered(visit, lesson, sentence):
    link = {} if sentence is None else {"l_text": sentence}
    page = visit("lessons", lesson=lesson, l_notes="true", **link)
    steps = LESSONS[lesson].steps
    for at, step in enumerate(steps, 1):
        assert not page.exception
        assert errors(page) == [], step.title
        assert page.subheader[0].value == step.title
        assert f"Step {at} of {len(steps)}" in [bar.proto.text for bar in page.get("progress")]
        assert "For the teacher" in said(page)
        if step.question is not None:
            offered = [button.key for button in page.button if button.key.startswith("l-answer-")]
            assert len(offered) >= 2 or sentence is not None
            page.button(key=offered[0]).click().run()
            assert not page.exception
            assert errors(page) == [], step.title
            assert "You predicted: " in said(page)
            assert "Computed: —" not in said(page)
            assert "Lecturer" not in said(page), "the app's own answers are all computed"
        assert ("Now you know" in said(page)) == (at == len(steps))
        if at < len(steps):
            page.button(key="l-next").click().run()


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


def test_words_and_numbers_follow_the_sentence(visit):
    page = visit("lessons", lesson="attention", step="1", l_text="Two birds")
    assert "tokens, 2 of them, from “Two” to “birds”" in said(page)
    page.text_input(key="l_text").set_value("Two birds saw it").run()
    assert "tokens, 4 of them, from “Two” to “it”" in said(page)


def test_next_goes_on_to_the_next_lesson_and_previous_back(visit):
    last = len(LESSONS["attention"].steps)
    page = visit("lessons", lesson="attention", step=str(last))
    page.button(key="l-next").click().run()
    assert page.subheader[0].value == LESSONS["row"].steps[0].title
    page.button(key="l-previous").click().run()
    assert page.subheader[0].value == LESSONS["attention"].steps[last - 1].title
    assert page.button(key="l-previous").disabled is False
    assert "Short lessons, from what attention is" not in said(page), "later steps have its room"
    begun = visit("lessons")
    assert begun.button(key="l-previous").disabled
    assert "Short lessons, from what attention is" in said(begun)


def test_the_link_counts_steps_as_the_page_does(visit):
    page = visit("lessons")
    for lesson in LESSONS.values():
        for number in range(1, len(lesson.steps) + 1):
            chosen = page.session_state[SESSION]["_chosen"]
            place = f"Step {number} of {len(lesson.steps)}"
            assert (chosen.get("lesson", "attention"), chosen.get("step", 1)) == (lesson.id, number)
            assert place in [bar.proto.text for bar in page.get("progress")]
            if lesson.id not in ("attention", "row"):
                return
            page.button(key="l-next").click().run()


def test_smaller_numbers_are_announced_before_they_come():
    assert [step.facts.__name__ for step in LESSONS["attention"].steps] == [
        "tokens", "favourite", "row_sum", "smaller", "one_hot", "swapped"
    ]  # fmt: skip


def test_the_first_two_lessons_follow_one_word(visit):
    for lesson, step in (("attention", 2), ("attention", 4), ("attention", 5), ("row", 1), ("row", 2), ("row", 5)):
        page = visit("lessons", lesson=lesson, step=str(step))
        assert "“it”" in said(page), (lesson, step)
        if (lesson, step) != ("attention", 2):
            assert "“cross the street because it”" in said(page), (lesson, step)


def test_hiding_is_not_spoken_of_before_the_lesson_on_masks():
    for lesson in ("attention", "row", "scaling", "heads"):
        for step in LESSONS[lesson].steps:
            question = step.question
            asked = () if question is None else (question.asked, question.truth, *question.answers.values())
            for words in (step.title, step.idea, step.do, *asked):
                assert not re.search(r"\bmasks?\b|hid(e|den)", words), (lesson, step.title)


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_ends_with_what_is_known_and_a_door_onward(visit, lesson):
    last = len(LESSONS[lesson].steps)
    page = visit("lessons", lesson=lesson, step=str(last))
    if LESSONS[lesson].steps[last - 1].question is not None:
        assert "Now you know" not in said(page), "not before it is asked"
        page.button(key=next(each.key for each in page.button if each.key.startswith("l-answer-"))).click().run()
    assert "Now you know" in said(page)
    if LESSONS[lesson].doors:
        doors = [each.key for each in page.button if each.key.startswith("l-door-")]
        assert len(doors) == 3
        _words, opened, seen = LESSONS[lesson].doors[-1]
        page.button(key=f"l-door-{opened}").click().run()
        assert {name: str(page.session_state[SESSION]["_chosen"][name]) for name in seen} == dict(seen)
    else:
        page.button(key="l-onward").click().run()
        onward = lesson_choices.IDS[lesson_choices.IDS.index(lesson) + 1]
        assert page.subheader[0].value == LESSONS[onward].steps[0].title
    assert not page.exception


def test_the_last_lesson_predicts_something_that_can_be_known(visit):
    page = visit("lessons", lesson="model", step="4")
    assert "Rome" in [each.label for each in page.button if each.key.startswith("l-answer-")]
    rome = next(each.key for each in page.button if each.label == "Rome")
    page.button(key=rome).click().run()
    assert "Computed: Rome" in said(page)
    page = visit("lessons", lesson="model", step="4", l_text="Two birds saw it")
    assert page.text_input(key="l_text").value == "Two birds saw it", "a visitor's own sentence stays"


def test_what_to_try_comes_once_the_question_is_answered(visit):
    page = visit("lessons", lesson="attention", step="2")
    assert "Point at other rows" not in said(page), "there is no picture yet"
    page.button(key=next(each.key for each in page.button if each.key.startswith("l-answer-"))).click().run()
    assert "Point at other rows" in said(page)


def test_one_layer_s_heads_are_named_by_their_own_layer(visit):
    page = answer(visit("lessons", lesson="heads", step="3"), "few")
    sent = [unblob(bytes(each.proto.bytes))[0] for each in canvases_on(page)]
    assert [13] in [header["layers"] for header in sent if "layers" in header]


def test_the_published_numbers_of_the_cache_are_said(visit):
    page = answer(visit("lessons", lesson="cache", step="4"), "half")
    assert "MHA 4,096 MiB, GQA 1,024 MiB, MQA 128 MiB" in said(page)
    assert "Computed: one quarter" in said(page)


@pytest.mark.parametrize("step, number", [("2", r"= (\S+), its largest"), ("3", r"becomes (\S+)\.")])
@pytest.mark.parametrize("sentence", [lesson_choices.EXAMPLE, "the the the the", "Two birds saw it"])
def test_the_picture_begins_at_the_cell_that_the_words_speak_of(visit, step, number, sentence):
    page = visit("lessons", lesson="row", step=step, l_text=sentence)
    board, _ = drawn(page, "tensor_board")
    shown = board["boards"][board["part"]]["cells"][board["row"]][board["col"]]["v"]
    (told,) = re.findall(number, said(page))
    assert f"{float(shown.replace('−', '-')):.2f}".replace("-", "−") == told


@pytest.mark.parametrize("sentence", [lesson_choices.EXAMPLE, "cat", "word " * 40])
def test_the_film_writes_what_the_words_count(visit, sentence):
    page = visit("lessons", lesson="cache", l_text=sentence)
    film, _ = drawn(page, "step_player")
    tokens, written = len(film["labels"][: film["prompt"]]), len(film["labels"]) - film["prompt"]
    assert f"has tokens: {tokens}. To write {written} more" in said(page)
    assert f"{sum(range(tokens, tokens + written))} pass through the model" in said(page)
    assert "U+" not in str(film), "what it proposes can be read"


@pytest.mark.parametrize("step", ["2", "4", "5"])
def test_a_film_of_bars_plays_from_where_nothing_is_saturated(visit, step):
    film, _ = drawn(visit("lessons", lesson="scaling", step=step), "softmax_slider")
    assert (film["at"], film["d_k"][0]) == (film["d_k"][-1], 1), "at its end, so that it begins again"


def test_words_about_a_head_name_no_place_for_controls_that_are_elsewhere_when_it_is_presented():
    for lesson in LESSONS.values():
        for step in lesson.steps:
            assert "head" not in step.picture.kind or not re.search("above|below", step.do), step.title


def test_equal_tokens_are_spelled_alike_and_others_are_not(visit):
    page = visit("lessons", lesson="attention", l_text="the cat the dog the")
    table = next(str(part.value) for part in page.markdown if "Its vector" in str(part.value))
    lines = [[cell.strip() for cell in line.split("|")[2:6]] for line in table.splitlines()[2:]]
    vectors = {name: {tuple(numbers) for word, *numbers in lines if word == name} for name, *_ in lines}
    assert {len(each) for each in vectors.values()} == {1}
    assert len(vectors) == 4
    assert "after a blank" in said(page)
    assert "after a blank" not in said(visit("lessons", lesson="attention", l_text="Two birds"))


def test_all_answers_that_a_sentence_makes_right_are_accepted(visit):
    page = answer(visit("lessons", lesson="masks", step="2", l_text="cat"), "line")
    assert "Computed: 1, 1, one a row" in said(page)
    assert page.success


def test_an_empty_sentence_is_answered_in_a_sentence(visit):
    page = visit("lessons", l_text=" ")
    assert "type at least one word" in " ".join(errors(page))


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
link = "scaling?s_dk=16&s_section=gradient"
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
    assert {page.session_state[SESSION]["_chosen"][name] for name in ("s_dk", "s_section")} == {16, "gradient"}


def test_a_lecturers_lesson_with_a_mistake_says_its_line_and_the_page_goes_on(visit):
    wrong = OWN.replace("s_dk=16", "s_dk=wide")
    page = visit("lessons", lesson="own", l_own=link_reading.pack([wrong]))
    assert "Line 12: link: “wide” makes no sense as s_dk of scaling" in unescape(" ".join(errors(page)))
    assert page.subheader[0].value == LESSONS["attention"].steps[0].title


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
        own_lesson.read(OWN.replace("Look at {n} tokens.", idea)),
        Facts({"token": "x" * 30, "n": 3}),
    )
    with pytest.raises(Problem, match=says):
        lessons.filled(lesson, lesson.steps[0].idea, facts)


HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script>[a](javascript:alert(1))![b](//evil.example/x.png)"


def test_markup_in_a_lecturers_lesson_is_shown_as_it_stands(visit):
    kept = ("picture", "facts", "right", "link")
    lines = [
        re.sub('"[^"]+"', f'"{HOSTILE}"', line) if not line.startswith(kept) else line for line in OWN.splitlines()
    ]
    notes = [f'{key} = "{HOSTILE}"' for key in ("do", "say", "wrong")]
    page = visit("lessons", lesson="own", l_notes="true", l_own=link_reading.pack(["\n".join(lines + notes)]))
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


def test_the_vectors_shown_are_those_that_the_model_begins_with(visit):
    loaded = load("smollm2-135m")
    assert loaded.tokenizer is not None
    inputs = loaded.tokenizer("Two birds saw it", return_tensors="pt")
    with torch.no_grad():
        first = loaded.model(**inputs, output_hidden_states=True).hidden_states[0][0]
    page = visit("lessons", lesson="attention", step="1", l_text="Two birds saw it")
    table = next(part.value for part in page.markdown if "Its vector: 576 numbers" in str(part.value))
    shown = [[float(n) for n in re.findall(r"-?\d+\.\d{3}", line.replace("−", "-"))] for line in table.splitlines()[2:]]
    assert shown == [[round(float(n), 3) for n in row[:16]] for row in first]


def test_a_question_marks_the_token_that_it_is_about_and_what_is_hidden_from_it(visit):
    page = visit("lessons", lesson="attention", step="2")
    asked = next(str(part.value) for part in page.markdown if "-background[" in str(part.value))
    assert ":blue-background[**it**]" in asked
    assert asked.count(":orange-background[") == 8
    assert asked.endswith(f"was too tired {plain('.')}")
