"""The building page, driven through the app: every step, lesson and form of code, edits and links."""

import json
import re
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from attnviz.app.links import link_reading, link_state
from attnviz.canvas.shared.packing import unblob
from attnviz.pages.build.maths import generated_code
from attnviz.pages.build.maths.attention_by_hand import run
from attnviz.pages.build.maths.inputs import Config
from attnviz.pages.build.panels import weights
from tests.pages.conftest import canvases_on, open_page, ran, sound, table_of, with_code


def opened(**link: str) -> AppTest:
    """Open the page from a link with these parameters."""
    return open_page("build", **link)


def headers(app: AppTest) -> tuple[dict[str, Any], dict[str, Any]]:
    """The headers that the strip and the board were sent."""
    blobs = [element.proto.bytes for element in canvases_on(app)][:2]
    return unblob(blobs[0])[0], unblob(blobs[1])[0]


def number(text: str) -> float:
    return float(text.replace("−", "-").replace("∞", "inf"))


EVERYTHING = {
    "b_qknorm": "true",
    "b_mask": "causal",
    "b_dropout": "0.3",
    "b_train": "true",
    "b_packed": "true",
    "b_bias": "true",
    "b_batch": "2",
}
PLACES = {"rotate": "rope", "bias": "alibi"}
STEPS = [
    "embed", "position", "project", "split", "qk_norm", "rotate", "scores", "scale", "bias", "mask", "softmax",
    "dropout", "sum", "merge", "output", "residual", "norm", "ffn",
]  # fmt: skip


def test_it_opens_at_its_first_step_where_a_change_stays_and_its_link_opens() -> None:
    app = sound(opened())
    assert headers(app)[1]["step"] == "embed"
    above = {str(widget.key) for widget in (*app.text_input, *app.selectbox, *app.get("button_group"))}
    assert {"b_text", "b_kind", "b_h", "b_mask", "b_pos"} <= above
    app.selectbox(key="b_h").set_value("4").run()
    assert headers(app)[1]["step"] == "embed"
    assert app.query_params["b_step"] in ("embed", ["embed"])
    again = opened(b_h="4", b_step="embed")
    assert headers(again)[1]["step"] == "embed"


def test_a_link_from_before_that_names_no_step_still_means_the_scores_also_once_put_back_to_the_defaults() -> None:
    assert headers(opened(b_text="nothing but a sentence"))[1]["step"] == "scores"
    app = opened(b_h="4")
    app.selectbox(key="b_h").set_value("2").run()
    assert headers(app)[1]["step"] == "scores"
    assert app.query_params["b_step"] in ("scores", ["scores"])


def test_a_sentence_typed_on_another_page_opens_at_the_first_step_and_its_link_says_so() -> None:
    app = open_page()
    app.text_input(key="sentence").set_value("typed at the start").run()
    link = next(one.proto for one in app.get("page_link") if one.proto.page == "build")
    assert dict(parse_qsl(link.query_string)) == {"b_text": "typed at the start", "b_step": "embed"}
    assert headers(open_page("build", **dict(parse_qsl(link.query_string))))[1]["step"] == "embed"


@pytest.mark.parametrize("step", STEPS)
def test_every_step_can_be_opened_by_its_link(step: str) -> None:
    app = sound(opened(b_step=step, b_pos=PLACES.get(step, "sinusoidal"), **EVERYTHING))
    strip, board = headers(app)
    assert strip["current"] == board["step"] == step
    assert app.latex
    for shown in board["boards"]:
        result = shown["sheets"][-1]
        assert len(shown["cells"]) == len(result["rows"]) == len(result["text"])


def test_a_picture_beside_the_text_is_chosen_by_the_link_and_its_program_prints_the_page_s_numbers() -> None:
    app = sound(opened(b_ask="picture", b_digit="8", b_norms="text", b_factor="2", b_other="un deux", b_looker="2"))
    said = " ".join(each.value for each in app.markdown)
    assert "from the 16 patches" in said
    code = next(block.value for block in with_code(app).code if "k_picture" in block.value)
    names, _printed = ran(code)
    lengths = re.search(
        r"text brings a vector of length ([\d.]+), the picture one of ([\d.]+).*they are ([\d.]+)", said
    )
    assert lengths is not None
    assert float(lengths[3]) == pytest.approx(float(names["output"][2].norm()), abs=0.006)


def test_a_photograph_of_257_tokens_is_chosen_by_the_link_and_its_taker_is_named() -> None:
    app = sound(opened(b_ask="picture", b_picture="flower"))
    said = " ".join(str(each.value) for kind in (app.markdown, app.caption) for each in kind)
    assert "257 tokens of a photograph" in said
    assert "vultilion, CC BY 2.0" in said
    assert not [box for box in app.number_input if box.key == "b_digit"]


def test_vectors_that_count_on_are_the_four_by_three_of_a_course_and_its_program_s() -> None:
    app = sound(opened(b_vectors="counted", b_step="embed", b_text="the cat sat down"))
    shown = headers(app)[1]["boards"][0]["sheets"][-1]["text"]
    expected = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9], [1.0, 1.1, 1.2]]
    assert [[number(t) for t in row] for row in shown] == expected
    said = " ".join(each.value for each in app.markdown)
    assert "count on" in said
    assert "Word vectors: random" not in said
    names, _printed = ran(with_code(app).code[-1].value)
    np.testing.assert_allclose(names["x"].squeeze(), expected)
    assert not [box for box in app.slider if box.key == "b_m"], "their width is theirs"
    repeated = sound(opened(b_vectors="counted", b_step="embed", b_text="the cat the dog", b_h="1"))
    rows = headers(repeated)[1]["boards"][0]["sheets"][-1]["text"]
    assert rows[0] == rows[2]


def test_shapes_of_a_real_batch_are_chosen_by_the_link() -> None:
    app = sound(opened(b_ask="sizes", b_wrong="none", b_sizes="128x512x1024"))
    shown = table_of(app, -1).set_index("tensor")["shape"]
    assert shown["Q Kᵀ"] == "128 × 16 × 512 × 512"
    assert "the scores 2 GiB" in " ".join(each.value for each in app.caption)


def test_a_mistake_shows_torchs_error_beside_ours() -> None:
    app = opened(b_ask="sizes", b_wrong="groups")
    assert len(app.error) == 1
    call = next(block.value for block in app.code if "torch.randn" in block.value)
    said = [block.value for block in app.code]
    with pytest.raises(RuntimeError) as refusal:
        exec(call, {})
    assert str(refusal.value) in said


def test_the_code_shown_gives_the_numbers_shown() -> None:
    for link in (
        {},
        {"b_kind": "cross", "b_packed": "true"},
        {"b_pos": "rope", "b_mask": "window", "b_qknorm": "true"},
    ):
        app = opened(b_step="softmax", **link)
        names, _printed = ran(with_code(app).code[-1].value)
        shown = headers(app)[1]["boards"][0]["sheets"][-1]["text"]
        weights = names["weights"][0, 0].detach().numpy()
        np.testing.assert_allclose([[number(t) for t in row] for row in shown], weights, atol=0.006)


def test_torchs_own_calls_stand_there_as_they_are_tested() -> None:
    for which, code in (("sdpa", generated_code.scaled_dot_product), ("mha", generated_code.multihead)):
        assert with_code(opened(b_code=which)).code[-1].value == code(Config()).strip()


def test_the_page_says_why_multihead_attention_cannot_express_a_configuration() -> None:
    app = with_code(opened(b_code="mha", b_h="4", b_g="2", b_pos="rope"))
    said = " ".join(m.value for m in app.markdown)
    assert "here they share 2" in said
    assert "no place to rotate" in said


def test_an_edit_in_the_link_is_used_everywhere() -> None:
    edits = [["W_Q", 0, 0, 5.0], ["W_V", 1, 1, -2.0]]
    app = sound(opened(b_step="project", b_at=link_reading.pack({"e": edits})))
    board = headers(app)[1]["boards"]
    assert board[0]["sheets"][1]["text"][0][0] == "5.0"
    assert board[2]["sheets"][1]["text"][1][1] == "−2.0"
    assert any("typed in by you" in c.value for c in app.caption)
    assert "5.0" in with_code(app).code[-1].value


THREE = {"2": {"1": 3.0}}  # what else the same editor holds, which fits


@pytest.mark.parametrize(
    "told, edits",
    [
        ({"edited_rows": {"0": {"2": 7.123456}, "1": {"1": None}}}, [("W_Q", 0, 1, 7.1235), ("W_Q", 1, 0, 0.0)]),
        ({"edited_rows": {"0": {"1": float("nan")}, "1": {"1": 1e9}, "-1": {"1": 2.0}} | THREE}, [("W_Q", 2, 0, 3.0)]),
        ({"edited_rows": {"0": {"1": [5], "0": 1.0, "x": 1.0, "3": 10**400}} | THREE}, [("W_Q", 2, 0, 3.0)]),
        ({"edited_rows": {"0": [1.0]} | THREE}, [("W_Q", 2, 0, 3.0)]),
        ({"edited_rows": []}, []),
        ({}, []),
        (None, []),
    ],
)
def test_what_an_editor_sends_that_fits_no_cell_counts_as_not_typed(monkeypatch, told: Any, edits: list[Any]) -> None:
    kept: list[Any] = []
    monkeypatch.setattr(st, "session_state", {"key": told})
    monkeypatch.setattr(weights, "_session", weights._Session)
    monkeypatch.setattr(link_state, "put", lambda _choice, value: kept.append(value))
    weights._typed("key", "W_Q")
    assert kept == [tuple(edits)]


def test_the_chosen_cell_head_and_sentence_come_from_the_link() -> None:
    place = link_reading.pack({"r": 2, "c": 1, "h": 1, "s": 1})
    strip, board = headers(opened(b_step="softmax", b_batch="2", b_at=place))
    assert [step["id"] for step in strip["steps"]][:3] == ["embed", "project", "split"]
    assert (board["row"], board["col"]) == (2, 1)
    config = Config(batch=2)
    shown = [[number(t) for t in row] for row in board["boards"][0]["sheets"][-1]["text"]]
    np.testing.assert_allclose(shown, run(config).tensors["weights"][1, 1], atol=0.006)


@pytest.mark.parametrize(
    "broken",
    [
        "garbage",
        link_reading.pack({"e": [["W_Q", 0]]}),
        link_reading.pack({"h": -1}),
        link_reading.pack([1, 2]),
        link_reading.pack({"e": [["__class__", 0, 0, 1]]}),
        link_reading.pack({"e": [["W_Q", 0, 0, float("nan")]]}),
    ],
)
def test_a_damaged_link_gets_a_sentence_and_the_page_goes_on(broken: str) -> None:
    app = opened(b_at=broken)
    assert len(app.warning) == 1
    assert len(canvases_on(app)) >= 2


def test_a_link_to_a_place_outside_the_board_shows_the_nearest_one() -> None:
    app = sound(opened(b_at=link_reading.pack({"r": 99, "c": 99, "h": 99, "s": 99, "p": 99}), b_step="nowhere"))
    assert headers(app)[1]["step"] == "scores"


@pytest.mark.parametrize(
    "link, said",
    [
        ({"b_text": "", "b_ask": "qkv"}, "Words in the sentence&#58; 0; this page takes 1 to 10"),
        ({"b_ask": "picture", "b_other": " "}, "Words in the sentence&#58; 0; this page takes 1 to 10"),
        ({"b_kind": "cross", "b_other": " "}, "needs a second sentence"),
        ({"b_text": " ".join("abcdefghijkl")}, None),
        ({"b_text": "<b>x</b> **y** $z$ [a](b) 猫 🙂 مرحبا"}, None),
        ({"b_text": "x"}, None),
    ],
)
def test_any_sentence_is_used_or_refused_with_a_sentence(link: dict[str, str], said: str | None) -> None:
    app = opened(**link)
    assert [said in error.value for error in app.error] == ([True] if said else [])
    assert not any("<b>" in m.value for m in app.markdown)
    assert bool(app.info) == (link.get("b_text", "").count(" ") > 10), "twelve words: the first ten are used"


def test_a_text_above_its_limit_is_cut_and_the_page_says_so() -> None:
    app = opened()
    app.text_input(key="b_text").set_value("word " * 2000).run()
    said = "Of 10000 characters only the first 400 are used."
    assert said in [caption.value for caption in app.caption]
    assert app.text_input(key="b_text").value == app.query_params["b_text"] == "word " * 80
    app.text_input(key="b_text").set_value("short").run()
    assert said not in [caption.value for caption in app.caption]


def test_rows_of_a_trained_model_are_used_where_it_is_on_the_machine(minilm: Any) -> None:
    app = sound(opened(b_vectors=minilm.entry.id, b_step="embed"))
    assert any("trained" in m.value for m in app.markdown)


def test_the_sentence_is_kept_when_switching_to_cross_attention() -> None:
    app = opened(b_step="scores")
    app.text_input(key="b_text").set_value("one two three").run()
    app.get("button_group")[0].set_value("cross").run()
    sound(app)
    assert app.text_input(key="b_text").value == "one two three"
    assert headers(app)[1]["boards"][0]["sheets"][-1]["rows"] == ["one", "two", "three"]
    assert headers(app)[1]["boards"][0]["sheets"][-1]["cols"] == ["le", "chat", "noir"]


@pytest.mark.parametrize("link", [{"b_mask": "causal"}, {"b_scale": "false", "b_seed": "5"}])
def test_the_softmax_step_shows_who_is_looked_at_most_in_all(link):
    app = sound(opened(b_step="softmax", **link))
    assert app.get("plotly_chart")
    config = Config(mask=link.get("b_mask", "none"), scaled="b_scale" not in link, seed=int(link.get("b_seed", "4")))
    result = run(config)
    cols = result.tensors["weights"][0, 0].sum(0)
    most = result.k_words[0][int(cols.argmax())]
    words = " ".join(m.value for m in app.markdown)
    assert f"*{most}* gets {cols.max():.2f}, most of all" in words
    assert f"gets {cols.min():.2f}, least" in words


def test_after_a_change_of_order_each_picture_has_its_own_words() -> None:
    app = opened(b_ask="qkv", b_text="the cat sat", b_order="reversed")
    charts = [json.loads(each.proto.spec)["layout"] for each in app.get("plotly_chart")]
    [pictures] = [each for each in charts if "xaxis2" in each and each["xaxis"].get("ticktext")]
    assert pictures["xaxis"]["ticktext"] == ["the", "cat", "sat"]
    assert pictures["xaxis2"]["ticktext"] == pictures["yaxis2"]["ticktext"] == ["sat", "cat", "the"]
