"""The code on the page is run, for many configurations, and must print the page's numbers."""

import contextlib
import random
from typing import Any

import numpy as np
import pytest
import torch

from attnviz.base.message import Problem
from attnviz.pages.build.maths import generated_code
from attnviz.pages.build.maths.attention_by_hand import Result, run
from attnviz.pages.build.maths.inputs import Config
from tests.pages.conftest import ran


def some_configs(n: int) -> list[Result]:
    draw, found = random.Random(7), []
    while len(found) < n:
        h, d = draw.choice([1, 2, 3, 4]), draw.choice([2, 3, 4])
        config = Config(
            tokens=("a", "b", "c", "a", "d")[: draw.randint(1, 5)],
            kv_tokens=draw.choice([(), (), ("x", "y", "z")]),
            d_model=draw.choice([4, 6, h * d, h * d]),
            n_heads=h,
            n_kv_heads=draw.choice([h, h, 1]),
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
            seed=draw.randint(0, 9),
            edits=(("W_K", 0, 0, 1.25),),
        )
        with contextlib.suppress(Problem):
            found.append(run(config))
    return found


def test_the_module_and_torch_s_own_calls_give_the_numbers_of_the_page_or_a_reason_is_given() -> None:
    expressed = 0
    for result in some_configs(120):
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


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"n_kv_heads": 1}, "here they share 1"),
        ({"d_head": 4}, "2 heads of 4 do not make 4"),
        ({"d_value": 3}, "here they are 3 and 2"),
        ({"position": "rope"}, "no place to rotate"),
        ({"qk_norm": True}, "no place to normalise"),
        ({"scaled": False}, "always divides"),
    ],
)
def test_each_reason_names_what_stands_in_the_way(change: dict[str, Any], reason: str) -> None:
    assert any(reason in str(why) for why in generated_code.multihead_refusals(Config(**change)))
