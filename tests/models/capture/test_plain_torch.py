"""Models that are not of transformers: each recorded layer against the weights that torch itself reports."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import attnviz as av
from tests.models.capture.plain_models import BATCH, HEADS, LENGTH, WIDTH, Fused


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
        changed = av.intervene(model, av.ablate(0, -1, at=range(2, LENGTH)), x, logits="all").logits
        torch.testing.assert_close(changed, model[0].proj(out.transpose(1, 2).flatten(2)), atol=1e-5, rtol=1e-4)
