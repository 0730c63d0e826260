"""Formulas against models that are really built and run, without memory, on the meta device."""

import dataclasses

import pytest
from transformers import AutoConfig

from attnviz.core.costs import DTYPES
from attnviz.models import meta
from attnviz.models.architecture import Architecture, config_from_text
from attnviz.models.families import FAMILIES
from attnviz.models.layers import Paged
from attnviz.models.published import find_preset, presets

WHISPER_POSITIONS = 1500

#: Unusual sizes, so that a rule that only fits the defaults shows. Given where the family's config has the field.
TINY = {
    "hidden_size": 96, "num_hidden_layers": 4, "num_attention_heads": 6, "num_key_value_heads": 3, "head_dim": 20,
    "intermediate_size": 64, "ffn_dim": 64, "vocab_size": 128, "sliding_window": 7, "d_model": 96, "num_layers": 2,
    "num_decoder_layers": 3, "num_heads": 6, "d_kv": 20, "d_ff": 64, "encoder_layers": 2, "decoder_layers": 3,
    "encoder_attention_heads": 6, "decoder_attention_heads": 8, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64,
    "max_position_embeddings": 64, "pad_token_id": 0, "num_local_experts": 4, "num_experts": 4,
    "moe_intermediate_size": 32, "kv_lora_rank": 24, "q_lora_rank": 36, "qk_nope_head_dim": 12, "qk_rope_head_dim": 8,
    "v_head_dim": 10, "n_routed_experts": 8, "n_group": 2, "topk_group": 1, "num_experts_per_tok": 2,
}  # fmt: skip
MORE = {
    "albert": {"embedding_size": 16},
    "apertus": {"layer_types": None},
    "cohere2": {"layer_types": None},
    "ctrl": {"n_embd": 96, "n_layer": 3, "n_head": 6, "dff": 64},
    "deepseek_v2": {"topk_method": "greedy"},
    "falcon": {"head_dim": None, "num_kv_heads": 6},
    "falcon_h1": {"mamba_d_ssm": 96, "mamba_n_heads": 12, "mamba_d_head": 8},
    "gpt_neo": {"num_layers": 2, "attention_types": [[["global", "local"], 1]]},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "mamba2": {"num_heads": 12, "head_dim": 16},
    "openai-gpt": {"n_embd": 96, "n_layer": 3, "n_head": 6},
    "phi3": {"head_dim": 16},
    "qwen3_next": {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8},
    "esm": {"vocab_size": 33, "mask_token_id": 32},
}
#: model types whose model does not run without numbers, and why; their parameters are checked all the same
DO_NOT_RUN = {
    "nllb-moe": "its router asks for the positions of non-zero numbers",
    "switch_transformers": "its encoder refuses to be asked for a cache",
}


def config_of(model_type, **more):
    """A small config of the family, in sizes that do not divide into each other's defaults."""
    fields = dataclasses.fields(type(AutoConfig.for_model(model_type)))
    known = {field.name for field in fields}
    given = {name: value for name, value in TINY.items() if name in known}
    attributes = {k: v for k, v in (given | MORE.get(model_type, {}) | more).items()}
    return AutoConfig.for_model(model_type, **attributes)


def check(arch, tokens=11, batch=2, encoder_tokens=5):
    """Formula and measurement of one architecture, to the last parameter and byte."""
    found = meta.measure(arch.config, tokens if caches(arch) else 0, batch=batch, encoder_tokens=encoder_tokens)
    assert found.attention_parameters == arch.attention_parameters()
    if arch.model_type in DO_NOT_RUN:
        assert found.failure is not None
        return
    assert found.failure is None, str(found.failure)
    held = arch.kv_cache_bytes(tokens, batch, convention="transformers", encoder_tokens=encoder_tokens)
    assert held == found.cache_bytes


def caches(arch):
    return any(layer.cached or layer.fixed for layer in arch.layers)


@pytest.mark.parametrize("model_type", sorted(FAMILIES))
def test_a_small_model_of_every_known_family_has_the_parameters_and_cache_the_formulas_say(model_type):
    arch = Architecture.from_config(config_of(model_type))
    assert not arch.measured
    assert not arch.unread
    check(arch, encoder_tokens=WHISPER_POSITIONS if model_type == "whisper" else 5)


@pytest.mark.parametrize("name", sorted(presets()))
def test_every_published_model_at_full_size_has_the_parameters_and_cache_the_formulas_say(name):
    check(Architecture.preset(name), encoder_tokens=WHISPER_POSITIONS if "whisper" in name else 5)
