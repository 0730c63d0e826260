"""The building page, driven through the app: every step, lesson and form of code, edits and links."""

from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz.app.links import link_reading
from attnviz.pages.build.maths.attention_by_hand import run
from attnviz.pages.build.maths.inputs import Config
from tests.pages.conftest import drawn, open_page, ran, sound, with_code


def opened(**link: str) -> AppTest:
    """Open the page from a link with these parameters."""
    return open_page("build", **link)


def header(app: AppTest) -> dict[str, Any]:
    """What the board was sent."""
    return drawn(app, "tensor_board")[0]


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


@pytest.mark.parametrize("step, position", [("project", "sinusoidal"), ("rotate", "rope"), ("bias", "alibi")])
def test_tensors_of_a_step_are_small_in_the_map_as_they_are_large_on_the_board(step: str, position: str) -> None:
    board = header(sound(opened(b_step=step, b_pos=position, **EVERYTHING)))
    assert board["step"] == step
    operations = {each["id"]: each["boards"] for each in board["map"]["steps"]}[step]
    for shown, tensors in zip(board["boards"], operations, strict=True):
        for sheet, number in zip(shown["sheets"], tensors, strict=True):
            small, fill = board["map"]["tensors"][number], np.array(sheet["fill"], float)
            as_large = np.array(small["fill"], float).reshape(small["rows"], small["cols"])
            np.testing.assert_array_equal(as_large.T if sheet["name"].endswith("ᵀ") else as_large, fill)
        result = shown["sheets"][-1]
        assert len(shown["cells"]) == len(result["rows"]) == len(result["text"])


def test_the_chosen_cell_head_and_sentence_come_from_the_link_and_the_code_shown_gives_their_numbers() -> None:
    place = link_reading.pack({"r": 2, "c": 1, "h": 1, "s": 1})
    app = opened(b_step="softmax", b_batch="2", b_at=place)
    board = header(app)
    steps = {step["id"]: step["boards"] for step in board["map"]["steps"]}
    assert list(steps)[:3] == ["embed", "project", "split"]
    assert steps["sum"][0][:2] == [steps["softmax"][0][-1], steps["split"][2][-1]], "what was made goes on"
    assert len(board["map"]["tensors"]) == len({number for each in steps.values() for one in each for number in one})
    assert (board["row"], board["col"]) == (2, 1)
    config = Config(batch=2)
    shown = [[number(t) for t in row] for row in board["boards"][0]["sheets"][-1]["text"]]
    np.testing.assert_allclose(shown, run(config).tensors["weights"][1, 1], atol=0.006)
    names, _printed = ran(with_code(app).code[-1].value)
    np.testing.assert_allclose(shown, names["weights"][1, 1].detach().numpy(), atol=0.006)
