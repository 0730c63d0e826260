"""Logits by heads in encoder-decoders, against torch hooks on their own modules; patching is in test_patching.py."""

from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

import attnviz as av
from tests.models.attribution.test_patching import t5
from tests.models.capture.test_logit_attribution import frozen
from tests.models.capture.test_score_attribution import other_family
from tests.models.tiny import tokens

METRIC = av.logit_diff(7, 11)
CLEAN, CORRUPTED = (
    {"input_ids": tokens(1, seed=seed), "decoder_input_ids": tokens(1, 5, seed=seed + 2)} for seed in (1, 9)
)
UNTIED = {"tie_word_embeddings": False, "feed_forward_proj": "gated-gelu"}


#: how to build a model, what its projections of heads are called, and where its decoder's MLPs answer
LOGITS: dict[str, tuple[Any, str, str]] = {
    "t5, tied": (t5, "o", "decoder.block.{}.layer.2.DenseReluDense"),
    "t5, gated and not tied": (partial(t5, **UNTIED), "o", "decoder.block.{}.layer.2.DenseReluDense"),
    "bart": (partial(other_family, "bart"), "out_proj", "model.decoder.layers.{}.fc2"),
    "marian": (partial(other_family, "marian"), "out_proj", "model.decoder.layers.{}.fc2"),
}


@pytest.mark.parametrize("family", LOGITS)
def test_a_logit_is_the_sum_of_what_heads_and_mlps_of_the_decoder_write(family: str) -> None:
    """Slopes of the logit, norms frozen, times what each head and MLP of the decoder hands on."""
    build, projection, mlp = LOGITS[family]
    model, leaves = build(), list[Tensor]()
    found = av.capture(model, **CLEAN, residual=True).logit_attribution(7)
    mlps = [mlp.format(n) for n in range(2)]
    names = [f"{name}.{projection}" for name in found.layers] + mlps

    def leaf(_m: Any, _x: Any, y: Tensor) -> Tensor:
        leaves.append(y.detach().requires_grad_())
        return leaves[-1]

    def leaf_before(_m: Any, x: tuple[Tensor, ...]) -> tuple[Tensor]:
        return (leaf(None, None, x[0]),)

    with ExitStack() as stack:
        for module in model.modules():
            if type(module).__name__.endswith("Norm"):
                stack.callback(module.register_forward_hook(frozen).remove)
        for name in names:
            module = model.get_submodule(name)
            hook = module.register_forward_hook(leaf) if name in mlps else module.register_forward_pre_hook(leaf_before)
            stack.callback(hook.remove)
        logit = model(**CLEAN).logits[0, -1, 7]
    slopes = torch.autograd.grad(logit, leaves)
    terms = [(slope * value)[0].detach() for slope, value in zip(slopes, leaves, strict=True)]
    for number, layer in enumerate((0, 1, 3, 4)):  # a block's MLP runs behind its two layers
        expected = terms[layer].unflatten(-1, (found.heads.shape[2], -1)).sum((0, 2))
        assert_close(found.heads[0, number], expected, rtol=1e-4, atol=1e-5)
        assert_close(found.sources(number, 1).sum(1), found.heads[:, number, 1], rtol=1e-4, atol=1e-5)
    assert_close(found.mlps[0, 1::2], torch.stack([terms[2].sum(), terms[5].sum()]), rtol=1e-4, atol=1e-5)
    assert not found.mlps[0, ::2].any()
    assert_close(found.total[0], logit.detach(), rtol=1e-4, atol=1e-5)


def test_prompts_of_other_lengths_and_tools_of_one_list_are_refused() -> None:
    model, shorter = t5(), CORRUPTED | {"decoder_input_ids": tokens(1, 4)}
    with pytest.raises(av.Problem, match="clean prompt has 5 tokens and the corrupted one 4"):
        av.attribution_patching(model, CLEAN, shorter, METRIC)
    for call in (
        lambda: av.find_circuit(model, CLEAN, CORRUPTED, METRIC),
        lambda: av.head_circuits(model, 0, 0),
        lambda: av.composition_scores(model),
    ):
        with pytest.raises(av.Problem, match="one list of self-attention layers"):
            call()
