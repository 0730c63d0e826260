"""A small decoder: embedding, pre-norm blocks with rotary positions and a gated FFN, and the embedding again as head.

Its weights are drawn by a seed, and it reads bytes, so that it takes any text without a tokenizer.
"""

from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor, nn
from torch.nn import functional

from attnviz.core import masks
from attnviz.core.attention import fused
from attnviz.core.cache import KVCache
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention, KeyValueSource, seeded_generator
from attnviz.core.projections import join_heads
from attnviz.core.rope import RoPE

BYTES = 256
SPREAD = 0.25  #: of the embedding: with 1 the head, which is the same matrix, would only repeat the last byte
#: What attention answers in one layer, (B, H, Q, Dv): given the layer's number and all that it is computed from.
AttendAs = Callable[[int, KeyValueSource], Tensor]


class ByteDecoder(nn.Module):
    """`n_layers` blocks of the given layout over a vocabulary of 256 bytes; equal seeds give equal weights."""

    def __init__(self, layout: HeadLayout, n_layers: int, seed: int = 0) -> None:
        super().__init__()
        self.layout = layout
        with seeded_generator(seed):
            self.embedding = nn.Embedding(BYTES, layout.d_model)
            nn.init.normal_(self.embedding.weight, std=SPREAD)
            self.blocks = nn.ModuleList(Block(layout) for _ in range(n_layers))
        self.norm = nn.RMSNorm(layout.d_model, 1e-6)

    def caches(self) -> list[KVCache]:
        """An empty cache for each layer."""
        return [KVCache(self.layout) for _ in self.blocks]

    def forward(
        self, ids: Tensor, caches: Sequence[KVCache] | None = None, attend_as: AttendAs | None = None
    ) -> Tensor:
        """Ids (B, T) of the new bytes -> logits (B, T, 256). `caches` hold those before them, and take these in."""
        x = self.embedding(ids)
        attend_as = attend_as or (lambda _, source: fused(*source))
        layer_caches: Sequence[KVCache | None] = caches or [None] * len(self.blocks)
        for index, (block, cache) in enumerate(zip(self.blocks, layer_caches, strict=True)):
            x = block(x, cache, partial(attend_as, index))
        return self.norm(x) @ self.embedding.weight.T  # type: ignore[no-any-return]


class Block(nn.Module):
    """Attention with rotary positions, then a gated FFN: each reads the normalised stream, and is added to it."""

    def __init__(self, layout: HeadLayout) -> None:
        super().__init__()
        self.ffn = FeedForward(layout.d_model, 3 * layout.d_model)  # the first whose weights are drawn
        self.attention = Attention(layout, position=RoPE())
        self.attention_norm, self.ffn_norm = (nn.RMSNorm(layout.d_model, 1e-5) for _ in range(2))

    def forward(self, x: Tensor, cache: KVCache | None, attend_as: Callable[[KeyValueSource], Tensor]) -> Tensor:
        """x (B, T, M) -> (B, T, M)."""
        (source,) = self.attention.sources(self.attention_norm(x), mask=masks.causal, cache=cache)
        x = x + self.attention.o_proj(join_heads(attend_as(source)))
        return x + self.ffn(self.ffn_norm(x))  # type: ignore[no-any-return]


class FeedForward(nn.Module):
    """Position-wise SwiGLU: up to `d_hidden`, times the SiLU of a second projection, and down to M again.

    Each token is processed independently.
    """

    def __init__(self, d_model: int, d_hidden: int) -> None:
        super().__init__()
        self.up_proj = nn.Linear(d_model, d_hidden, bias=False)
        self.gate_proj = nn.Linear(d_model, d_hidden, bias=False)
        self.down_proj = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x (..., T, M) -> (..., T, M)."""
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))  # type: ignore[no-any-return]
