"""How numbers are written on the board: signs, digits, powers, and when a sum is exact."""

import numpy as np
import pytest

from attnviz.pages.build.maths.attention_by_hand import run
from attnviz.pages.build.maths.boards import View, make_boards
from attnviz.pages.build.maths.inputs import Config
from attnviz.pages.build.panels import numbers


@pytest.mark.parametrize(
    "value, text",
    [
        (0.3, "0.3"),
        (-1.25, "−1.25"),
        (-0.0, "0.0"),
        (2.0, "2.0"),
        (1e-5, "0.00001"),
        (0.70711, "0.7071"),
        (-np.inf, "−∞"),
    ],
)
def test_numbers_in_a_sum_have_four_digits_and_no_trailing_zeros(value: float, text: str) -> None:
    assert numbers.format_exact(value) == text


def shown(step: str, config: Config | None = None) -> numbers.canvas.StripBoard:
    result = run(config or Config())
    return numbers.operation_board(make_boards(View(result), step)[0], "")


def test_hidden_scores_are_left_out_of_the_sum_and_have_no_colour() -> None:
    board = shown("softmax", Config(mask="causal"))
    # one power above the fraction line, two below it
    assert sum(token.startswith("^") for token in board.cells[1][0]["t"]) == 3
    assert board.sheets[0].fill[0][1] is None
    assert board.sheets[0].text[0][1] == "−∞"


def test_a_sum_of_rounded_numbers_is_marked_as_approximate() -> None:
    assert shown("project").cells[0][0]["e"] == "="
    assert shown("softmax").cells[0][0]["e"] == "≈"
