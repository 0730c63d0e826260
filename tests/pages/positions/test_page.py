"""The positions page as a visitor uses it: tables that end, a real head, and a machine without a model."""

import pytest

from tests.pages.conftest import said, sound, with_code


def test_a_real_head_without_rope_for_whom_no_model_runs_twice(visit, smollm2, monkeypatch):
    link = {"p_section": "head", "p_text": "The cat sat on the mat"}
    page = sound(visit("positions", **link))
    assert ", layer 16, head 0. " in said(page)
    assert "Next token:" in said(page)
    page.segmented_control(key="p_change").set_value("base").run()
    page.segmented_control(key="p_where").set_value("all").run()
    assert not page.error
    assert "rotary.changed(1000.0)" in with_code(page).code[0].value
    assert "rotary.layers" in with_code(page).code[0].value
    monkeypatch.setattr("attnviz.analysis.changed_rope.intervene", lambda *_args, **_kwargs: pytest.fail("run again"))
    assert not visit("positions", **link).error


def test_a_video_s_sentences_count_what_is_left_over_and_say_whether_places_are_told_apart(visit):
    turned = said(sound(visit("positions", p_section="video", p_split="own")))
    assert "left over: 2 numbers, 3.1% of the head" in turned, "22, 21 and 21 of 64 hold 31 whole pairs"
    assert "wherever they are" not in turned
    assert "exactly its pixels, and get 6.3% each, wherever they are." in said(
        sound(visit("positions", p_section="video", p_v_turned="false"))
    )
