"""Tiny random models for tests, built from a config: nothing is downloaded."""

import dataclasses
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.testing import assert_close
from transformers import (
    AutoConfig,
    BertConfig,
    BertForMaskedLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
)

VOCAB = 100


def llama(seed: int = 0, **changes: object) -> LlamaForCausalLM:
    """2 layers, 6 query heads sharing 2 key/value heads; weights large enough to make attention uneven."""
    torch.manual_seed(seed)
    given = {
        "hidden_size": 48,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "vocab_size": VOCAB,
        "initializer_range": 0.3,
    }
    return LlamaForCausalLM(LlamaConfig(**(given | changes))).eval()


def bert(seed: int = 0) -> BertForMaskedLM:
    torch.manual_seed(seed)
    config = BertConfig(
        hidden_size=48,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=6,
        vocab_size=VOCAB,
        initializer_range=0.3,
    )
    return BertForMaskedLM(config).eval()


def config_with(model_type: str, sizes: dict[str, Any], **more: Any) -> Any:
    """A config of that type, with those of the sizes for which it has a field, and with `more`."""
    kind: Any = type(AutoConfig.for_model(model_type))
    known = {each.name for each in dataclasses.fields(kind) if not isinstance(getattr(kind, each.name, None), property)}
    return AutoConfig.for_model(model_type, **({name: size for name, size in sizes.items() if name in known} | more))


def tokens(batch: int = 2, length: int = 7, seed: int = 1) -> Tensor:
    return torch.randint(5, VOCAB, (batch, length), generator=torch.Generator().manual_seed(seed))


def t5(seed: int = 0, **changes: object) -> T5ForConditionalGeneration:
    """An encoder and a decoder of 2 layers with 4 heads, and position bias."""
    torch.manual_seed(seed)
    given = {"d_model": 24, "d_kv": 6, "d_ff": 32, "num_layers": 2, "num_heads": 4, "vocab_size": VOCAB}
    return T5ForConditionalGeneration(T5Config(**(given | {"decoder_start_token_id": 0} | changes))).eval()


def padded(side: str, batch: int = 2, length: int = 7, missing: int = 3) -> Tensor:
    """An attention mask (batch, length) whose first row has `missing` padding tokens on one side."""
    mask = torch.ones(batch, length, dtype=torch.long)
    if side == "left":
        mask[0, :missing] = 0
    elif side == "right":
        mask[0, -missing:] = 0
    return mask


def eager(model: PreTrainedModel, **inputs: object) -> Any:
    """The model's own output, with attention weights, on its eager path."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            return model(**inputs, output_attentions=True)
    finally:
        model.set_attn_implementation(before)


@contextmanager
def changed(model, names, change, answers=False, grads=False):
    """Inside the block modules are given, or answer, what `change` makes of their name and a copy of the numbers.

    By hooks of torch's, and without gradients unless they are asked for.
    """

    def hook(module, name):
        if answers:
            return module.register_forward_hook(lambda _m, _given, answer: change(name, answer.clone()))
        return module.register_forward_pre_hook(lambda _, given: (change(name, given[0].clone()), *given[1:]))

    handles = [hook(model.get_submodule(name), name) for name in names]
    try:
        with torch.set_grad_enabled(grads):
            yield
    finally:
        for handle in handles:
            handle.remove()


def given_to(model, name, change, answers=False):
    """The same of one module, for a change that needs no name."""
    return changed(model, [name], lambda _, given: change(given), answers)


def given_in(model, name, *args, **inputs):
    """What a module is given in a pass over these inputs."""
    seen = []
    with given_to(model, name, lambda given: seen.append(given) or given):
        model(*args, **inputs)
    return seen[0]


def zeros(columns, rows=slice(None)):
    """A change that puts zeros into some columns of some rows."""

    def change(given):
        given[..., rows, columns] = 0
        return given

    return change


def equal_weights(layers, expected, **more):
    """Every layer's weights are those of the reference, but in rows that see no key, where references say anything."""
    for layer, weights in zip(layers, expected, strict=True):
        ours = layer.weights()
        empty = (ours.sum(-1, keepdim=True) == 0).expand_as(ours)
        assert_close(ours.masked_fill(empty, 0), weights.masked_fill(empty, 0), **({"atol": 1e-5, "rtol": 0} | more))
