"""Tiny random models with a residual stream, of all the ways in which blocks join their parts to it."""

from functools import partial
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

from tests.models.tiny import VOCAB, config_with

#: Three layers of six heads, by the names that families have for it; granite's factors are its own.
SIZES = {
    "hidden_size": 48, "n_embd": 48, "dim": 48, "d_model": 48, "word_embed_proj_dim": 48, "head_dim": 8,
    "num_hidden_layers": 3, "n_layer": 3, "n_layers": 3, "num_attention_heads": 6, "n_head": 6, "n_heads": 6,
    "num_key_value_heads": 2, "intermediate_size": 64, "hidden_dim": 64, "ffn_dim": 64, "vocab_size": VOCAB,
    "initializer_range": 0.3, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "rotary_dim": 4, "residual_multiplier": 0.3, "embedding_multiplier": 2.0, "logits_scaling": 3.0,
}  # fmt: skip


def made(model_type: str, **more: Any) -> Any:
    """A language model of that type, whose norms and biases are not 1 and 0."""
    torch.manual_seed(3)
    auto = AutoModelForMaskedLM if "bert" in model_type else AutoModelForCausalLM
    model = auto.from_config(config_with(model_type, SIZES, **more)).eval()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.data += 0.2 * torch.randn_like(parameter)
    return model


_LLAMA = ("model.layers.{}.self_attn.o_proj", "model.layers.{}.mlp")
#: each family's type, the names of its output projections, and of what each block adds beside attention
NAMES = {
    "llama": ("llama", *_LLAMA),
    "qwen2": ("qwen2", *_LLAMA),
    "qwen3": ("qwen3", *_LLAMA),
    "gpt2": ("gpt2", "transformer.h.{}.attn.c_proj", "transformer.h.{}.mlp"),
    "opt": ("opt", "model.decoder.layers.{}.self_attn.out_proj", "model.decoder.layers.{}.fc2"),
    "neox": ("gpt_neox", "gpt_neox.layers.{}.attention.dense", "gpt_neox.layers.{}.mlp"),
    "phi": ("phi", "model.layers.{}.self_attn.dense", "model.layers.{}.mlp"),
    "cohere": ("cohere", *_LLAMA),
    "granite": ("granite", *_LLAMA),
    "gemma2": ("gemma2", *_LLAMA),
    "gemma3": ("gemma3_text", *_LLAMA),
    "olmo2": ("olmo2", *_LLAMA),
    "bert": ("bert", "bert.encoder.layer.{}.attention.output.dense", "bert.encoder.layer.{}.output.dense"),
    "roberta": ("roberta", "roberta.encoder.layer.{}.attention.output.dense", "roberta.encoder.layer.{}.output.dense"),
    "distilbert": (
        "distilbert", "distilbert.transformer.layer.{}.attention.out_lin", "distilbert.transformer.layer.{}.ffn"
    ),
}  # fmt: skip
_FALCON = ("transformer.h.{}.self_attention.dense", "transformer.h.{}.mlp.dense_4h_to_h")
#: families whose layers attend without asking transformers which function to use: written out, or by torch's own
BY_THEMSELVES = {
    "gptj": ("gptj", "transformer.h.{}.attn.out_proj", "transformer.h.{}.mlp"),
    "bloom": ("bloom", *_FALCON),
    "mpt": ("mpt", "transformer.blocks.{}.attn.out_proj", "transformer.blocks.{}.ffn.down_proj"),
    "falcon": ("falcon", *_FALCON),
    "falcon in groups": ("falcon", *_FALCON),
    "falcon with ALiBi, attention before the MLP": ("falcon", *_FALCON),
}
_FORMS: dict[str, dict[str, Any]] = {
    "falcon in groups": {"new_decoder_architecture": True, "num_kv_heads": 2},
    "falcon with ALiBi, attention before the MLP": {"alibi": True, "multi_query": False, "parallel_attn": False},
}
STREAMS = {
    family: (partial(made, kind, **_FORMS.get(family, {})), projection, mlp)
    for family, (kind, projection, mlp) in (NAMES | BY_THEMSELVES).items()
}
