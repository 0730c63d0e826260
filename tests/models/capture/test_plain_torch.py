"""Models that are not of transformers: each recorded layer against the weights that torch itself reports."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import attnviz as av
from attnviz.base.message import Problem

WIDTH, HEADS, LENGTH, BATCH = 24, 4, 7, 2


@pytest.fixture
def x() -> Tensor:
    return torch.randn(BATCH, LENGTH, WIDTH, generator=torch.Generator().manual_seed(0))


def reported(layer: nn.MultiheadAttention, query: Tensor, key: Tensor, **more: Any) -> Tensor:
    """The weights (B, H, Q, K) that nn.MultiheadAttention says it used."""
    with torch.no_grad():
        _, weights = layer(query, key, key, need_weights=True, average_attn_weights=False, **more)
    return weights


@pytest.mark.parametrize(
    "made",
    [
        {},
        {"kdim": 10, "vdim": 10},
        {"bias": False},
        {"add_bias_kv": True},
        {"add_zero_attn": True},
        {"batch_first": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("masked", [None, "bool", "float", "padding", "each head"])
def test_multihead_attention_as_torch_reports_it(x: Tensor, made: dict[str, Any], masked: str | None) -> None:
    layer = nn.MultiheadAttention(WIDTH, HEADS, **({"batch_first": True} | made)).eval()
    if layer.bias_k is not None:
        nn.init.normal_(layer.bias_k)
    key = torch.randn(BATCH, 5, made.get("kdim", WIDTH))
    query = x
    if not layer.batch_first:
        query, key = query.transpose(0, 1), key.transpose(0, 1)
    hide = torch.rand(LENGTH, 5) > 0.7
    hide[:, 0] = False
    more: dict[str, Any] = {
        None: {},
        "bool": {"attn_mask": hide},
        "float": {"attn_mask": torch.randn(LENGTH, 5).masked_fill(hide, -math.inf)},
        "padding": {"key_padding_mask": torch.tensor([[False] * 5, [False] * 3 + [True] * 2])},
        "each head": {"attn_mask": hide.expand(BATCH * HEADS, -1, -1)},
    }[masked]
    trace = av.capture(layer, query, key, key, **more)
    (recorded,) = trace.layers
    assert recorded.kind == "cross"
    torch.testing.assert_close(recorded.weights(), reported(layer, query, key, **more), atol=1e-6, rtol=1e-5)


def test_a_sequence_that_is_not_batched(x: Tensor) -> None:
    layer = nn.MultiheadAttention(WIDTH, HEADS).eval()
    (recorded,) = av.capture(layer, x[0], x[0], x[0]).layers
    assert recorded.kind == "self"
    torch.testing.assert_close(recorded.weights()[0], reported(layer, x[0], x[0]), atol=1e-6, rtol=1e-5)


class Fused(nn.Module):
    """Attention by torch's fused function, with `lead` axes before heads."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.qkv, self.proj, self.num_heads = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), HEADS
        self.options = options
        self.answer: Tensor | None = None

    def forward(self, x: Tensor, folded: bool = False) -> Tensor:
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(-2, -3) for t in self.qkv(x).chunk(3, -1))
        if folded:
            q, k, v = (t.flatten(0, 1) for t in (q, k, v))
        found = F.scaled_dot_product_attention(q, k, v, **self.options)
        if folded:
            found = found.unflatten(0, (-1, HEADS))
        self.answer = found.detach()
        return self.proj(found.transpose(-2, -3).flatten(-2))


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"is_causal": True},
        {"scale": 0.9},
        {"attn_mask": torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()},
        {"attn_mask": torch.randn(LENGTH, LENGTH, generator=torch.Generator().manual_seed(1))},
    ],
    ids=["none", "causal", "scale", "bool", "float"],
)
def test_fused_attention_gives_the_output_that_the_model_had(x: Tensor, options: dict[str, Any], folded: bool) -> None:
    model = nn.Sequential(Fused(**options), nn.Identity())
    (layer,) = av.capture(model[0], x, folded=folded).layers
    assert layer.v is not None
    assert model[0].answer is not None
    mask = options.get("attn_mask")
    decoder = options.get("is_causal") or (mask is not None and mask.dtype == torch.bool)
    assert (layer.n_heads, layer.stack) == (HEADS, "decoder" if decoder else "encoder")
    torch.testing.assert_close(layer.weights() @ layer.v, model[0].answer, atol=1e-5, rtol=1e-5)


def test_axes_before_batch_are_one_batch(x: Tensor) -> None:
    video = torch.randn(2, 3, LENGTH, WIDTH)
    model = Fused()
    (layer,) = av.capture(model, video).layers
    assert layer.weights().shape == (6, HEADS, LENGTH, LENGTH)
    assert layer.v is not None
    assert model.answer is not None
    torch.testing.assert_close((layer.weights() @ layer.v).unflatten(0, (2, 3)), model.answer, atol=1e-5, rtol=1e-5)


def test_a_whole_transformer_names_its_layers_and_is_as_fast_paths_would_compute_it(x: Tensor) -> None:
    model = nn.Transformer(WIDTH, HEADS, 2, 2, 32, batch_first=True).eval()
    causal = nn.Transformer.generate_square_subsequent_mask(LENGTH)
    trace = av.capture(model, x, x, tgt_mask=causal, logits="all")
    places = [(layer.name, layer.stack, layer.kind, layer.index) for layer in trace.layers]
    assert places == [
        ("encoder.layers.0.self_attn", "encoder", "self", 0),
        ("encoder.layers.1.self_attn", "encoder", "self", 1),
        ("decoder.layers.0.self_attn", "decoder", "self", 0),
        ("decoder.layers.0.multihead_attn", "decoder", "cross", 0),
        ("decoder.layers.1.self_attn", "decoder", "self", 1),
        ("decoder.layers.1.multihead_attn", "decoder", "cross", 1),
    ]
    with torch.no_grad():
        torch.testing.assert_close(trace.logits, model(x, x, tgt_mask=causal), atol=1e-5, rtol=1e-5)
        first = model.encoder.layers[0]
        torch.testing.assert_close(trace.layers[0].weights(), reported(first.self_attn, x, x), atol=1e-6, rtol=1e-5)
    assert not trace.layers[2].weights().triu(1).any()
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


class ByHand(nn.Module):
    """Attention as many tutorials write it, or by `attend` in the same place."""

    def __init__(self, ours: bool) -> None:
        super().__init__()
        self.c_attn, self.c_proj, self.ours = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), ours
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.c_attn(x).chunk(3, -1))
        seen = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        if self.ours:
            y = av.attend(q, k, v, seen).output
        else:
            scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            y = self.drop(F.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)) @ v
        return self.c_proj(y.transpose(1, 2).flatten(2))


def test_attention_by_hand_is_refused_with_its_place_and_attend_in_its_place_is_read(x: Tensor) -> None:
    hand = nn.Sequential(ByHand(ours=False), ByHand(ours=False)).eval()
    with pytest.raises(Problem, match=r"2 softmax calls.*\(in 0, 1\).*0 calls.*attnviz\.attend"):
        av.capture(hand, x)
    with pytest.raises(Problem, match=r"1 softmax calls.*1 calls"):
        av.capture(nn.Sequential(Fused(), ByHand(ours=False)).eval(), x)  # one among others
    ours = nn.Sequential(ByHand(ours=True), ByHand(ours=True)).eval()
    ours.load_state_dict(hand.state_dict())
    trace = av.capture(ours, x, logits="all")
    assert [layer.name for layer in trace.layers] == ["0", "1"]
    with torch.no_grad():
        torch.testing.assert_close(trace.logits, hand(x), atol=1e-5, rtol=1e-5)


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


def test_traced_models_and_models_without_attention_are_refused(x: Tensor) -> None:
    with pytest.raises(
        Problem, match=r"no attention was seen in Linear: 0 calls .* call attnviz.attend\(q, k, v, mask\)"
    ):
        av.capture(nn.Linear(WIDTH, WIDTH), x)
    traced = torch.jit.trace(Fused().eval(), x)
    with pytest.raises(Problem, match="TorchScript"):
        av.capture(traced, x)


def test_an_exported_graph_is_refused_also_as_a_part_and_one_that_calls_torchs_functions_is_read(x: Tensor) -> None:
    class Straight(nn.Module):
        """Without a loop or a kept tensor, which an export objects to."""

        def __init__(self) -> None:
            super().__init__()
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH)

        def forward(self, x: Tensor) -> Tensor:
            heads = self.qkv(x).unflatten(-1, (3, HEADS, -1)).transpose(1, 3)  # (B, H, 3, Q, D)
            return F.scaled_dot_product_attention(heads[:, :, 0], heads[:, :, 1], heads[:, :, 2]).flatten(2)

    model = Straight().eval()
    exported = torch.export.export(model, (x,)).module()
    with pytest.raises(Problem, match=r"exported graph.*give the model that it was made from"):
        av.capture(exported, x)
    with pytest.raises(Problem, match="1 is an exported graph"):
        av.capture(nn.Sequential(Fused(), exported), x)
    ours = av.capture(torch.fx.symbolic_trace(model), x)[0].weights()
    torch.testing.assert_close(ours, av.capture(model, x)[0].weights())


def test_gradients_reach_the_scores(x: Tensor) -> None:
    model = Fused()
    trace = av.capture(model, x, logits="all", grad=True)
    layer = trace.layers[0]
    assert trace.logits is not None
    assert layer.q is not None
    (ours,) = torch.autograd.grad(trace.logits.square().sum(), layer.q)
    q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2).detach() for t in model.qkv(x).chunk(3, -1))
    q.requires_grad_()
    again = model.proj((torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1) @ v).transpose(1, 2).flatten(2))
    (theirs,) = torch.autograd.grad(again.square().sum(), q)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def test_two_threads_record_apart(x: Tensor) -> None:
    from concurrent.futures import ThreadPoolExecutor

    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, HEADS, 32, batch_first=True), 3).eval()
    inputs = [x + number for number in range(8)]
    alone = [av.capture(model, each).layers[2].weights() for each in inputs]
    with ThreadPoolExecutor(4) as pool:
        traces = list(pool.map(lambda each: av.capture(model, each), inputs * 4))
    for trace, wanted in zip(traces, alone * 4, strict=True):
        assert [layer.name for layer in trace.layers] == [f"layers.{index}.self_attn" for index in range(3)]
        torch.testing.assert_close(trace.layers[2].weights(), wanted)
