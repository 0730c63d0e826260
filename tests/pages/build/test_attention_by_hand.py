"""Every tensor against a reference, every cell's arithmetic against the cell, and the code on the page, run."""

import contextlib
import math
import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

from attnviz.base.message import Problem
from attnviz.pages.build.maths import generated_code
from attnviz.pages.build.maths.attention_by_hand import Result, run, steps
from attnviz.pages.build.maths.boards import View, make_boards
from attnviz.pages.build.maths.cells import CellOrigin
from attnviz.pages.build.maths.inputs import Config
from attnviz.pages.build.panels import board_wording, numbers
from tests.pages.conftest import ran

WORDS = ("the", "cat", "sat", "down", "the")
PLAIN = Config(tokens=WORDS)


@cache
def some_results(n: int) -> list[Result]:
    draw, found = random.Random(7), []
    while len(found) < n:
        h, d = draw.choice([1, 2, 3, 4]), draw.choice([2, 3, 4])
        config = Config(
            tokens=("a", "b", "c", "a", "d")[: draw.randint(1, 5)],
            kv_tokens=draw.choice([(), (), ("x", "y", "z")]),
            d_model=draw.choice([4, 6, h * d, h * d]),
            n_heads=h,
            n_kv_heads=draw.choice([h, h, 1, 2 if h == 4 else 1]),
            d_head=d,
            d_value=draw.choice([d, d, d, 5]),
            batch=draw.choice([1, 2]),
            packed=draw.random() < 0.5,
            bias=draw.random() < 0.5,
            position=draw.choice(["none", "none", "sinusoidal", "rope", "alibi"]),
            qk_norm=draw.random() < 0.3,
            mask=draw.choice(["none", "causal", "window", "padding"]),
            scaled=draw.random() < 0.8,
            dropout=draw.choice([0, 0, 0.3]),
            training=draw.random() < 0.5,
            widening=draw.choice([1, 2, 4]),
            seed=draw.randint(0, 9),
            edits=(("W_K", 0, 0, 1.25),),
        )
        with contextlib.suppress(Problem):
            found.append(run(config))
    return found


def evaluated(cell: CellOrigin) -> float:
    """The value of a cell's arithmetic as it is written on the page."""
    signs = {"×": "*", "÷": "/", "−": "-", "−∞": "-inf", "√(": "sqrt(", "max(0,": "max(0,"}
    text = " ".join(signs.get(str(w), str(w)) if kind == "op" else f"({w!r})" for kind, w in cell[1])
    return float(
        eval(text, {"sqrt": math.sqrt, "exp": math.exp, "max": max, "cos": math.cos, "sin": math.sin, "inf": math.inf})
    )


@pytest.mark.parametrize("number", range(25))
def test_the_arithmetic_of_every_cell_of_every_step_gives_that_cell_from_the_numbers_lit(number: int) -> None:
    result = some_results(120)[number]
    config = result.config
    drops = config.dropout > 0 and config.training  # the module of the core draws other numbers
    assert result.difference is None if drops else result.difference < 1e-4
    draw = random.Random(0)
    for step in steps(config):
        for board in make_boards(View(result, config.batch - 1, config.n_heads - 1), step):
            values = board.result.values
            assert all(sheet.name for sheet in (board.result, *board.sheets)), "as in the formula"
            assert values.shape == (len(board.result.rows), len(board.result.cols))
            for r, c in np.ndindex(values.shape):
                assert evaluated(board.cell(r, c)) == pytest.approx(values[r, c], abs=2e-4), (step, r, c)
            areas, tokens = board.cell(draw.randrange(len(values)), draw.randrange(len(values[0])))
            lit = [(sheet, board.sheets[sheet].values[r0:r1, c0:c1]) for sheet, r0, r1, c0, c1 in areas]
            for kind, figure in tokens:
                if kind not in ("op", "n") and lit:
                    assert any(np.isclose(values, figure).any() for sheet, values in lit if sheet == int(kind))


def test_the_steps_to_the_ffn_are_those_of_torch_s_own_encoder_layer() -> None:
    config = replace(PLAIN, d_model=4, n_heads=2, d_head=2, bias=True)
    result = run(config)
    layer = nn.TransformerEncoderLayer(4, 2, config.d_ff, dropout=0.0, batch_first=True)
    w = {name: torch.tensor(values) for name, values in result.weights.items()}
    state = {
        "self_attn.in_proj_weight": torch.cat([w[f"W_{n}"] for n in "QKV"], 1).T,
        "self_attn.in_proj_bias": torch.cat([w[f"b_{n}"] for n in "QKV"]),
    }
    for name, part in (("self_attn.out_proj", "O"), ("linear1", "1"), ("linear2", "2")):
        state |= {f"{name}.weight": w[f"W_{part}"].T, f"{name}.bias": w[f"b_{part}"]}
    layer.load_state_dict(layer.state_dict() | state)
    seen: dict[str, torch.Tensor] = {}
    for name, tensor in (("norm1", "normed"), ("linear1", "hidden"), ("linear2", "fed")):
        layer.get_submodule(name).register_forward_hook(lambda _m, _x, made, key=tensor: seen.update({key: made}))
    layer(torch.tensor(result.tensors["E"]))
    for tensor, made in seen.items():
        np.testing.assert_allclose(made.detach().numpy(), result.tensors[tensor], atol=1e-4, err_msg=tensor)
    ffn = sum(p.numel() for name, p in layer.named_parameters() if name.startswith("linear"))
    every = sum(p.numel() for name, p in layer.named_parameters() if not name.startswith("norm"))
    told = board_wording.step_sentence("ffn", View(result), None)
    assert f"{ffn} of the layer's {every} parameters: **{ffn / every:.0%}**" in told
    assert f"{int((seen['hidden'] < 0).sum())} of {seen['hidden'].numel()}" in told


def test_an_edited_weight_outside_the_matrix_waits_until_it_fits() -> None:
    far = replace(PLAIN, edits=(("W_Q", 7, 7, 1.0),))
    np.testing.assert_array_equal(run(far).tensors["output"], run(PLAIN).tensors["output"])


def test_the_module_and_torch_s_own_calls_give_the_numbers_of_the_page_or_a_reason_is_given() -> None:
    expressed = 0
    for result in some_results(120):
        assert len(generated_code.module(result.config).splitlines()) <= 50, "about forty lines"
        module, _printed = ran(generated_code.program(result))
        for name, tensor in (("output", "fed"), ("weights", "weights")):
            got = module[name].detach().numpy()
            np.testing.assert_allclose(got, result.tensors[tensor], atol=5e-5, err_msg=str(result.config))
        multihead = generated_code.multihead(result.config)
        assert (multihead is None) == bool(generated_code.multihead_refusals(result.config))
        expressed += multihead is not None
        fused = generated_code.scaled_dot_product(result.config)
        if result.config.dropout and result.config.training:
            fused = ""  # this call draws other random numbers, so its dropout differs
        for code in filter(None, (fused, multihead)):
            names, _printed = ran(code, module)
            with torch.no_grad():
                layer = names["layer"]
                got = layer.w2(layer.w1(layer.norm(names["x"] + names["out"])).relu()).numpy()
            np.testing.assert_allclose(got, result.tensors["fed"], atol=5e-5, err_msg=str(result.config))
    assert expressed >= 10


@pytest.mark.parametrize("value, text", [(-1.25, "−1.25"), (-0.0, "0.0"), (0.70711, "0.7071"), (-np.inf, "−∞")])
def test_numbers_in_a_sum_have_four_digits_and_no_trailing_zeros(value: float, text: str) -> None:
    assert numbers.format_exact(value) == text


@pytest.mark.parametrize("step, sign", [("project", "="), ("softmax", "≈")])
def test_a_sum_of_rounded_numbers_is_marked_and_hidden_scores_are_left_out_of_it_and_uncoloured(step, sign) -> None:
    board = numbers.operation_board(make_boards(View(run(Config(mask="causal"))), step)[0], "")
    assert board.cells[1][0]["e"] == sign
    if step == "softmax":  # one power above the fraction line, two below it
        assert sum(token.startswith("^") for token in board.cells[1][0]["t"]) == 3
        assert (board.sheets[0].fill[0][1], board.sheets[0].text[0][1]) == (None, "−∞")
