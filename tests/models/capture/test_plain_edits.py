"""Edits of models that are not of transformers, against the same change made by hand to their own modules."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import attnviz as av
from attnviz.models.capture import Edit
from tests.models.capture.plain_models import BATCH, HEADS, LENGTH, WIDTH, ByHand, Fused

D = WIDTH // HEADS


def encoder() -> Any:
    torch.manual_seed(2)
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 32, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()


def two_of(build: Callable[[], nn.Module]) -> Any:
    torch.manual_seed(2)
    return nn.Sequential(build(), build()).eval()


class Keeping(nn.Module):
    """Keeps what its attention answered."""

    def __init__(self, attention: nn.Module, seen: list[Any], **options: Any) -> None:
        super().__init__()
        self.attention, self.seen, self.options = attention, seen, options

    def forward(self, x: Tensor) -> Tensor:
        self.seen.append(self.attention(x, x, x, **self.options))
        return self.seen[-1][0]


MODELS: dict[str, tuple[Callable[[], Any], str]] = {
    "nn.TransformerEncoder": (encoder, "layers.1.self_attn.out_proj"),
    "fused": (lambda: two_of(lambda: Fused(is_causal=True)), "1.proj"),
    "multi-head": (
        lambda: two_of(lambda: Keeping(nn.MultiheadAttention(WIDTH, HEADS, batch_first=True), [])),
        "1.attention.out_proj",
    ),
    "attend": (lambda: two_of(lambda: ByHand(ours=True)), "1.c_proj"),
    "by hand": (lambda: two_of(lambda: ByHand(ours=False)), "1.c_proj"),
}


@pytest.mark.parametrize("kind", MODELS)
def test_silencing_heads_equals_a_projection_that_does_not_see_them(x: Tensor, kind: str) -> None:
    build, projection = MODELS[kind]
    model = build()
    found = av.intervene(model, Edit(layers=1, heads=[1, 3], silence=True), x, logits="all").logits
    hidden = [*range(D, 2 * D), *range(3 * D, 4 * D)]
    blind = build()
    with torch.no_grad():
        blind.get_submodule(projection).weight[:, hidden] = 0
        expected = blind(x)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    same = av.intervene(model, Edit(factor=1.0), x, logits="all").logits  # an edit that changes nothing
    with torch.no_grad():
        assert float((model(x) - expected).abs().max()) > 0.01
        torch.testing.assert_close(av.capture(model, x, logits="all").logits, model(x), atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(same, model(x), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", MODELS)
def test_positions_that_are_not_named_keep_what_the_model_hands_on_to_the_last_bit(x: Tensor, kind: str) -> None:
    model = MODELS[kind][0]()
    own, changed = (
        each.logits
        for each in (
            av.capture(model, x, logits="all"),
            av.intervene(model, Edit(1, 2, silence=True, at=0), x, logits="all"),
        )
    )
    assert torch.equal(changed[:, 1:], own[:, 1:]), "the last layer: nothing reads the changed position after it"
    assert float((changed[:, 0] - own[:, 0]).abs().max()) > 1e-4


@pytest.mark.parametrize("made", [{}, {"batch_first": True}], ids=str)
@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("average", [True, False])
def test_a_scale_of_ones_own_in_multihead_attention(
    x: Tensor, made: dict[str, Any], batched: bool, average: bool
) -> None:
    """Answer and reported weights are those of the same layer with its queries multiplied."""
    torch.manual_seed(3)
    layer = nn.MultiheadAttention(WIDTH, HEADS, **made).eval()
    given = x if batched else x[0]
    hide = torch.ones(LENGTH if made or not batched else BATCH, LENGTH if made or not batched else BATCH).triu(1).bool()
    seen: list[Any] = []
    model = Keeping(layer, seen, attn_mask=hide, average_attn_weights=average)
    av.intervene(model, Edit(factor=3.0), given)
    with torch.no_grad():
        layer.in_proj_weight[:WIDTH] *= 3
        layer.in_proj_bias[:WIDTH] *= 3
        expected = layer(given, given, given, attn_mask=hide, average_attn_weights=average)
    for mine, theirs in zip(seen[0], expected, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-5)
