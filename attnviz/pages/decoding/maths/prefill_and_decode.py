"""Prefill against decode: FLOPs and bytes of each pass, and the least time that a machine takes for it."""

from dataclasses import dataclass
from typing import Literal

from attnviz.core.costs import DecodingStep, Machine, count_pairs
from attnviz.models.capture import RecordedLayer
from attnviz.pages.decoding.maths.decoders import Decoder

PassKind = Literal["prefill", "decode"]
#: tokens of a prompt, processed in one pass; tokens in the cache that one new token is decoded after
PROMPTS, CONTEXTS = (1, 8, 64, 256, 1024), (16, 128, 1024)


@dataclass(frozen=True)
class PassPoint:
    """One pass over `tokens` new tokens at the end of `context`."""

    kind: PassKind
    tokens: int
    context: int
    flops: int
    nbytes: int  #: weights, and keys and values that are read from the cache

    @property
    def intensity(self) -> float:
        """FLOPs for each byte read."""
        return self.flops / self.nbytes

    def best_case(self, machine: Machine) -> DecodingStep:
        """Shortest possible times on `machine`: of computing and of reading."""
        return DecodingStep(self.flops / machine.peak, self.nbytes / machine.bandwidth)


def ideal_passes(decoder: Decoder, number_bytes: int) -> tuple[PassPoint, ...]:
    """Every pass by formula, for weights and cache at `number_bytes` bytes a number."""
    body, head = decoder.count_matrix_entries()
    heads = [(layer.shape[1], _width(layer), layer.n_kv_heads) for layer in decoder.process(_make_ids(1)).layers]

    def point(kind: PassKind, new: int, context: int) -> PassPoint:
        attention = sum(2 * h * new * context * width for h, width, _g in heads)
        cached = (context - new) * sum(g * width for _h, width, g in heads)
        return PassPoint(kind, new, context, 2 * (new * body + head) + attention, number_bytes * (body + head + cached))

    return (
        *(point("prefill", n, n) for n in PROMPTS),
        *(point("decode", 1, n + 1) for n in CONTEXTS),
    )


def _make_ids(count: int) -> tuple[int, ...]:
    """`count` token ids. Their values do not change the time."""
    return tuple(32 + n % 90 for n in range(count))


@dataclass(frozen=True)
class Work:
    """Tokens, FLOPs and seconds of one pass."""

    tokens: int  #: processed in this pass
    flops: int
    seconds: float


def pass_flops(decoder: Decoder, layers: tuple[RecordedLayer, ...], new: int) -> int:
    """FLOPs of one pass over `new` tokens: every matrix, and every (query, key) pair as torch's own counter has it.

    The head's matrix is multiplied once, for the last token alone. Biases, norms and softmax are not counted.
    """
    body, head = decoder.count_matrix_entries()
    attention = sum(2 * layer.shape[1] * count_pairs(*layer.shape[2:]) * _width(layer) for layer in layers)
    return 2 * (new * body + head) + attention


def _width(layer: RecordedLayer) -> int:
    """Width of a query plus width of a value."""
    q, _k, v = layer.qkv
    return q.shape[-1] + v.shape[-1]
