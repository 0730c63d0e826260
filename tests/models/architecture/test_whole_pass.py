"""A whole model's FLOPs and activations against torch's own count, while the model runs on the meta device."""

import copy

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig

from attnviz.models.architecture import Architecture, size_full_pass
from attnviz.models.architecture.deployment import PassPart
from attnviz.models.architecture.meta_device import NoPadding, build

SMALL = {"hidden_size": 96, "num_hidden_layers": 3, "num_attention_heads": 6, "vocab_size": 128}
CONFIGS = {
    "llama": {**SMALL, "num_key_value_heads": 2, "intermediate_size": 64},
    "llama tied": {**SMALL, "num_key_value_heads": 2, "intermediate_size": 80, "tie_word_embeddings": True},
    "gpt2": {"n_embd": 96, "n_layer": 3, "n_head": 6, "vocab_size": 128, "n_positions": 64},
    "gpt_neox": {**SMALL, "intermediate_size": 64},
    "gemma2": {**SMALL, "num_key_value_heads": 2, "head_dim": 20, "intermediate_size": 64, "sliding_window": 4},
    "bert": {**SMALL, "intermediate_size": 64},
}
TOKENS, BATCH = 13, 2


def run(model: nn.Module) -> None:
    ids = torch.zeros(BATCH, TOKENS, dtype=torch.long, device="meta")
    with torch.no_grad(), NoPadding():
        model(input_ids=ids)


def of_torch(config, device="meta"):
    """FLOPs of a pass, and the numbers that all matrices write."""
    model = build(config, "eager")
    if hasattr(model, "pooler"):
        model.pooler = None
    written = []
    for module in model.modules():
        if isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D":
            module.register_forward_hook(lambda _m, _x, out: written.append(out.numel()))
    with FlopCounterMode(display=False) as counter:
        run(model)
    return counter.get_total_flops(), sum(written)


def numbers_written(arch, parts):
    """What matrices write by the formula, without scores, weights, the heads' outputs and the looked-up embedding."""
    heads = sum(layer.n_heads * layer.d_value for layer in arch.layers)
    return sum(parts[part].activations for part in ("projections", "mlp", "output")) - BATCH * TOKENS * heads


@pytest.mark.parametrize("name", CONFIGS)
def test_a_prompt_costs_in_all_parts_together_what_torch_counts(name):
    config = AutoConfig.for_model(name.partition(" ")[0], pad_token_id=0, **CONFIGS[name])
    arch = Architecture.from_config(config)
    parts = size_full_pass(arch, TOKENS, BATCH)
    flops, written = of_torch(config)
    assert sum(part.flops for part in parts.values()) == flops
    assert numbers_written(arch, parts) == written
    assert parts["embedding"] == PassPart(0, BATCH * TOKENS * 96)


@pytest.mark.parametrize("name", ["gpt2", "llama-3.1-8b", "smollm2-135m", "deepseek-v3"])
def test_published_models_cost_what_torch_counts(name):
    arch = Architecture.preset(name)
    config = copy.deepcopy(arch.config)
    if name == "deepseek-v3":  # all layers dense: which experts a token takes depends on numbers
        config.first_k_dense_replace = config.num_hidden_layers
    arch = Architecture.from_config(config)
    parts = size_full_pass(arch, TOKENS, BATCH)
    assert (sum(part.flops for part in parts.values()), numbers_written(arch, parts)) == of_torch(config)
