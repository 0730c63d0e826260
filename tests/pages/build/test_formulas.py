"""Symbols on the building page: a board is called what its formula calls it, and one symbol means one matrix."""

import numpy as np
import pytest

from attnviz.pages.build.maths import attention_by_hand, boards
from attnviz.pages.build.maths.inputs import Config
from attnviz.pages.build.panels.formulas import formula

CONFIGS = [
    Config(),
    Config(scaled=False),
    Config(position="sinusoidal", mask="causal"),
    Config(position="alibi"),
    Config(position="alibi", mask="causal", scaled=False),
    Config(position="rope", qk_norm=True, dropout=0.5, training=True),
]


def symbol(name: str) -> str:
    """A board's name as its formula writes it."""
    base, _, below = name.partition("_")
    return rf"{base}_{{\text{{{below}}}}}" if below else base


@pytest.mark.parametrize("config", CONFIGS)
def test_a_board_is_called_what_its_formula_calls_it_and_no_two_different_matrices_of_scores_have_one_name(config):
    result = attention_by_hand.run(config)
    for step in ("embed", "scores", "scale"):
        board = boards.boards(boards.View(result), step)[-1]
        assert symbol(board.result.name) in formula(step, result), step
    before = boards.boards(boards.View(result), "softmax")[-1].sheets[0].name
    assert before == "S" or f"s = {symbol(before)}" in formula("softmax", result)
    named: dict[str, np.ndarray] = {}
    for step in attention_by_hand.steps(config):
        for board in boards.boards(boards.View(result), step):
            for sheet in (*board.sheets, board.result):
                if sheet.role == "scores" and sheet.name != "bias":
                    first = named.setdefault(sheet.name, sheet.values)
                    np.testing.assert_array_equal(sheet.values, first, err_msg=f"{sheet.name} at {step}")
