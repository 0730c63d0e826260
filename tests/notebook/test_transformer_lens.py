"""Beside TransformerLens on the same weights: what the twenty questions of tests/benchmarks/ leave out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import GPT2LMHeadModel

import attnviz as av
from tests.notebook import transformer_lens_side as theirs

pytestmark = pytest.mark.slow  # importing TransformerLens takes longer than all that is compared

TOLERANCE = 1e-6  #: of a score between 0 and 1
PATTERNS = {
    "previous_token": "previous_token_head",
    "duplicate_token": "duplicate_token_head",
    "induction": "induction_head",
}
LENGTH = 13


@pytest.fixture(scope="module")
def model() -> GPT2LMHeadModel:
    return theirs.gpt2()


@pytest.fixture(scope="module")
def lens(model: GPT2LMHeadModel, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return theirs.bridge(model, tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Sentences of few words, so that many come twice."""
    draw = torch.Generator().manual_seed(0)
    return [" ".join(f"t{n}" for n in torch.randint(1, 9, (LENGTH - 1,), generator=draw).tolist()) for _ in range(5)]


def detect() -> Callable[..., Tensor]:
    from transformer_lens.head_detector import detect_head

    found: Callable[..., Tensor] = detect_head
    return found


def test_both_run_the_same_weights(model: GPT2LMHeadModel, lens: Any, texts: list[str]) -> None:
    ids = lens.to_tokens(texts[0])
    with torch.no_grad():
        torch.testing.assert_close(lens(ids), model(ids).logits, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_scores_are_those_of_detect_head(model: GPT2LMHeadModel, lens: Any, texts: list[str], pattern: str) -> None:
    expected = detect()(lens, texts, PATTERNS[pattern])
    ids = [lens.to_tokens(text) for text in texts]
    table = av.find_heads(model, ids, (pattern,), rows="all")
    np.testing.assert_allclose(table.mean[pattern], expected, atol=TOLERANCE)
    assert float(expected.max() - expected.min()) > 0.02, "the heads differ, so that it matters which is which"


def test_a_pattern_of_ones_own_scores_as_a_tensor_does_there(
    model: GPT2LMHeadModel, lens: Any, texts: list[str]
) -> None:
    def two_back(ids: Tensor) -> Tensor:
        here = torch.arange(len(ids))
        return here[:, None] - 2 == here

    marks = two_back(torch.zeros(LENGTH)).float()
    expected = torch.stack([detect()(lens, text, marks) for text in texts]).mean(0)
    table = av.find_heads(model, [lens.to_tokens(text) for text in texts], (two_back,), rows="all")
    np.testing.assert_allclose(table.mean["two_back"], expected, atol=TOLERANCE)


def test_direct_logit_attribution_is_theirs(model: GPT2LMHeadModel, lens: Any, texts: list[str]) -> None:
    ids = lens.to_tokens(texts[0])
    _, cache = lens.run_with_cache(ids)
    results = cache.stack_head_results(layer=-1, pos_slice=-1)
    expected = cache.logit_attrs(results, tokens=7, incorrect_tokens=11, pos_slice=-1).detach()  # (layers * heads, 1)
    found = av.capture(model, input_ids=ids, residual=True).logit_attribution(token=7, versus=11)
    torch.testing.assert_close(found.heads.flatten(), expected.flatten(), atol=1e-4, rtol=1e-4)
    assert float(expected.abs().max()) > 0.1
    parts, labels = cache.decompose_resid(layer=-1, pos_slice=-1, return_labels=True)
    theirs = cache.logit_attrs(parts, tokens=7, incorrect_tokens=11, pos_slice=-1).detach().flatten()
    ours = {f"{layer}_mlp_out": value for layer, value in enumerate(found.mlps[0])}
    ours |= {"embed": found.embedding[0], "pos_embed": found.positions[0]}
    wanted = dict(zip(labels, theirs, strict=True))
    torch.testing.assert_close(ours, {name: wanted[name] for name in ours}, atol=1e-4, rtol=1e-4)


def hooked(lens: Any, ids: Tensor, layer: int, change: Callable[[Tensor], Tensor]) -> Tensor:
    """Their logits at the last position, with what one layer's heads hand on (B, T, H, D) changed by a hook."""

    def hook(z: Tensor, hook: Any) -> Tensor:
        return change(z.clone())

    with torch.no_grad():
        logits: Tensor = lens.run_with_hooks(ids, fwd_hooks=[(f"blocks.{layer}.attn.hook_z", hook)])[:, -1]
    return logits


def test_a_resample_ablation_is_theirs(model: GPT2LMHeadModel, lens: Any, texts: list[str]) -> None:
    layer, head = 0, 3
    ids = torch.cat([lens.to_tokens(text) for text in texts])

    def resampled(z: Tensor) -> Tensor:
        z[:, :, head] = z[:, :, head].roll(1, 0)
        return z

    expected = hooked(lens, ids, layer, resampled)
    swap = av.Edit(layer, head, output=lambda own: own.roll(1, 0))
    found = av.intervene(model, swap, input_ids=ids).logits
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    assert float((expected - hooked(lens, ids, layer, lambda z: z)).abs().max()) > 0.05


@pytest.mark.parametrize("through", ["q", "k", "v"])
def test_composition_scores_are_theirs(tmp_path: Path, through: str) -> None:
    """Of weights that take no mean from the stream: they do not count that the norm takes it off."""
    model = theirs.gpt2()
    with torch.no_grad():
        for block in model.transformer.h:
            block.attn.c_attn.weight -= block.attn.c_attn.weight.mean(0)
    expected = theirs.bridge(model, tmp_path).all_composition_scores(through.upper())
    found = getattr(av.composition_scores(model), through)
    torch.testing.assert_close(found.nan_to_num(0.0), expected.detach(), atol=1e-5, rtol=1e-4)
    assert float(found.nan_to_num(0.0).max()) > 0.1


def test_a_cache_of_theirs_is_shown(lens: Any, texts: list[str], tmp_path: Path) -> None:
    _, cache = lens.run_with_cache(lens.to_tokens(texts[0]))
    view = av.show(cache, layer=1, head=2)
    view.save(tmp_path / "head.csv")
    weights = cache["blocks.1.attn.hook_pattern"][0, 2]
    last = (tmp_path / "head.csv").read_text("utf-8").strip().splitlines()[-1]
    assert float(last.split(",")[-1]) == pytest.approx(float(weights[-1, -1]), abs=1e-4)
