"""Tiny random models with a residual stream, of all the ways in which blocks join their parts to it."""

from typing import Any

import torch
from torch import nn
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    BertConfig,
    CohereConfig,
    DistilBertConfig,
    Gemma2Config,
    Gemma3TextConfig,
    GPT2Config,
    GPTNeoXConfig,
    GraniteConfig,
    Olmo2Config,
    OPTConfig,
    PhiConfig,
    Qwen2Config,
    RobertaConfig,
)

from tests.models.tiny import VOCAB, llama

SMALL = {
    "hidden_size": 48,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "vocab_size": VOCAB,
    "initializer_range": 0.3,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
KV = {"num_key_value_heads": 2}


def made(config: Any) -> nn.Module:
    """The model, as a language model."""
    torch.manual_seed(3)
    auto = AutoModelForMaskedLM if "bert" in config.model_type else AutoModelForCausalLM
    model = auto.from_config(config).eval()
    for parameter in model.parameters():  # norms and biases that are not 1 and 0
        if parameter.dim() == 1:
            parameter.data += 0.2 * torch.randn_like(parameter)
    return model


_ROTARY = "model.layers.{}.self_attn.o_proj"
_DISTIL = {"dim": 48, "hidden_dim": 64, "n_layers": 3, "n_heads": 6, "vocab_size": VOCAB, "initializer_range": 0.3}
_OPT = {**SMALL, "ffn_dim": 64, "word_embed_proj_dim": 48}

#: a model of each family, the names of its output projections, and of what each block adds beside attention
STREAMS: dict[str, tuple[Any, str, str]] = {
    "llama": (lambda: llama(num_hidden_layers=3), _ROTARY, "model.layers.{}.mlp"),
    "qwen2": (lambda: made(Qwen2Config(**SMALL, **KV)), _ROTARY, "model.layers.{}.mlp"),
    "gpt2": (
        lambda: made(GPT2Config(vocab_size=VOCAB, n_embd=48, n_layer=3, n_head=6, initializer_range=0.3)),
        "transformer.h.{}.attn.c_proj",
        "transformer.h.{}.mlp",
    ),
    "opt": (
        lambda: made(OPTConfig(**_OPT)),
        "model.decoder.layers.{}.self_attn.out_proj",
        "model.decoder.layers.{}.fc2",
    ),
    "neox": (
        lambda: made(GPTNeoXConfig(**SMALL)),
        "gpt_neox.layers.{}.attention.dense",
        "gpt_neox.layers.{}.mlp",
    ),
    "phi": (lambda: made(PhiConfig(**SMALL)), "model.layers.{}.self_attn.dense", "model.layers.{}.mlp"),
    "cohere": (lambda: made(CohereConfig(**SMALL, **KV)), _ROTARY, "model.layers.{}.mlp"),
    "granite": (
        lambda: made(
            GraniteConfig(**SMALL, **KV, residual_multiplier=0.3, embedding_multiplier=2.0, logits_scaling=3.0)
        ),
        _ROTARY,
        "model.layers.{}.mlp",
    ),
    "gemma2": (lambda: made(Gemma2Config(**SMALL, **KV, head_dim=8)), _ROTARY, "model.layers.{}.mlp"),
    "gemma3": (lambda: made(Gemma3TextConfig(**SMALL, **KV, head_dim=8)), _ROTARY, "model.layers.{}.mlp"),
    "olmo2": (lambda: made(Olmo2Config(**SMALL, **KV)), _ROTARY, "model.layers.{}.mlp"),
    "bert": (
        lambda: made(BertConfig(**SMALL)),
        "bert.encoder.layer.{}.attention.output.dense",
        "bert.encoder.layer.{}.output.dense",
    ),
    "roberta": (
        lambda: made(RobertaConfig(**SMALL)),
        "roberta.encoder.layer.{}.attention.output.dense",
        "roberta.encoder.layer.{}.output.dense",
    ),
    "distilbert": (
        lambda: made(DistilBertConfig(**_DISTIL)),
        "distilbert.transformer.layer.{}.attention.out_lin",
        "distilbert.transformer.layer.{}.ffn",
    ),
}
