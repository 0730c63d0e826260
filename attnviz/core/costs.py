"""The cost of one attention layer, as exact integers: parameters, FLOPs, activations, bytes of keys and values.

And the shortest possible time of a decoding step on a machine: the slower of computing and reading memory.

Letters are those of `attnviz`; P is the number of entries of the weight matrices. A FLOP is one
multiplication or one addition, so a matrix of P entries costs 2 P per token. As in torch's FlopCounterMode,
biases, norms, softmax and rotations are not counted.
"""

import platform
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, Protocol, Self

from attnviz.base.message import require_at_least
from attnviz.core.heads import HeadLayout
from attnviz.core.precision import stored_bytes

QKNorm = Literal["head", "head-layernorm", "full", "full-layernorm"]
Kernel = Literal["eager", "fused"]


@dataclass(frozen=True)
class Counts:
    """Numbers of one thing by kind, a field for each."""

    @property
    def total(self) -> int:
        return sum(getattr(self, f.name) for f in fields(self))

    def __add__(self, more: Self) -> Self:
        return type(self)(*(getattr(self, f.name) + getattr(more, f.name) for f in fields(self)))


@dataclass(frozen=True)
class Parameters(Counts):
    """Parameters of attention, by kind. The norms and the FFN of the surrounding block are not included."""

    w_q: int = 0
    w_k: int = 0
    w_v: int = 0
    w_o: int = 0
    w_down: int = 0  #: the shared projection down to latents (MLA)
    biases: int = 0
    norms: int = 0  #: of queries, keys and latents
    other: int = 0  #: sinks, position tables, gates that are not part of W_Q

    @property
    def matrices(self) -> int:
        """Entries of the matrices that every token is multiplied by."""
        return self.w_q + self.w_k + self.w_v + self.w_o + self.w_down


def count_parameters(
    layout: HeadLayout,
    *,
    qkv_bias: bool = False,
    out_bias: bool = False,
    qk_norm: QKNorm | None = None,
    sinks: bool = False,
    gated: bool = False,
    kv_input: int | None = None,
    own_kv: bool = True,
) -> Parameters:
    """Parameters of an MHA, GQA or MQA layer.

    W_Q has M*H*D entries (twice that with a gated query), W_K M*G*D, W_V M*G*Dv, W_O H*Dv*M. `kv_input` is the
    width of the input that keys and values are projected from, M when None (it differs in cross-attention).
    Without `own_kv` the layer reuses another layer's keys and values. An RMSNorm has a weight, a LayerNorm a
    weight and a bias; all heads share one "head" norm.
    """
    m, h, g, d, dv = layout.d_model, layout.n_heads, layout.kv_heads, layout.qk_width, layout.v_width
    source, q_width = kv_input or m, h * d * (2 if gated else 1)
    k_width, v_width = (g * d, g * dv) if own_kv else (0, 0)
    norm_width = 0 if qk_norm is None else d + (d if own_kv else 0) if qk_norm.startswith("head") else h * d + k_width
    return Parameters(
        w_q=m * q_width,
        w_k=source * k_width,
        w_v=source * v_width,
        w_o=h * dv * m,
        biases=(q_width + k_width + v_width) * qkv_bias + m * out_bias,
        norms=norm_width * (2 if qk_norm is not None and qk_norm.endswith("layernorm") else 1),
        other=h * sinks,
    )


@dataclass(frozen=True)
class Flops(Counts):
    """FLOPs of a pass through one attention layer, by step."""

    projections: int
    scores: int  #: q.kT
    values: int  #: weights @ v

    def __mul__(self, times: int) -> "Flops":
        return Flops(self.projections * times, self.scores * times, self.values * times)


def count_pairs(new_tokens: int, context: int, *, causal: bool = False, window: int | None = None) -> int:
    """Number of (query, key) pairs that are computed for `new_tokens` queries at the end of `context` keys.

    Without `causal`, every pair, as eager attention computes and FlopCounterMode counts. With `causal`, only
    the pairs a query may see, as an ideal kernel computes; `window` then limits each query to its last keys.
    """
    if not causal:
        return new_tokens * context
    first = context - new_tokens + 1  # keys the first new query sees
    reach = context if window is None else window
    growing = max(0, min(context, reach) - first + 1)  # queries that still see everything before them
    return growing * (first + first + growing - 1) // 2 + (new_tokens - growing) * min(reach, context)


def count_flops(layout: HeadLayout, new_tokens: int, n_pairs: int, matrices: int | None = None) -> Flops:
    """FLOPs for `new_tokens` tokens, T in all, and `n_pairs` (query, key) pairs: 2*T*P + 2*pairs*H*(D + Dv).

    `matrices` is the number of entries of the weight matrices; None means W_Q, W_K, W_V and W_O of the layout.
    """
    matrices = count_parameters(layout).matrices if matrices is None else matrices
    per_pair = 2 * layout.n_heads
    return Flops(2 * new_tokens * matrices, per_pair * layout.qk_width * n_pairs, per_pair * layout.v_width * n_pairs)


@dataclass(frozen=True)
class Activations(Counts):
    """Numbers that one attention layer keeps in memory at once while it processes a prompt, by tensor."""

    q: int
    k: int
    v: int
    scores: int  #: 0 in a fused kernel, which only keeps one tile of scores at a time
    weights: int
    output: int  #: before W_O
    projected: int  #: after W_O


def count_activations(layout: HeadLayout, tokens: int, batch: int = 1, kernel: Kernel = "eager") -> Activations:
    """Numbers kept for T = `tokens` tokens: eager attention keeps two T*T matrices per query head, a fused one none."""
    h, g, d, dv = layout.n_heads, layout.kv_heads, layout.qk_width, layout.v_width
    rows = batch * tokens
    square = rows * tokens * h if kernel == "eager" else 0
    return Activations(rows * h * d, rows * g * d, rows * g * dv, square, square, rows * h * dv, rows * layout.d_model)


def kv_elements(layout: HeadLayout) -> int:
    """Numbers that one token adds to the cache of one layer: G*(D + Dv)."""
    return layout.kv_heads * (layout.qk_width + layout.v_width)


def kv_bytes(layout: HeadLayout, tokens: int, batch: int = 1, dtype: str = "bfloat16") -> int:
    """Bytes of one layer's keys and values: batch * T * G*(D + Dv) * bytes per number."""
    return stored_bytes(batch * tokens * kv_elements(layout), dtype)


@dataclass(frozen=True)
class Machine:
    """The peak performance of a processor, as its maker states it."""

    peak: int  #: FLOP per second in the precision computed in, without sparsity
    bandwidth: int  #: bytes per second
    memory: int  #: bytes

    def __post_init__(self) -> None:
        for name in ("peak", "bandwidth", "memory"):
            require_at_least(name, getattr(self, name), 1)


@dataclass(frozen=True)
class DecodingStep:
    """The ideal times of one decoding step of a batch, in seconds."""

    compute_seconds: float
    memory_seconds: float

    @property
    def seconds(self) -> float:
        return max(self.compute_seconds, self.memory_seconds)

    @property
    def bound(self) -> Literal["compute", "memory"]:
        return "compute" if self.compute_seconds > self.memory_seconds else "memory"


def decode_step(
    machine: Machine, *, parameters: int, weight_bytes: int, attention_flops: int, cache_bytes: int, batch: int
) -> DecodingStep:
    """One step for a batch of B sequences: max((2*N*B + B*attention)/peak, (weights + B*cache)/bandwidth) seconds.

    `parameters` N counts those each token is multiplied by (in a mixture of experts, the active ones).
    `attention_flops` (scores and values) and `cache_bytes` are per sequence, summed over layers.
    """
    compute = batch * (2 * parameters + attention_flops) / machine.peak
    return DecodingStep(compute, (weight_bytes + batch * cache_bytes) / machine.bandwidth)


# A cache of something smaller than the keys and values of heads: what every such attention says of itself.
#: expanded: keys and values of each head are cached. absorbed: what is smaller is cached and never expanded.
#: re-expanded: it is cached, and all of it is expanded again at every step (as transformers does).
Form = Literal["expanded", "absorbed", "re-expanded"]


class Compressed(Protocol):
    """Attention that makes keys and values of every head from fewer numbers a token: MLA from a latent."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def expanded(self) -> HeadLayout:
        """The equivalent multi-head attention."""

    @property
    def parameters(self) -> Parameters:
        """Parameters of a layer."""

    def elements(self, machine: Form = "absorbed") -> int:
        """Numbers that one token adds to one layer's cache."""

    def flops(self, new_tokens: int, context: int, n_pairs: int, machine: Form) -> Flops:
        """FLOPs for `new_tokens` tokens at the end of `context` tokens, with `n_pairs` (query, key) pairs."""


# What this machine's processor is called: it stands beside everything that was measured here.
ABOUT = Path("/proc/cpuinfo")  #: where Linux tells it


def processor_name() -> str:
    """The processor's name; its architecture where nothing tells more."""
    try:
        lines = ABOUT.read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
