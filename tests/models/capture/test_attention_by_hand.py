"""Attention that a model writes out itself: what is found of it, and what is refused."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import attnviz as av
from attnviz.base.message import Problem
from tests.models.capture.plain_models import BATCH, HEADS, LENGTH, WIDTH, Block, ByHand, Fused


def weights_of(model: ByHand, x: Tensor) -> Tensor:
    q, k, _ = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in model.c_attn(x).chunk(3, -1))
    seen = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~seen, -math.inf).softmax(-1).detach()


def test_attention_by_hand_is_exact_and_attend_in_its_place_too(x: Tensor) -> None:
    hand = nn.Sequential(ByHand(ours=False), ByHand(ours=False)).eval()
    trace = av.capture(hand, x, logits="all")
    assert [(layer.name, layer.index, layer.stack, layer.exact) for layer in trace] == [
        ("0", 0, "decoder", True),
        ("1", 1, "decoder", True),
    ]
    assert trace[0].scale == (WIDTH // HEADS) ** -0.5
    torch.testing.assert_close(trace[0].weights(), weights_of(hand[0], x))
    torch.testing.assert_close(trace[1].weights(), weights_of(hand[1], hand[0](x)))
    ours = nn.Sequential(ByHand(ours=True), ByHand(ours=True)).eval()
    ours.load_state_dict(hand.state_dict())
    exact = av.capture(ours, x, logits="all")
    torch.testing.assert_close(exact.logits, trace.logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(exact[1].weights(), trace[1].weights(), atol=1e-5, rtol=1e-5)


class Scored(nn.Module):
    """Attention whose scores are what `score` makes of q and k, whose weights `after` changes, and its product."""

    def __init__(self, score: Any, after: Any = lambda weights: weights, product: Any = torch.matmul) -> None:
        super().__init__()
        self.num_heads, self.score, self.after, self.product = HEADS, score, after, product
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.mix, self.weights = nn.Parameter(torch.eye(HEADS) + 0.1), torch.empty(0)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        self.weights = self.after(self.score(q, k, self).softmax(-1))
        made: Tensor = self.product(self.weights, v)
        return made


SLOPES = 2.0 ** -torch.arange(HEADS)[:, None, None]
AWAY = (torch.arange(LENGTH) - torch.arange(LENGTH)[:, None]).abs()


def in_place(q: Tensor, k: Tensor, _: Any) -> Tensor:
    scores = q @ k.mT
    scores /= 3.0
    scores[..., 0, 2:] = -math.inf
    scores += -AWAY
    return scores


@pytest.mark.parametrize(
    "score, scale, bias",
    [
        (lambda q, k, m: q / 2 @ k.mT, 1.0, None),
        (lambda q, k, m: torch.einsum("bhqd,bhkd->bhqk", q, k) * 0.7 - SLOPES * AWAY, 0.7, -SLOPES * AWAY),
        (lambda q, k, m: torch.einsum("bkhd,bqhd->bhqk", k.transpose(1, 2), q.transpose(1, 2)), 1.0, None),
        (in_place, 1 / 3, -AWAY * 1.0),
        (lambda q, k, m: (q.flatten(0, 1) @ k.flatten(0, 1).mT).view(BATCH, HEADS, LENGTH, LENGTH) + 1, 1.0, 1.0),
    ],
)
def test_scale_and_bias_are_found_however_scores_are_written(score: Any, scale: float, bias: Any, x: Tensor) -> None:
    torch.manual_seed(0)
    model = Scored(score)
    (layer,) = av.capture(model, x)
    assert layer.exact
    assert layer.scale == pytest.approx(scale, abs=1e-6)
    torch.testing.assert_close(layer.weights(), model.weights)
    assert (layer.bias is None) == (bias is None)
    if bias is not None:
        found, expected = torch.broadcast_tensors(layer.bias, torch.as_tensor(bias))
        seen = layer.mask.expand(found.shape)
        torch.testing.assert_close(found[seen], expected[seen])


@pytest.mark.parametrize(
    "score, after",
    [
        (lambda q, k, m: 5 * (q @ k.mT / 5).tanh(), lambda w: w),
        (lambda q, k, m: q @ k.mT + q @ torch.ones(WIDTH // HEADS, LENGTH), lambda w: w),
        (lambda q, k, m: q @ k.mT + (q @ k.mT).roll(1, -1), lambda w: w),
        (lambda q, k, m: torch.einsum("bhqk,hg->bgqk", q @ k.mT, m.mix), lambda w: w),
        (lambda q, k, m: q @ k.mT, lambda w: w / 2),
        (lambda q, k, m: q @ k.mT, lambda w: w.flip(1)),
    ],
    ids=["soft-cap", "a bias of the query", "two products", "mixed heads", "halved weights", "swapped heads"],
)
def test_what_is_no_softmax_of_scaled_products_gives_its_weights_only(score: Any, after: Any, x: Tensor) -> None:
    torch.manual_seed(0)
    model = Scored(score, after)
    (layer,) = av.capture(model, x)
    assert not layer.exact
    torch.testing.assert_close(layer.weights(), model.weights)
    with pytest.raises(Problem, match="gives its weights only and cannot be changed"):
        av.intervene(model, av.ablate(0, 0), x)


@pytest.mark.parametrize(
    "product",
    [
        lambda a, v: torch.einsum("b h q k, b h k d -> b h q d", a, v),
        lambda a, v: torch.einsum("bhkd,bhqk->bqhd", v, a),
        lambda a, v: v.mT @ a.transpose(-2, -1),
        lambda a, v: a.permute(0, 2, 3, 1).clone().permute(0, 3, 1, 2) @ v,
        lambda a, v: torch.bmm(a.flatten(0, 1), v.flatten(0, 1)),
        lambda a, v: F.dropout(a, 0.5, training=False).__matmul__(v),
    ],
)
def test_the_weights_are_found_however_the_product_is_written(product: Any, x: Tensor) -> None:
    model = Scored(lambda q, k, m: q @ k.mT, product=product)
    (layer,) = av.capture(model, x)
    torch.testing.assert_close(layer.weights(), model.weights)


def test_a_softmax_over_experts_or_classes_is_no_attention(x: Tensor) -> None:
    class Routed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention, self.router, self.out = Fused(), nn.Linear(WIDTH, 3), nn.Linear(WIDTH, 5)

        def forward(self, x: Tensor) -> Tensor:
            x = self.attention(x)
            chosen = self.router(x).softmax(-1).topk(1, -1)
            return self.out(x * chosen.values).softmax(-1)

    assert len(av.capture(Routed(), x).layers) == 1


def test_an_exported_graph_is_refused_also_as_a_part_and_one_that_calls_torchs_functions_is_read(x: Tensor) -> None:
    model = Block().eval()
    exported = torch.export.export(model, (x,)).module()
    with pytest.raises(Problem, match=r"exported graph.*give the model that it was made from"):
        av.capture(exported, x)
    with pytest.raises(Problem, match="1 is an exported graph"):
        av.capture(nn.Sequential(Fused(), exported), x)
    ours = av.capture(torch.fx.symbolic_trace(model), x)[0].weights()
    torch.testing.assert_close(ours, av.capture(model, x)[0].weights())
