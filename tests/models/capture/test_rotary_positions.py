"""A model's rotation is found by trying, and undone exactly; models without one are told apart."""

import math

import pytest
import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    BertConfig,
    CohereConfig,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    OPTConfig,
    Qwen3Config,
    SmolLM3Config,
)

from attnviz.base.message import Problem
from attnviz.models.capture import Edit, capture, find_rotary, intervene, learned_positions

SMALL = {
    "vocab_size": 40,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
SHARED = SMALL | {"num_key_value_heads": 2, "pad_token_id": None}
IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])


def small(config):
    torch.manual_seed(0)
    return AutoModelForCausalLM.from_config(config).eval()


def yarn():
    settings = {"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 16}
    return LlamaConfig(**SHARED, rope_parameters=settings)


@pytest.mark.parametrize(
    "config, pairing, width",
    [
        (LlamaConfig(**SHARED), "half", 8),
        (yarn(), "half", 8),
        (Qwen3Config(**SHARED, head_dim=16), "half", 16),
        (GPTNeoXConfig(**SMALL, rotary_pct=0.5), "half", 4),
        (CohereConfig(**SHARED), "interleaved", 8),
    ],
    ids=["llama", "yarn", "qk-norm", "part of the head", "interleaved"],
)
def test_without_rotation_queries_and_keys_are_those_of_the_first_position(config, pairing, width):
    model = small(config)
    rotary = find_rotary(model)
    assert (rotary.pairing, rotary.width, len(rotary.layers)) == (pairing, width, 4)
    after = intervene(model, Edit(change=rotary.change_base(None)), input_ids=IDS)
    # where all tokens stand at position 0 nothing is turned, only (with YaRN) lengthened
    same_place = capture(model, input_ids=IDS, position_ids=torch.zeros_like(IDS))
    for name in "qk":
        ours, theirs = (getattr(trace.layers[0], name) for trace in (after, same_place))
        torch.testing.assert_close(ours[..., :width] * rotary.length, theirs[..., :width], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(ours[..., width:], theirs[..., width:], atol=1e-5, rtol=1e-4)
    assert float((capture(model, input_ids=IDS).layers[0].q - after.layers[0].q).abs().max()) > 0.01


def test_learned_tables_layers_that_do_not_rotate_and_models_without_rotation_are_told_apart():
    bert, llama = AutoModel.from_config(BertConfig(**SMALL)), small(LlamaConfig(**SHARED))
    gpt2 = small(GPT2Config(vocab_size=40, n_embd=32, n_layer=1, n_head=4, n_positions=24))
    opt = OPTConfig(
        vocab_size=40, hidden_size=32, ffn_dim=32, num_hidden_layers=1, num_attention_heads=4,
        max_position_embeddings=24, word_embed_proj_dim=32,
    )  # fmt: skip
    assert learned_positions(bert).shape == (64, 32)
    assert learned_positions(gpt2).shape == (24, 32)
    assert learned_positions(small(opt)) is not None
    assert learned_positions(llama) is None
    with pytest.raises(Problem, match="GPT2LMHeadModel does not rotate queries and keys"):
        find_rotary(gpt2)
    rotary = find_rotary(small(SmolLM3Config(**SHARED, no_rope_layers=[1, 0, 1, 0], bos_token_id=1, eos_token_id=2)))
    assert rotary.layers == {0, 2}
    assert find_rotary(small(yarn())).length == pytest.approx(0.1 * math.log(4) + 1)
