"""A small decoder: embedding, pre-norm blocks with rotary positions and a gated FFN, and the embedding again as head.

Its weights are drawn by a seed, and it reads bytes, so that it takes any text without a tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor, nn

from attnviz.core import masks
from attnviz.core.blocks import Block, FeedForward
from attnviz.core.fused import fused
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention, KeyValueSource, KVCache
from attnviz.core.normalisation import RMSNorm
from attnviz.core.projections import join_heads
from attnviz.core.rope import RoPE
from attnviz.core.seeding import seeded

BYTES = 256
SPREAD = 0.25  #: of the embedding: with 1 the head, which is the same matrix, would only repeat the last byte
#: What attention answers in one layer, (B, H, Q, Dv): given the layer's number and all that it is computed from.
AttendAs = Callable[[int, KeyValueSource], Tensor]


class ByteDecoder(nn.Module):
    """`n_layers` blocks of the given layout over a vocabulary of 256 bytes; equal seeds give equal weights."""

    def __init__(self, layout: HeadLayout, n_layers: int, seed: int = 0) -> None:
        super().__init__()
        self.layout = layout
        with seeded(seed):
            self.embedding = nn.Embedding(BYTES, layout.d_model)
            nn.init.normal_(self.embedding.weight, std=SPREAD)
            self.blocks = nn.ModuleList(_block(layout) for _ in range(n_layers))
        self.norm = RMSNorm(layout.d_model)

    def caches(self) -> list[KVCache]:
        """An empty cache for each layer."""
        return [KVCache(self.layout) for _ in self.blocks]

    def forward(
        self, ids: Tensor, caches: Sequence[KVCache] | None = None, attend_as: AttendAs | None = None
    ) -> Tensor:
        """Ids (B, T) of the new bytes -> logits (B, T, 256). `caches` hold those before them, and take these in."""
        x = self.embedding(ids)
        held: Sequence[KVCache | None] = caches or [None] * len(self.blocks)
        for index, (block, cache) in enumerate(zip(self.blocks, held, strict=True)):
            assert isinstance(block, Block)
            (source,) = block.attention.sources(block.attention_norm(x), mask=masks.causal, cache=cache)
            output = _fused(source) if attend_as is None else attend_as(index, source)
            x = x + block.attention.o_proj(join_heads(output))
            x = x + block.ffn(block.ffn_norm(x))
        logits: Tensor = self.norm(x) @ self.embedding.weight.T
        return logits


def _block(layout: HeadLayout) -> Block:
    ffn = FeedForward(layout.d_model, 3 * layout.d_model, "silu", gated=True, bias=False)
    return Block(Attention(layout, position=RoPE()), ffn, norm="rms")


def _fused(source: KeyValueSource) -> Tensor:
    return fused(source.q, source.k, source.v, source.mask, source.scale, source.bias)
