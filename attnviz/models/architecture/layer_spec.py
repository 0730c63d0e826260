"""One attention layer of a published architecture: its kind, its numbers, and the bytes it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from attnviz.core.costs import Flops, Parameters, flops, pairs, tokens_kept
from attnviz.core.heads import HeadLayout
from attnviz.core.latent import LatentForm, LatentLayout, latent_flops
from attnviz.core.message import Problem
from attnviz.core.precision import stored_bytes

#: full: sees everything before it. window, chunk: the last W tokens, or those of its own chunk. latent: MLA.
#: shared: reuses another layer's keys and values. linear: a state of fixed size. none: no attention in this layer.
LayerKind = Literal["full", "window", "chunk", "latent", "shared", "linear", "hybrid", "none"]

#: ideal: what the formula says must be kept. transformers: what its DynamicCache holds. paged: what a server allocates.
Convention = Literal["ideal", "transformers", "paged"]
CONVENTIONS: tuple[Convention, ...] = ("ideal", "transformers", "paged")


NONE = Parameters()


@dataclass(frozen=True)
class Paged:
    """How a server lays out its cache."""

    block: int = 16  #: tokens in one page
    chunk: int = 2048  #: new tokens it takes in at once: a window must hold them too
    hybrid: bool = True  #: whether windowed layers are managed apart; if not they are charged in full


PAGED = Paged()


@dataclass(frozen=True)
class LayerSpec:
    """Attention of one layer; `index` counts within its stack. Numbers without attention are 0."""

    index: int
    stack: Literal["encoder", "decoder"]
    role: Literal["self", "cross"]
    kind: LayerKind
    d_model: int
    n_heads: int = 0
    n_kv_heads: int = 0
    d_head: int = 0
    d_value: int = 0
    parameters: Parameters = NONE
    window: int | None = None
    cached: int = 0  #: numbers one token leaves in the cache
    fixed: int = 0  #: numbers kept however long the text, in the model's dtype (convolutions)
    fixed_float32: int = 0  #: the same, always float32 (recurrent states)
    latent: LatentLayout | None = None
    slides: bool = True  #: False where transformers keeps every token although the layer sees a window only

    held: int | None = None  #: numbers one token leaves in transformers' cache, when not `cached`

    @property
    def layout(self) -> HeadLayout:
        """The layer's heads; MLA's as they unfold."""
        return HeadLayout(self.d_model, self.n_heads, self.n_kv_heads, self.d_head, self.d_value)

    def tokens_kept(self, tokens: int, convention: Convention = "ideal", paged: Paged = PAGED) -> int:
        """How many of `tokens` tokens the cache keeps room for."""
        if convention == "ideal":
            return tokens_kept(tokens, self.window)
        if convention == "transformers":  # a sliding layer keeps what the next token will see beside itself
            trimmed = self.window is not None and self.slides and self.window > 1
            return min(tokens, (self.window or 0) - 1) if trimmed else tokens
        if self.window is not None and paged.hybrid:
            tokens = min(tokens, self.window - 1 + paged.chunk)
        return -(-tokens // paged.block) * paged.block

    def cache_bytes(
        self, tokens: int, dtype: str, convention: Convention = "ideal", group: int = 64, paged: Paged = PAGED
    ) -> int:
        """Bytes one sequence of `tokens` tokens keeps in this layer."""
        if convention not in CONVENTIONS:
            raise Problem(
                "convention={convention} is not one of {known}", convention=convention, known=", ".join(CONVENTIONS)
            )
        each = self.held if convention == "transformers" and self.held is not None else self.cached
        growing = stored_bytes(self.tokens_kept(tokens, convention, paged) * each, dtype, group)
        plain = dtype if dtype in ("float32", "float16", "bfloat16") else "bfloat16"
        return growing + stored_bytes(self.fixed, plain) + 4 * self.fixed_float32

    def flops(self, new_tokens: int, context: int, *, causal: bool = False, machine: LatentForm = "absorbed") -> Flops:
        """FLOPs for `new_tokens` at the end of `context`; MLA as `machine`. Only softmax attention is counted."""
        if self.n_heads == 0:
            return Flops(0, 0, 0)
        n = pairs(new_tokens, context, causal=causal, window=self.window if causal else None)
        if self.latent is not None:
            return latent_flops(self.latent, new_tokens, context, n, machine)
        return flops(self.layout, new_tokens, n, self.parameters.matrices)

    def cross_flops(self, new_tokens: int, encoder_tokens: int, *, prepare: bool = False) -> Flops:
        """FLOPs of cross-attention for `new_tokens`; to `prepare` projects the encoder's keys and values too, once."""
        if self.n_heads == 0:
            return Flops(0, 0, 0)
        own = flops(self.layout, new_tokens, new_tokens * encoder_tokens, self.parameters.w_q + self.parameters.w_o)
        keys = 2 * encoder_tokens * (self.parameters.w_k + self.parameters.w_v) if prepare else 0
        return own + Flops(keys, 0, 0)
