"""The FLOPs of one pass of a whole decoder, by formula, and its time by the clock."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.core.costs import pairs
from attnviz.experiments.decoding.decoders import Decoder
from attnviz.models.capture import RecordedLayer


@dataclass(frozen=True)
class Work:
    """What one pass took."""

    tokens: int  #: processed in this pass
    flops: int
    seconds: float


def pass_flops(decoder: Decoder, layers: tuple[RecordedLayer, ...], new: int) -> int:
    """FLOPs of one pass over `new` tokens: every matrix, and every (query, key) pair as torch's own counter has it.

    The head's matrix is multiplied once, for the last token alone. Biases, norms and softmax are not counted.
    """
    body, head = decoder.matrices()
    return 2 * (new * body + head) + sum(_attention(layer) for layer in layers)


def _attention(layer: RecordedLayer) -> int:
    _, heads, q_len, k_len = layer.shape
    assert layer.q is not None
    assert layer.v is not None
    return 2 * heads * pairs(q_len, k_len) * (layer.q.shape[-1] + layer.v.shape[-1])
