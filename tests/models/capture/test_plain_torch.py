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


def weights_of(model: ByHand, x: Tensor) -> Tensor:
    q, k, _ = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in model.c_attn(x).chunk(3, -1))
    seen = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~seen, -math.inf).softmax(-1).detach()


def test_attention_by_hand_has_its_weights_and_attend_in_its_place_everything(x: Tensor) -> None:
    hand = nn.Sequential(ByHand(ours=False), ByHand(ours=False)).eval()
    trace = av.capture(hand, x, logits="all")
    assert [(layer.name, layer.index, layer.stack, layer.exact) for layer in trace] == [
        ("0", 0, "decoder", False),
        ("1", 1, "decoder", False),
    ]
    torch.testing.assert_close(trace[0].weights(), weights_of(hand[0], x))
    torch.testing.assert_close(trace[1].weights(), weights_of(hand[1], hand[0](x)))
    mixed = av.capture(nn.Sequential(Fused(), ByHand(ours=False)).eval(), x)
    assert [layer.exact for layer in mixed] == [True, False]
    with pytest.raises(Problem, match="gives its weights only and cannot be changed"):
        av.intervene(hand, av.silence(1, 0), x)
    ours = nn.Sequential(ByHand(ours=True), ByHand(ours=True)).eval()
    ours.load_state_dict(hand.state_dict())
    exact = av.capture(ours, x, logits="all")
    torch.testing.assert_close(exact.logits, trace.logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(exact[1].weights(), trace[1].weights(), atol=1e-5, rtol=1e-5)


class Product(nn.Module):
    """A softmax of what stands between what it is given, and `product` of that and of the values."""

    def __init__(self, product: Any, num_heads: int = HEADS) -> None:
        super().__init__()
        self.product, self.num_heads, self.weights = product, num_heads, torch.empty(0)

    def forward(self, x: Tensor) -> Tensor:
        v = x.unflatten(-1, (HEADS, -1)).transpose(1, 2)
        self.weights = (v @ v.mT).softmax(-1)
        made: Tensor = self.product(self.weights, v)
        return made


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
    model = Product(product)
    (layer,) = av.capture(model, x)
    torch.testing.assert_close(layer.weights(), model.weights)


def test_products_of_which_the_keys_cannot_be_told_are_refused(x: Tensor) -> None:
    for product in (lambda a, v: a.mT @ v, lambda a, v: torch.tensordot(a, v, ([3], [2])), lambda a, v: v.mT @ a):
        with pytest.raises(
            Problem, match=r"by hand in a form that is not known: 1 times .* \(in 1\).*0 layers were seen"
        ):
            av.capture(nn.Sequential(nn.Identity(), Product(product)), x)
    with pytest.raises(Problem, match="by hand in 5 axes, and it cannot be told which are its heads"):
        av.capture(Product(lambda a, v: a[:, :, None] @ v[:, :, None]), x)

    class Channels(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            v = x.unflatten(-1, (HEADS, -1)).permute(0, 2, 3, 1)  # (B, H, C / H, T)
            return (v @ v.mT).softmax(-1) @ v

    with pytest.raises(Problem, match="attends over channels, not over positions"):
        av.capture(nn.Sequential(Channels()), x)


class Flexible(nn.Module):
    """FlexAttention of 4 heads on 2, with functions of its own."""

    def __init__(self, **given: Any) -> None:
        super().__init__()
        self.q, self.kv, self.given = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH), given
        self.proj = nn.Linear(WIDTH, WIDTH)

    def heads(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q = self.q(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        k, v = (t.unflatten(-1, (HEADS // 2, -1)).transpose(1, 2) for t in self.kv(x).chunk(2, -1))
        return q, k, v

    def forward(self, x: Tensor) -> Tensor:
        from torch.nn.attention.flex_attention import flex_attention

        made: Any = flex_attention(*self.heads(x), enable_gqa=True, **self.given)
        return self.proj(made.transpose(1, 2).flatten(2))


def window(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
    return (k <= q) & (q - k <= 2 + h)


def slanted(score: Tensor, b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
    return torch.tanh(score) * 3 + (k - q) * 0.1 * (h + 1)


@pytest.mark.filterwarnings("ignore:flex_attention called without")
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scored", [False, True])
def test_flex_attention_is_read_and_edited_with_its_functions(masked: bool, scored: bool, x: Tensor) -> None:
    from torch.nn.attention.flex_attention import create_block_mask

    given: dict[str, Any] = {"scale": 0.3}
    if masked:
        given["block_mask"] = create_block_mask(window, None, HEADS, LENGTH, LENGTH, device="cpu")
    if scored:
        given["score_mod"] = slanted
    model = nn.Sequential(Flexible(**given)).eval()
    trace = av.capture(model, x, logits="all")
    q, k, v = (t.detach() for t in model[0].heads(x))
    scores = q @ k.repeat_interleave(2, 1).mT * 0.3
    place, head = torch.arange(LENGTH), torch.arange(HEADS)[:, None, None]
    if scored:
        scores = slanted(scores, place, head, place[:, None], place)
    if masked:
        scores = scores.masked_fill(~window(place, head, place[:, None], place), -math.inf)
    expected = scores.softmax(-1)
    torch.testing.assert_close(trace[0].weights(), expected, atol=1e-5, rtol=1e-4)
    assert (trace[0].n_kv_heads, trace[0].exact) == (2, True)
    with torch.no_grad():
        out = expected @ v.repeat_interleave(2, 1)
        torch.testing.assert_close(trace.logits, model[0].proj(out.transpose(1, 2).flatten(2)), atol=1e-5, rtol=1e-4)
        out[:, 3, 2:] = 0
        changed = av.intervene(model, av.silence(0, -1, at=range(2, LENGTH)), x, logits="all").logits
        torch.testing.assert_close(changed, model[0].proj(out.transpose(1, 2).flatten(2)), atol=1e-5, rtol=1e-4)


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
