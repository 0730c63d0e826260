"""One attention layer of an architecture: its kind, its sizes, its FLOPs and the bytes of its cache."""

from dataclasses import dataclass
from typing import Any, Literal

from attnviz.base.message import require_one_of
from attnviz.core.costs import Compressed, Flops, Form, Parameters, count_flops, count_pairs
from attnviz.core.heads import HeadLayout
from attnviz.core.precision import stored_bytes

#: full: each token sees all earlier tokens. window: only the last `window` tokens. chunk: only its own chunk.
#: latent: `compressed`. shared: reuses another layer's keys and values. linear: keeps a fixed state. none: has none.
LayerKind = Literal["full", "window", "chunk", "latent", "shared", "linear", "hybrid", "none"]

#: ideal: the least that must be stored. transformers: what its DynamicCache stores. paged: what a server allocates.
Convention = Literal["ideal", "transformers", "paged"]
CONVENTIONS: tuple[Convention, ...] = ("ideal", "transformers", "paged")


NONE = Parameters()


@dataclass(frozen=True)
class PagedCache:
    """How a server with a paged cache allocates memory."""

    block: int = 16  #: tokens per page
    chunk: int = 2048  #: new tokens processed at once; a layer with a window needs room for them too
    hybrid: bool = True  #: whether layers with a window get less room; if False they get room for every token


PAGED = PagedCache()


@dataclass(frozen=True)
class LayerSpec:
    """Attention of one layer. `index` counts from 0 within its stack; sizes are 0 in a layer without attention."""

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
    cached: int = 0  #: numbers that each token adds to the cache
    fixed: int = 0  #: numbers stored regardless of the length of the text, in the model's dtype (convolutions)
    fixed_float32: int = 0  #: the same, but always in float32 (recurrent states)
    compressed: Compressed | None = None  #: what is cached in place of keys and values
    slides: bool = True  #: False where transformers caches every token although the layer only sees a window

    #: numbers that each token adds to transformers' cache, when it differs from `cached`
    transformers_cached: int | None = None

    @property
    def layout(self) -> HeadLayout:
        """The layer's heads; of a compressed layer in expanded form."""
        return HeadLayout(self.d_model, self.n_heads, self.n_kv_heads, self.d_head, self.d_value)

    def tokens_kept(self, tokens: int, convention: Convention = "ideal", paged: PagedCache = PAGED) -> int:
        """Number of tokens that the cache has room for after `tokens` tokens."""
        if convention == "ideal":
            return tokens if self.window is None else min(tokens, self.window)
        if convention == "transformers":  # a sliding layer keeps the window - 1 tokens before the next token
            trimmed = self.window is not None and self.slides and self.window > 1
            return min(tokens, (self.window or 0) - 1) if trimmed else tokens
        if self.window is not None and paged.hybrid:
            tokens = min(tokens, self.window - 1 + paged.chunk)
        return -(-tokens // paged.block) * paged.block

    def cache_bytes(
        self, tokens: int, dtype: str, convention: Convention = "ideal", group: int = 64, paged: PagedCache = PAGED
    ) -> int:
        """Bytes of this layer's cache for one sequence of `tokens` tokens."""
        require_one_of("convention", convention, CONVENTIONS)
        numbers_per_token = (
            self.transformers_cached
            if convention == "transformers" and self.transformers_cached is not None
            else self.cached
        )
        growing = stored_bytes(self.tokens_kept(tokens, convention, paged) * numbers_per_token, dtype, group)
        plain = dtype if dtype in ("float32", "float16", "bfloat16") else "bfloat16"
        return growing + stored_bytes(self.fixed, plain) + 4 * self.fixed_float32

    def flops(self, new_tokens: int, context: int, *, causal: bool = False, machine: Form) -> Flops:
        """FLOPs of softmax attention for `new_tokens` tokens at the end of `context`; compressed ones as `machine`."""
        if self.n_heads == 0:
            return Flops(0, 0, 0)
        n = count_pairs(new_tokens, context, causal=causal, window=self.window if causal else None)
        if self.compressed is not None:
            return self.compressed.flops(new_tokens, context, n, machine)
        return count_flops(self.layout, new_tokens, n, self.parameters.matrices)

    def cross_flops(self, new_tokens: int, encoder_tokens: int, *, prepare: bool = False) -> Flops:
        """FLOPs of cross-attention for `new_tokens`; to `prepare` projects the encoder's keys and values too, once."""
        if self.n_heads == 0:
            return Flops(0, 0, 0)
        query_flops = count_flops(
            self.layout, new_tokens, new_tokens * encoder_tokens, self.parameters.w_q + self.parameters.w_o
        )
        return query_flops + Flops(
            2 * encoder_tokens * (self.parameters.w_k + self.parameters.w_v) if prepare else 0, 0, 0
        )


def recurrent_state_size(config: Any) -> tuple[int, int]:
    """Size of one layer's state: (numbers in the model's dtype, numbers in float32)."""
    if getattr(config, "linear_num_value_heads", None):
        # Gated DeltaNet: a convolution over queries, keys and values, and a matrix per value head
        keys = config.linear_num_key_heads * config.linear_key_head_dim
        values = config.linear_num_value_heads * config.linear_value_head_dim
        return (2 * keys + values) * config.linear_conv_kernel_dim, values * config.linear_key_head_dim
    if getattr(config, "conv_L_cache", None):  # LFM2: a short convolution and nothing else
        return config.hidden_size * config.conv_L_cache, 0
    # Mamba: a convolution over the inner width, and d_state numbers per channel. In Mamba 2 the convolution also runs
    # over the inputs that write to and read from the state.
    second = getattr(config, "mamba_n_heads", None)
    inner = (config.mamba_d_ssm if second else None) or config.mamba_expand * config.hidden_size
    written = 2 * config.mamba_n_groups * config.mamba_d_state if second else 0
    return (inner + written) * config.mamba_d_conv, inner * config.mamba_d_state
