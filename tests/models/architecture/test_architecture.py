"""Formulas against real models, built and run on the meta device, where they take no memory."""

import re

import pytest

from attnviz.base.message import Problem
from attnviz.models.architecture import meta_device
from attnviz.models.architecture.architecture import Architecture
from attnviz.models.architecture.configs import FAMILIES, config_from_text
from attnviz.models.architecture.presets import HELD_TOKENS, all_presets
from tests.models.tiny import config_with

WHISPER_POSITIONS = 1500

#: Unusual sizes, so that a rule that is only right for the defaults fails. Used where a family's config has the field.
TINY = {
    "hidden_size": 96, "num_hidden_layers": 4, "num_attention_heads": 6, "num_key_value_heads": 3, "head_dim": 20,
    "intermediate_size": 64, "ffn_dim": 64, "vocab_size": 128, "sliding_window": 7, "d_model": 96, "num_layers": 2,
    "num_decoder_layers": 3, "num_heads": 6, "d_kv": 20, "d_ff": 64, "encoder_layers": 2, "decoder_layers": 3,
    "encoder_attention_heads": 6, "decoder_attention_heads": 8, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64,
    "max_position_embeddings": 64, "pad_token_id": 0, "num_local_experts": 4, "num_experts": 4,
    "moe_intermediate_size": 32, "kv_lora_rank": 24, "q_lora_rank": 36, "qk_nope_head_dim": 12, "qk_rope_head_dim": 8,
    "v_head_dim": 10, "n_routed_experts": 8, "n_group": 2, "topk_group": 1, "num_experts_per_tok": 2,
}  # fmt: skip
SHARING = {"layer_types": ["sliding_attention", "full_attention"] * 2, "num_kv_shared_layers": 1}
MORE = {
    "albert": {"embedding_size": 16},
    "apertus": {"layer_types": None},
    "cohere2": {"layer_types": None},
    "ctrl": {"n_embd": 96, "n_layer": 3, "n_head": 6, "dff": 64},
    "deepseek_v2": {"topk_method": "greedy"},
    "diffllama": {"num_key_value_heads": 2},
    "falcon": {"num_kv_heads": 6},
    "falcon_h1": {"mamba_d_ssm": 96, "mamba_n_heads": 12, "mamba_d_head": 8},
    "gemma3n_text": {
        **SHARING,
        "activation_sparsity_pattern": [0.0] * 4,
    },
    "gpt2": {"n_embd": 96, "n_layer": 3, "n_head": 6, "n_positions": 64},
    "gpt_neo": {"num_layers": 2, "attention_types": [[["global", "local"], 1]]},
    "helium": {"head_dim": 16},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "openai-gpt": {"n_embd": 96, "n_layer": 3, "n_head": 6},
    "qwen2_vl_text": {"hidden_size": 768},
    "qwen2_5_vl_text": {"hidden_size": 768},
    "qwen3_next": {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8},
    "esm": {"vocab_size": 33, "mask_token_id": 32},
}
#: model types whose model cannot run on the meta device, and why; their parameters are checked all the same
DO_NOT_RUN = {
    "switch_transformers": "its encoder refuses to be asked for a cache",
}


def config_of(model_type, **more):
    """A small config of the family, with unusual sizes."""
    return config_with(model_type, TINY, **(MORE.get(model_type, {}) | more))


def check(arch, tokens=11, batch=2, encoder_tokens=5):
    """Compare the formulas with the measurement of one architecture, to the last parameter and byte: its cache."""
    found = meta_device.measure_on_meta(
        arch.config, tokens if caches(arch) else 0, batch=batch, encoder_tokens=encoder_tokens
    )
    assert found.attention_parameters == arch.attention_parameters()
    if arch.model_type in DO_NOT_RUN:
        assert found.failure is not None
        return found.cache_bytes
    assert found.failure is None, str(found.failure)
    held = arch.kv_cache_bytes(tokens, batch, convention="transformers", encoder_tokens=encoder_tokens)
    assert held == found.cache_bytes
    return held


def caches(arch):
    return any(layer.cached or layer.fixed for layer in arch.layers)


@pytest.mark.slow
@pytest.mark.parametrize("model_type", sorted(FAMILIES))
def test_a_small_model_of_every_known_family_has_the_parameters_and_cache_of_the_formulas(model_type):
    arch = Architecture.from_config(config_of(model_type))
    assert not arch.measured
    assert not arch.unread
    check(arch, encoder_tokens=WHISPER_POSITIONS if model_type == "whisper" else 5)


#: one for each way to share, to cache and to look; all others are built in `make check-all`
QUICK = {"deepseek-v2", "gemma-3-1b", "gpt2", "minilm-l6", "smollm2-135m", "t5-small", "vit-base", "whisper-tiny"}
EVERY_PRESET = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in sorted(all_presets())]


@pytest.mark.parametrize("name", EVERY_PRESET)
def test_every_published_model_at_full_size_has_the_parameters_and_cache_of_the_formulas(name):
    arch = Architecture.preset(name)
    assert all_presets()[name].held == check(arch, HELD_TOKENS, 1, arch.encoder_tokens(HELD_TOKENS))


@pytest.mark.parametrize(
    "model_type",
    ["nemotron_h", pytest.param("mamba", marks=pytest.mark.slow)],
)
def test_a_family_without_rules_is_measured_instead_of_guessed(model_type):
    arch = Architecture.from_config({"model_type": model_type})
    assert arch.measured
    check(arch, tokens=40)


def test_a_pasted_config_is_read_and_its_unread_fields_are_listed():
    text = '{"model_type": "llama", "num_attention_heads": 8, "hidden_size": 64, "differential_heads": 3}'
    arch = Architecture.from_config(config_from_text(text))
    assert arch.unread == ("differential_heads",)
    assert arch.layers[0].n_heads == 8


@pytest.mark.parametrize(
    "text, words",
    [
        ('{"model_type": "llama", "num_attention_heads": 0}', "num_attention_heads=0 must be a whole number"),
        ('{"model_type": "llama", "num_key_value_heads": 5}', "n_heads=32 must be a multiple of n_kv_heads=5"),
        ('{"model_type": "gpt2", "n_layer": 1000000000}', "n_layer=1000000000 must be a whole number from 1 to 4096"),
        (
            '{"model_type": "gemma3", "text_config": {"num_hidden_layers": 1000000000}}',
            "text_config.num_hidden_layers=1000000000 must be a whole number from 1 to 4096",
        ),
        ("[" * 5000, "this is not JSON"),
        ('{"model_type": "nosuch"}', "model_type=nosuch is not a model type of transformers"),
        ('{"hidden_size": 3}', 'the config has no "model_type"'),
        ("[1]", "a config.json is one object in braces"),
        ("{", "this is not JSON"),
    ],
)
def test_bad_configs_are_refused_in_one_sentence(text, words):
    with pytest.raises(Problem, match=re.escape(words)):
        Architecture.from_config(config_from_text(text))
