"""A small decoder: embedding, pre-norm blocks with rotary positions and a gated FFN, and the embedding again as head.

Its weights are drawn by a seed, and it reads bytes, so that it takes any text without a tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

from torch import Tensor, nn
from torch.nn import functional

from attnviz.base.message import Problem, Several
from attnviz.core import masks
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention, KeyValueSource, KVCache
from attnviz.core.normalisation import RMSNorm
from attnviz.core.projections import join_heads
from attnviz.core.rope import RoPE
from attnviz.core.seeding import seeded
from attnviz.core.variants import fused

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


# The parts around attention in a transformer: RMSNorm, the position-wise FFN, the pre- or post-norm block.
__all__ = ["Block", "FeedForward", "RMSNorm"]

Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
Order = Literal["pre", "post"]
Norm = Literal["layer", "rms"]

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": partial(functional.gelu, approximate="tanh"),
    "silu": functional.silu,
}


class FeedForward(nn.Module):
    """Position-wise FFN: project up to `d_hidden`, apply the activation, project back down to M.

    Each token is processed independently. With `gated`, the activated output of a second
    projection multiplies the first (SwiGLU when the activation is "silu").
    """

    def __init__(
        self,
        d_model: int,
        d_hidden: int,
        activation: Activation = "gelu",
        *,
        gated: bool = False,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise Problem(
                "activation={activation} is not one of {known}",
                activation=repr(activation),
                known=Several(ACTIVATIONS),
            )
        self.activation = ACTIVATIONS[activation]
        self.up_proj = nn.Linear(d_model, d_hidden, bias=bias)
        self.gate_proj = nn.Linear(d_model, d_hidden, bias=bias) if gated else None
        self.down_proj = nn.Linear(d_hidden, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        up: Tensor = self.up_proj(x)  # (..., T, d_hidden)
        hidden = self.activation(up) if self.gate_proj is None else self.activation(self.gate_proj(x)) * up
        down: Tensor = self.down_proj(self.dropout(hidden))
        return down


class Block(nn.Module):
    """Self-attention, then cross-attention if `cross` is given, then the FFN, each with a residual.

    `order` "pre" normalises the input of each part, x + part(norm(x)); "post" normalises the sum,
    norm(x + part(x)), as in the original Transformer. In training, `dropout` is applied to the
    output of each part before it is added.
    """

    def __init__(
        self,
        attention: Attention,
        ffn: nn.Module,
        *,
        cross: Attention | None = None,
        order: Order = "pre",
        norm: Norm = "layer",
        eps: float = 1e-5,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if order not in ("pre", "post"):
            raise Problem('order={order} must be "pre" or "post"', order=repr(order))
        if norm not in ("layer", "rms"):
            raise Problem('norm={norm} must be "layer" or "rms"', norm=repr(norm))
        make, width = (nn.LayerNorm if norm == "layer" else RMSNorm), attention.layout.d_model
        self.order = order
        self.attention, self.cross, self.ffn = attention, cross, ffn
        self.attention_norm, self.ffn_norm = make(width, eps), make(width, eps)
        self.cross_norm = None if cross is None else make(width, eps)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, context: Tensor | None = None, *, cross: dict[str, Any] | None = None, **attention: Any
    ) -> Tensor:
        """x (..., T, M) -> (..., T, M).

        The keywords in `attention` (mask, cache, positions, ...) are passed to self-attention;
        `context` and the keywords in `cross` (mask, cache, ...) to cross-attention.
        """
        x = self._residual(x, self.attention_norm, lambda read: self.attention(read, **attention))
        if self.cross is not None and self.cross_norm is not None:
            if context is None:
                raise Problem("a block with cross-attention needs a context")
            attend_to = partial(self.cross, context=context, **(cross or {}))
            x = self._residual(x, self.cross_norm, lambda read: attend_to(read))
        return self._residual(x, self.ffn_norm, self.ffn)

    def _residual(self, x: Tensor, norm: nn.Module, part: Callable[[Tensor], Tensor]) -> Tensor:
        if self.order == "pre":
            return x + self.dropout(part(norm(x)))  # type: ignore[no-any-return]
        return norm(x + self.dropout(part(x)))  # type: ignore[no-any-return]
