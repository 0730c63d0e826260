"""Small decoders of several families, with a tokenizer, as the app holds a loaded model."""

import pytest
import torch
from transformers import Gemma2Config, Gemma2ForCausalLM, GPT2Config, GPT2LMHeadModel, MistralConfig, MistralForCausalLM

from attnviz.core.costs import kv_bytes
from attnviz.models.capture import adopt
from attnviz.models.catalogue import LoadedModel, ModelEntry
from attnviz.pages.decoding.maths.decoders import CORE_LAYERS, CORE_LAYOUT, CoreDecoder, ModelDecoder
from tests.models.tiny import llama
from tests.models.tiny_tokenizers import byte_level

SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "initializer_range": 0.3,
}


def made(family: str, vocab: int):
    torch.manual_seed(0)
    if family.startswith("llama"):
        return llama(vocab_size=vocab, num_key_value_heads=1 if family == "llama-mqa" else 2)
    if family == "gpt2":
        return GPT2LMHeadModel(
            GPT2Config(vocab_size=vocab, n_embd=32, n_layer=2, n_head=4, initializer_range=0.3)
        ).eval()
    if family == "mistral":  # its window is shorter than the texts of the tests
        return MistralForCausalLM(MistralConfig(**SHAPE, vocab_size=vocab, sliding_window=6)).eval()
    window = 64 if family == "gemma2-wide" else 6
    config = Gemma2Config(**SHAPE, vocab_size=vocab, head_dim=8, sliding_window=window, attn_logit_softcapping=20.0)
    return Gemma2ForCausalLM(config).eval()


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
