"""A small config for any family of transformers: its own defaults, with sizes reduced by the fields' names.

The families' real configs describe models of up to hundreds of gigabytes; what matters here is that the
same code runs, with at least two layers, several heads and windows shorter than the sentence.
"""

import dataclasses
import re
from typing import Any

import transformers
from transformers import CONFIG_MAPPING, AutoConfig, PreTrainedConfig, PreTrainedModel
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

WIDTH, HEADS, VOCAB = 64, 4, 128

#: (pattern, size): the first pattern that matches the whole name of a field decides its size
_SIZES: list[tuple[str, int]] = [
    (r"(num_)?vocab(ulary)?_size|vocab_size_per_layer_input|.*_vocab_size|char_vocab_size|n_tokens", VOCAB),
    (r"first_k_dense_replace|decoder_sparse_step|num_nextn_predict_layers|n_shared_experts|num_shared_experts", 1),
    (r"n_group|topk_group|num_expert_groups?|moe_num_shared_experts", 1),
    (r".*(num_experts_per_tok|moe_topk|moe_k|num_experts_per_token|experts_top_k|top_k_experts)", 2),
    (r".*(n_routed_experts|num_experts|num_local_experts|moe_num_experts|n_experts)", 4),
    (r".*(num|n)_?\w*layers?|.*_layers|n_layers?|depth|num_blocks|num_hidden_blocks|.*_depth|num_layers_.*", 2),
    (r".*(key_value|kv)_heads|num_kv_heads|n_head_kv|multi_query_group_num", 2),
    (r".*(attention|attn)_heads|.*num_heads|n_heads?|encoder_heads|.*_n_heads|num_heads_.*", HEADS),
    (r"q_lora_rank|kv_lora_rank|o_lora_rank|.*lora_rank|.*lora_dim|low_rank_dim", 32),
    (r"qk_rope_head_dim|rotary_dim", 8),
    (r"qk_nope_head_dim|v_head_dim|.*head_dim|.*d_kv|kv_channels|attention_head_size|qk_head_dim", WIDTH // HEADS),
    (r"qk_head_dim", 24),
    (r"index_topk", 4),
    (r"index_head_dim", 16),
    (r".*sliding_window(_size)?|.*attention_window_size|attention_chunk_size|local_attention|window_size", 4),
    (
        r".*(intermediate|ffn|inner|mlp|feed_?forward|ffw)_?(hidden)?_?(size|dim)|d_ff|n_inner|.*ffn_embed_dim|d_inner",
        96,
    ),
    (r".*(hidden|embed|embedding|projection|model|emb|entity_emb|backbone)_(size|dim|dims)|d_model|n_embd|dim", WIDTH),
    (r"max_position_embeddings|max_sequence_length|n_positions|n_ctx|max_(source|target)_positions|seq_length", 64),
    (r"image_size|img_size|input_size", 32),
    (r"patch_size|.*_patch_size", 8),
    (r"num_queries|num_query_tokens|num_latents", 6),
]

#: values for fields that are None by default and must be set to build a model
_NEEDED = {"num_experts_per_tok": 2, "n_routed_experts": 4, "n_group": 1, "topk_group": 1, "vocab_size": VOCAB}


def classes(name: str) -> tuple[type[PreTrainedModel], type[PreTrainedConfig]]:
    """The base model and the config of a family."""
    found = MODEL_MAPPING_NAMES[name]
    return getattr(transformers, found if isinstance(found, str) else found[0]), CONFIG_MAPPING[name]


def changed(name: str, config_class: type[PreTrainedConfig]) -> dict[str, Any]:
    """Config fields for families that cannot be built with the general size rules alone."""
    plain_rope = {"rope_type": "default", "rope_theta": 10000.0}
    rope = plain_rope | {"mrope_section": [2, 3, 3]}
    partial = rope | {"mrope_section": [1, 1, 2], "partial_rotary_factor": 0.5}
    sections = dict.fromkeys(("qwen2_vl", "qwen2_5_vl", "glm_image", "glm_ocr", "glm4v", "glm46v", "glmga"), rope)
    sections["glm4v_moe"] = partial
    found = sections.get(name.removesuffix("_text"))
    if found is not None and name.endswith("_text"):
        return {"rope_parameters": found}
    if found is not None:
        text_class: Any = config_class.sub_configs["text_config"]
        return {"text_config": small_fields(text_class) | {"rope_parameters": found}}
    own: dict[str, dict[str, Any]] = {
        "bamba": {"attn_layer_indices": [1]},
        **{key: {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]} for key in ("deberta", "deberta-v2")},
        "cohere_compass_text": {"rope_parameters": dict.fromkeys(("full_attention", "sliding_attention"), plain_rope)},
        "dbrx": {
            "attn_config": {"kv_n_heads": 2, "clip_qkv": 8.0, "rope_theta": 10000.0},
            "ffn_config": {"hidden_size": WIDTH, "ffn_hidden_size": 96},
        },
        "dots1": {"n_shared_experts": 1, "num_experts_per_tok": 2},
        "gemma3n_text": {"num_kv_shared_layers": 0, "hidden_size_per_layer_input": 16},
        "lfm2_moe": {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
        "longcat_flash": {"head_dim": 8},
        "mamba2": {"num_heads": 8, "head_dim": 16},
        "nemotron": {"num_key_value_heads": 2},
        "nemotron_h": {"layers_block_type": ["mamba", "full_attention", "moe"], "n_groups": 1, "mamba_num_heads": 8},
        "qwen4_exp_text": {
            "layer_types": ["linear_attention", "indexed_attention"],
            "indexer_n_heads": 4,
            "indexer_kv_heads": 1,
            "indexer_head_dim": 16,
            "indexer_budget": 4,
            "indexer_compress_ratio": 2,
            "rope_parameters": partial,
        },
        "reformer": {"is_decoder": True, "axial_pos_embds": False},
        "xmod": {"default_language": "en_XX"},
        "zamba2": {"layers_block_type": ["linear_attention", "hybrid"]},
        "esm": {"pad_token_id": 1, "vocab_size": 128},
        "gpt_neo": {"attention_types": [[["global", "local"], 1]], "num_layers": 2},
        "granitemoehybrid": {"layer_types": ["mamba", "attention"]},
    }
    return own.get(name, {})


def tiny(config_class: type[PreTrainedConfig], layers: int = 2, **changes: Any) -> PreTrainedConfig:
    """A config of this class with small sizes, sub-configs included; `changes` override everything else."""
    return config_class(**(small_fields(config_class, layers) | changes))


def small_fields(config_class: type[PreTrainedConfig], layers: int = 2) -> dict[str, Any]:
    """The config class's arguments for a small model. Hybrids need more than 2 `layers` to include attention."""
    subs = {name: sub for name, spec in config_class.sub_configs_defaults.items() if (sub := _class_of(spec))}
    fields = {field.name: _default(field) for field in dataclasses.fields(config_class)}
    staged = any(isinstance(fields.get(name), list | tuple) for name in ("num_heads", "num_attention_heads", "depths"))
    given: dict[str, Any] = {}
    for name, default in fields.items():
        if name in subs:
            given[name] = small_fields(subs[name], layers)
            if config_class.sub_configs[name] is AutoConfig:
                given[name]["model_type"] = subs[name].model_type
        elif isinstance(default, int) and not isinstance(default, bool) and not staged:
            given.update(_smaller(name, default))
        elif default is None and name in _NEEDED:
            given[name] = _NEEDED[name]
    given |= {name: layers for name, size in given.items() if size == 2 and "layer" in name}
    if {"kv_lora_rank", "num_key_value_heads"} <= set(fields):
        given["num_key_value_heads"] = HEADS  # latent attention has keys and values for every head
    elif "head_dim" in fields and not staged:
        given.setdefault("head_dim", WIDTH // HEADS)
    return given


def _class_of(spec: Any) -> type[PreTrainedConfig] | None:
    """The class of a sub-config; the default one if several are possible."""
    if spec.config_class is not AutoConfig:
        found: type[PreTrainedConfig] = spec.config_class
        return found
    return CONFIG_MAPPING[spec.model_type] if spec.model_type else None


def _smaller(name: str, default: int) -> dict[str, int]:
    if re.fullmatch(r".*(token_id|token_index|_idx|token_ids)", name):
        return {name: default % (VOCAB - 1)} if default >= VOCAB else {}
    for pattern, size in _SIZES:
        if re.fullmatch(pattern, name):
            return {name: min(size, default)} if default > 0 else {}
    return {}


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default is not dataclasses.MISSING else None
