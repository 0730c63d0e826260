"""The compared layers as torch modules, (batch, n, d) to (batch, n, d), with parameters and FLOPs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from attnviz.core.attention import attend, linear_attention
from attnviz.pages.compare.maths import layer_costs
from attnviz.pages.compare.maths.layer_costs import KINDS, RECURRENT, Config


class ExplicitAttention(nn.Module):
    """nn.MultiheadAttention that returns its weights, and so builds them: heads x n x n numbers."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(d, heads, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x, need_weights=True, average_attn_weights=False)[0]


class FusedAttention(ExplicitAttention):
    """The same weights through scaled_dot_product_attention, which works block by block.

    In eval() without gradients torch takes another way, its "fast path", which builds the weights after all on a
    CPU: so this layer stays in train(), where without dropout it computes the same.
    """

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(x, x, x, need_weights=False)[0]


class ProjectedAttention(nn.Module):
    """Four projections as in attention, and between them `mix`: (B, H, n, D) of q, k and v -> (B, H, n, D)."""

    def __init__(self, d: int, heads: int, mix: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.heads, self.mix = heads, mix
        self.packed, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x: Tensor) -> Tensor:
        qkv = self.packed(x).chunk(3, -1)
        mixed = self.mix(*(projected.unflatten(-1, (self.heads, -1)).transpose(1, 2) for projected in qkv))
        return self.out(mixed.transpose(1, 2).flatten(2))


def windowed_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """Attention of each token to itself and the `window` - 1 before it. Zeros stand before the first."""
    window = min(window, q.shape[2])
    k, v = (nn.functional.pad(x, (0, 0, window - 1, 0)).unfold(2, window, 1) for x in (k, v))
    return attend(q.unsqueeze(-2), k.mT, v.mT).output.squeeze(-2)  # every token a head of one query


class Recurrence(nn.Module):
    """nn.RNN, nn.LSTM or nn.GRU: its output is the hidden state after each token."""

    def __init__(self, kind: Callable[..., nn.RNNBase], d: int) -> None:
        super().__init__()
        self.cell = kind(d, d, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.cell(x)[0]


class CausalConvolution(nn.Module):
    """nn.Conv1d over a token and the k - 1 before it, `dilation` apart."""

    def __init__(self, d: int, k: int, dilation: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv1d(d, d, k, dilation=dilation)
        self.before = (k - 1) * dilation

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(nn.functional.pad(x.mT, (self.before, 0))).mT


def make_layer(kind: str, d: int, *, heads: int = 1, k: int = 3, window: int = 2) -> nn.Module:
    """The layer with that id, with torch's own random weights."""
    makers: dict[str, Callable[[], nn.Module]] = {
        "attention": lambda: ExplicitAttention(d, heads),
        "explicit": lambda: ExplicitAttention(d, heads),
        "fused": lambda: FusedAttention(d, heads),
        "window": lambda: ProjectedAttention(d, heads, partial(windowed_attention, window=window)),
        "linear": lambda: ProjectedAttention(d, heads, linear_attention),
        "rnn": lambda: Recurrence(nn.RNN, d),
        "lstm": lambda: Recurrence(nn.LSTM, d),
        "gru": lambda: Recurrence(nn.GRU, d),
        "conv": lambda: CausalConvolution(d, k),
        "dilated": lambda: CausalConvolution(d, k, dilation=k),
    }
    return makers[kind]()


# Parameters do not grow with the sequence, unless a layer shares nothing between places.
#: layers that share nothing, or not everything, for comparison
UNSHARED = ("dense", "mixer", "positions")
DISPLAYED = ("attention", "lstm", "gru", "conv", *UNSHARED)


@dataclass(frozen=True)
class Result:
    """Parameters of each layer over n."""

    config: Config
    n: np.ndarray
    parameters: Mapping[str, np.ndarray]  #: by id, over n
    here: Mapping[str, int]


def run(config: Config) -> Result:
    """Count the parameters of each layer over n."""
    layer_costs.check(config)
    n = layer_costs.grid(replace(config, axis="n"))
    over_n = {
        kind: np.array([float(count_parameters(kind, replace(config, n=int(i)))) for i in n]) for kind in DISPLAYED
    }
    return Result(config, n, over_n, {kind: count_parameters(kind, config) for kind in DISPLAYED})


def count_parameters(kind: str, config: Config) -> int:
    """Exact parameters of a layer from width d to width d, biases included.

    dense      one matrix from all n d numbers to all n d numbers: each pair of places has weights of its own
    mixer      attention's n x n weights, but learned instead of computed (an MLP-Mixer's token mixing, one layer)
    positions  a learned vector for each place, as in GPT-2, beside attention
    """
    n, d = config.n, config.d
    attention = 4 * d * d + 4 * d
    gates = 2 * d * d + 2 * d  # two matrices and two biases for each gate
    return {
        "attention": attention,
        "window": attention,
        "linear": attention,
        "rnn": gates,
        "gru": 3 * gates,
        "lstm": 4 * gates,
        "conv": config.k * d * d + d,
        "dilated": config.k * d * d + d,
        "dense": (n * d) ** 2 + n * d,
        "mixer": n * n + n,
        "positions": attention + n * d,
    }[kind]


# The layers built without memory, and what torch counts while they run: FLOPs and parameters.
#: a recurrence is walked through step by step, in Python when torch counts, so it is counted over fewer tokens
MOST_STEPS = 32


@dataclass(frozen=True)
class CountedLayer:
    """FLOPs and parameters of one layer, by formula and by torch.

    A recurrence is counted over `tokens` tokens alone: it costs the same for each.
    """

    kind: str
    tokens: int
    by_formula: tuple[int, int]  #: FLOPs and parameters
    by_torch: tuple[int, int]

    @property
    def agrees(self) -> bool:
        return self.by_formula == self.by_torch


def count_layers(config: Config) -> tuple[CountedLayer, ...]:
    """Count every layer on torch's meta device, which knows shapes and computes nothing."""
    layer_costs.check(config)
    return tuple(_count_layer(kind, replace(config, counting="built")) for kind in KINDS)


def _count_layer(kind: str, config: Config) -> CountedLayer:
    tokens = min(config.n, MOST_STEPS) if kind in RECURRENT else config.n
    short = replace(config, n=tokens)
    with torch.device("meta"):
        module = make_layer(kind, config.d, heads=config.heads, k=config.k, window=config.window)
        x = torch.empty(1, tokens, config.d)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(x)
    return CountedLayer(
        kind,
        tokens,
        (layer_costs.terms(kind, short).count_operations(short), count_parameters(kind, config)),
        (int(counter.get_total_flops()), sum(p.numel() for p in module.parameters())),
    )


def program(config: Config) -> str:
    """Program that prints the operations of each layer: torch's count, or the quoted table's terms."""
    if config.counting == "table":
        return f"""\
n, d, k, r, heads = {config.n}, {config.d}, {config.k}, {config.window}, {config.heads}
operations = {{
    "attention": n * n * d,
    "window": min(r, n) * n * d,
    "linear": n * d * d // heads,
    "rnn": n * d * d,
    "conv": k * n * d * d,
}}
for name, count in operations.items():
    print(f"{{name:10}} {{count:,}}")
print("attention costs as much as a recurrence at n =", d, "and as a convolution at n =", k * d)
"""
    return f"""\
import torch
from attnviz.pages.compare.maths.compared_layers import make_layer
from torch.utils.flop_counter import FlopCounterMode

n, d, k, heads = {config.n}, {config.d}, {config.k}, {config.heads}
steps = min(n, {MOST_STEPS})  # a recurrence costs the same at every step, so a few are enough


def count(kind, tokens):
    with torch.device("meta"), FlopCounterMode(display=False) as counter:  # shapes without memory: nothing is computed
        make_layer(kind, d, heads=heads, k=k)(torch.empty(1, tokens, d))
    return counter.get_total_flops()


flops = {{kind: count(kind, n) for kind in ("attention", "conv")}}
flops |= {{kind: count(kind, steps) * n // steps for kind in ("rnn", "lstm", "gru")}}
for name, number in flops.items():
    print(f"{{name:10}} {{number:,}} FLOPs")
# attention is 8 n d^2 + 4 n^2 d, an LSTM 16 n d^2, a GRU 12 n d^2
print("attention costs as much as an LSTM at n =", (16 - 8) * d // 4, "and as a GRU at n =", (12 - 8) * d // 4)
"""
