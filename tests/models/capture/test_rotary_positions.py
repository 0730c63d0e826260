"""A model's rotation is found by trying, and undone exactly; models without one are told apart."""

import math
from functools import partial

import pytest
import torch

from attnviz.base.message import Problem
from attnviz.models.capture import Edit, capture, find_rotary, intervene, learned_positions
from tests.models.tiny_streams import made

YARN = {"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 16}
IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])


@pytest.mark.parametrize(
    "build, pairing, width",
    [
        (partial(made, "llama"), "half", 8),
        (partial(made, "llama", rope_parameters=YARN), "half", 8),
        (partial(made, "qwen3", head_dim=16), "half", 16),
        (partial(made, "gpt_neox", rope_parameters={"partial_rotary_factor": 0.5, "rope_theta": 1e4}), "half", 4),
        (partial(made, "cohere"), "interleaved", 8),
    ],
    ids=["llama", "yarn", "qk-norm", "part of the head", "interleaved"],
)
def test_without_rotation_queries_and_keys_are_those_of_the_first_position(build, pairing, width):
    model = build()
    rotary = find_rotary(model)
    assert (rotary.pairing, rotary.width, len(rotary.layers)) == (pairing, width, 3)
    after = intervene(model, Edit(change=rotary.change_base(None)), input_ids=IDS)
    # where all tokens stand at position 0 nothing is turned, only (with YaRN) lengthened
    same_place = capture(model, input_ids=IDS, position_ids=torch.zeros_like(IDS))
    for name in "qk":
        ours, theirs = (getattr(trace.layers[0], name) for trace in (after, same_place))
        torch.testing.assert_close(ours[..., :width] * rotary.length, theirs[..., :width], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(ours[..., width:], theirs[..., width:], atol=1e-5, rtol=1e-4)
    assert float((capture(model, input_ids=IDS).layers[0].q - after.layers[0].q).abs().max()) > 0.01


def test_learned_tables_layers_that_do_not_rotate_and_models_without_rotation_are_told_apart():
    gpt2 = made("gpt2", n_positions=24)
    assert learned_positions(made("bert", max_position_embeddings=64)).shape == (64, 48)
    assert learned_positions(gpt2).shape == (24, 48)
    assert learned_positions(made("opt")) is not None
    assert learned_positions(made("llama")) is None
    with pytest.raises(Problem, match="GPT2LMHeadModel does not rotate queries and keys"):
        find_rotary(gpt2)
    assert find_rotary(made("smollm3", no_rope_layers=[1, 0, 1])).layers == {0, 2}
    assert find_rotary(made("llama", rope_parameters=YARN)).length == pytest.approx(0.1 * math.log(4) + 1)
