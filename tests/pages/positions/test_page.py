"""The positions page as a visitor uses it: every section, links, bad sentences, and no warning in the log."""

import logging

import pytest

from attnviz.app.cache import model_cache
from attnviz.pages.positions import choices
from attnviz.pages.positions.maths import position_scores, rotation, shuffled_words, video
from attnviz.pages.positions.panels import position_scores as scores_panel
from attnviz.pages.positions.panels import rotation as rotation_panel
from attnviz.pages.positions.panels import video as video_panel
from tests.pages.conftest import drawn, said, sound, with_code
from tests.pages.scaling.test_page import figures

NEEDS_NO_MODEL = [name for name in choices.SECTION.ids if name != "head"]
FIGURES = {"order": 3, "scores": 4, "circle": 0, "longer": 2, "video": 4, "norm": 5}


@pytest.mark.parametrize("section", NEEDS_NO_MODEL)
def test_every_section_computes_says_what_to_see_ends_with_a_program_and_warns_of_nothing(visit, section, caplog):
    with caplog.at_level(logging.WARNING):
        page = sound(visit("positions", p_section=section))
    assert figures(page) == FIGURES[section]
    assert page.latex or any("$" in line.value for line in page.markdown)
    assert len(with_code(page).code) == (2 if section == "video" else 1)
    told = [r.getMessage() for r in caplog.records if r.name.startswith(("streamlit", "attnviz"))]
    assert [message for message in told if "missing ScriptRunContext" not in message] == []


def test_only_the_chosen_section_computes(visit, monkeypatch, caplog):
    def never(*_args, **_kwargs):
        raise AssertionError("a section that nobody chose was computed")

    for panel, name in ((scores_panel, "scores"), (rotation_panel, "turned"), (video_panel, "split_of")):
        monkeypatch.setattr(panel, name, never)
    sound(visit("positions"))
    chosen = visit("positions", p_section="video", p_base="4321")  # a base that no other test has computed
    assert "a section that nobody chose was computed" in chosen.error[0].value
    caplog.clear()


def test_the_link_sets_every_number_and_choice(visit):
    link = {"p_text": "a b c d", "p_kind": "rope-half", "p_order": "reverse", "p_causal": "true", "p_seed": "5"}
    page = visit("positions", **link)
    result = shuffled_words.run(shuffled_words.Config(tuple("abcd"), "rope-half", "reverse", True, 5))
    assert f"changes by up to {result.change:.3g}, where outputs reach {result.largest:.3g}" in said(page)
    page = visit("positions", p_section="scores", p_encoding="alibi", p_heads="4", p_shown="3", p_n="20", p_shift="77")
    assert "Head 3 takes 0.003906 off its scores" in said(page)
    assert "177 positions further away, half the weight is left" in said(page)
    assert " to 0 over 20 × 20 pairs" in said(page), "a 0 has no sign"
    assert "Shift all positions by 77, and no score changes" in said(page)
    page = visit("positions", p_section="longer", p_method="linear", p_factor="8", p_trained="1000")
    assert "Within 8,000 positions no pair reaches an angle" in said(page)
    page = visit("positions", p_section="longer", p_factor="1")
    assert "Within 4,096 positions no pair reaches an angle that it did not have in training, and none turns" in (
        said(page)
    )
    assert "Beyond the trained length" not in said(page)


def test_the_circle_is_sent_every_pair_and_where_it_stands(visit):
    page = visit("positions", p_section="circle", p_pair="2", p_q="30", p_k="31", p_width="16", p_seed="3")
    expected = rotation.turn(rotation.PairConfig(16, 10_000.0, 2, 30, 31, 3))
    header, _payload = drawn(page)
    assert header["at"] == {"pair": 2, "q_at": 30, "k_at": 31}
    assert header["turns"] == pytest.approx(expected.turns.tolist())
    assert header["q"][2] == pytest.approx(expected.q[2].tolist())
    assert f"this pair’s part of q·k is {expected.product:.4g};".replace("-", "−") in said(page)
    assert drawn(visit("positions", p_section="circle", p_pair="40", p_width="16"))[0]["at"]["pair"] == 7, "its last"


def test_what_the_visitor_changes_goes_into_the_link(visit):
    page = visit("positions")
    assert "this sentence is a bag of words" in said(page)
    page.selectbox(key="p_kind").select("alibi").run()
    assert page.query_params["p_kind"] == "alibi"
    page.segmented_control(key="p_order").set_value("reverse").run()
    assert "ALiBi without a mask knows how far apart two words are" in said(page)
    page.selectbox(key="p_kind").select("none").run()
    assert "p_kind" not in page.query_params


@pytest.mark.parametrize(
    "text, words",
    [
        ("x" * 5000, "One word has no order: type at least two"),
        ("word " * 49, "The sentence has 49 words; this page takes at most 48"),
    ],
)
def test_a_bad_sentence_gets_a_sentence_and_the_section_can_still_be_changed(visit, text, words):
    page = visit("positions", p_text=text)
    assert words in said(page).replace("&#58;", ":").replace("&#46;", ".")
    page.segmented_control(key="p_section").set_value("circle").run()
    assert not page.error
    assert drawn(page)[0]["turns"]


@pytest.mark.parametrize("text", ["我们 昨天 🙂 去了 北京", "שלום לך עולם", "<b>bold</b> $x^2$ **no**"])
def test_any_writing_is_shown_as_typed(visit, text):
    page = sound(visit("positions", p_text=text, p_kind="learned"))
    assert figures(page) == 3
    assert "<b>" not in said(page)
    assert "**no**" not in said(page).replace("**The order", "")


@pytest.mark.parametrize(
    "link, words",
    [
        ({"p_section": "scores", "p_width": "63"}, "the rotated width 63 must be even"),
        ({"p_section": "circle", "p_width": "63"}, "the rotated width 63 must be even"),
        ({"p_section": "video", "p_split": "own", "p_own_time": "60"}, "60 + 21 + 21 = 102 numbers"),
        ({"p_section": "video", "p_dhead": "7"}, "must be even and at least 2"),
        ({"p_section": "norm", "p_normwidth": "33"}, "must be even, from 6 to 256"),
    ],
)
def test_numbers_that_make_no_sense_together_get_a_sentence(visit, link, words):
    page = visit("positions", **link)
    plain = said(page)
    for sign, code in {"+": "&#43;", "=": "&#61;", "_": "&#95;", ",": ","}.items():
        plain = plain.replace(code, sign)
    assert words in plain


@pytest.mark.slow
@pytest.mark.parametrize("kind", position_scores.ENCODINGS)
def test_every_encoding_has_its_pictures(visit, kind):
    page = sound(visit("positions", p_section="scores", p_encoding=kind, p_content="random", p_n="24", p_shift="3"))
    expected = {"alibi": 3, "t5": 2, "learned": 3}.get(kind, 4)
    assert figures(page) == expected


def test_a_table_that_ends_is_said_to_end(visit):
    page = visit("positions", p_section="scores", p_encoding="learned", p_shift="1000")
    assert "position 1063 has no learned vector: the table ends at 511" in said(page)


def test_a_trained_table_is_shown_where_there_is_one(visit, minilm):
    page = sound(visit("positions", p_section="scores", p_encoding="learned", p_table="trained", p_shift="100"))
    assert "a row of the table, 384 numbers" in said(page)


@pytest.mark.slow
@pytest.mark.parametrize("split", video.SPLITS)
def test_every_split_of_a_head_has_its_pictures(visit, split):
    page = sound(visit("positions", p_section="video", p_split=split))
    assert figures(page) == 4
    left = video.split(video.SplitConfig(split)).left
    assert (f"{left} of 64 numbers" in said(page)) == bool(left)


def test_a_real_head_without_rope_for_whom_no_model_runs_twice(visit, smollm2, monkeypatch):
    link = {"p_section": "head", "p_text": "The cat sat on the mat"}
    page = sound(visit("positions", **link))
    assert figures(page) == 4
    assert ", layer 16, head 0. " in said(page)
    assert "Next token:" in said(page)
    page.segmented_control(key="p_change").set_value("base").run()
    page.segmented_control(key="p_where").set_value("all").run()
    assert not page.error
    assert "rotary.changed(1000.0)" in with_code(page).code[0].value
    assert "rotary.layers" in with_code(page).code[0].value
    monkeypatch.setattr("attnviz.runs.changed_rope.intervene", lambda *_args, **_kwargs: pytest.fail("run again"))
    assert not visit("positions", **link).error
    assert model_cache.shared().reruns


@pytest.mark.slow
@pytest.mark.parametrize("text, words", [("   ", "The sentence is empty"), ("word " * 3000, "Trained: SmolLM2")])
def test_an_empty_and_a_very_long_sentence_in_front_of_the_model(visit, smollm2, text, words):
    page = visit("positions", p_section="head", p_text=text)
    assert words in said(page)


def test_without_a_model_the_section_says_where_to_get_one(visit, monkeypatch):
    from attnviz.app import sentence_input

    monkeypatch.setattr(sentence_input, "availabilities", list)
    page = visit("positions", p_section="head")
    assert "No trained model is on this machine yet" in said(page)


@pytest.mark.parametrize("order", ["reverse", "swap", "shuffle"])
@pytest.mark.parametrize("kind", ["none", "sinusoidal", "alibi"])
@pytest.mark.parametrize("causal", ["true", "false"])
@pytest.mark.parametrize("words", ["a a a a", "no no"])
def test_an_order_in_which_the_sentence_reads_the_same_changes_nothing(visit, order, kind, causal, words):
    page = sound(visit("positions", p_text=words, p_order=order, p_kind=kind, p_causal=causal))
    assert "In this order the sentence reads the same, so that nothing changes." in said(page)
    assert "The order got in" not in said(page)
    assert "Blind to this change" not in said(page)
    if kind == "none" and causal == "false":
        assert "looks at" in said(page)
        assert "looks most at" not in said(page)


def test_a_palindrome_backwards_reads_the_same_and_swapped_words_do_not(visit):
    assert "reads the same" in said(visit("positions", p_text="cat sees cat"))
    assert "reads the same" not in said(visit("positions", p_text="cat sees dog"))
    assert "Blind to this change" in said(visit("positions", p_text="cat sees dog"))
