"""Small decoders of several families, with a tokenizer, as the app holds a loaded model."""

from typing import Any

import pytest
import torch
from transformers import Gemma2ForCausalLM, GPT2LMHeadModel, LlamaForCausalLM, MistralForCausalLM, PreTrainedModel

from attnviz.core.costs import kv_bytes
from attnviz.models.capture import adopt
from attnviz.models.catalogue import LoadedModel, ModelEntry
from attnviz.pages.decoding.maths.decoders import CORE_LAYERS, CORE_LAYOUT, CoreDecoder, ModelDecoder
from tests.models.capture.tiny_config import tiny
from tests.models.tiny_tokenizers import byte_level

#: a family, or one with another setting: its model, and what is not as in other tiny models
FAMILIES: dict[str, tuple[Any, dict[str, Any]]] = {
    "llama": (LlamaForCausalLM, {}),
    "llama-mqa": (LlamaForCausalLM, {"num_key_value_heads": 1}),
    "gpt2": (GPT2LMHeadModel, {"bos_token_id": 0, "eos_token_id": 0}),
    "mistral": (MistralForCausalLM, {"sliding_window": 6}),  # shorter than the texts of the tests
    "gemma2": (Gemma2ForCausalLM, {"sliding_window": 6, "attn_logit_softcapping": 20.0}),
    "gemma2-wide": (Gemma2ForCausalLM, {"sliding_window": 64, "attn_logit_softcapping": 20.0}),
}


def made(family: str, vocab: int) -> PreTrainedModel:
    torch.manual_seed(0)
    kind, changes = FAMILIES[family]
    config = tiny(kind.config_class, **{"vocab_size": vocab, "initializer_range": 0.3, "pad_token_id": 0} | changes)
    model: PreTrainedModel = kind(config).eval()
    return model


def of_family(family: str) -> CoreDecoder | ModelDecoder:
    """A decoder by name: "core", or a family of transformers."""
    if family == "core":
        return CoreDecoder(0)
    tokenizer = byte_level()
    model = made(family, len(tokenizer))
    adopt(model)
    return ModelDecoder(LoadedModel(model, tokenizer, ModelEntry("tiny", "Tiny", None, "decoder"), "folder", "random"))


def core_cache_bytes(tokens: int) -> int:
    """Bytes of the small decoder's cache, by the core's own formula."""
    return CORE_LAYERS * kv_bytes(CORE_LAYOUT, tokens, dtype="float32")


def largest_difference(run) -> float:
    """The largest difference of a logit, with a cache and without, at any step of a run."""
    return max(step.difference for step in run.steps)


@pytest.fixture(params=["core", "llama", "gpt2", "mistral", "gemma2"])
def decoder(request):
    return of_family(request.param)


@pytest.fixture(params=["core", "llama", "gpt2"])
def without_window(request):
    """Decoders whose every layer keeps all tokens."""
    return of_family(request.param)
