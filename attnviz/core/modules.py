"""`Attention`: one module for self- and cross-attention with MHA, GQA or MQA; and `seeded`, to draw its weights."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.core.attention import Scale, Stages, attend, fused
from attnviz.core.cache import KVCache
from attnviz.core.costs import QKNorm
from attnviz.core.heads import HeadLayout
from attnviz.core.positions import Position
from attnviz.core.projections import PackedQKV, SeparateQKV, join_heads, qk_norms, split_heads

#: A boolean tensor that broadcasts to (..., H, Q, K), or a function of (q_len, k_len) such as `masks.causal`.
Mask = Tensor | Callable[[int, int], Tensor] | None


class KeyValueSource(NamedTuple):
    """The arguments of `attend` for one source of keys and values."""

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor | None
    scale: Scale
    bias: Tensor | None
    softcap: float | None
    sinks: Tensor | None


class Attention(nn.Module):
    """An attention layer for inputs (..., T, M), with heads as `layout` describes.

    `q_input`, `k_input`, `v_input`: widths of the three inputs, M when None. `packed`: one matrix
    for query, key and value. `position`: how positions enter (RoPE, ALiBi, ...). `side_input`:
    width of a second source (a picture beside a text) with its own key and value projections and,
    where there is a `qk_norm`, its own norm of the keys; its attention output is multiplied by
    `side_scale` and added before the output projection. Nothing of it is rotated, nor are its queries.
    `use_fused`: use torch's kernels instead of `attend`.
    """

    def __init__(
        self,
        layout: HeadLayout,
        *,
        q_input: int | None = None,
        k_input: int | None = None,
        v_input: int | None = None,
        packed: bool = False,
        qkv_bias: bool = False,
        out_bias: bool = False,
        qk_norm: QKNorm | None = None,
        norm_eps: float = 1e-6,
        position: Position | None = None,
        scale: Scale = "sqrt",
        softcap: float | None = None,
        sinks: bool = False,
        dropout: float = 0.0,
        side_input: int | None = None,
        side_scale: float = 1.0,
        use_fused: bool = False,
    ) -> None:
        super().__init__()
        if use_fused and (softcap is not None or sinks):
            raise Problem("the fused path has no soft-cap and no sinks: set use_fused=False")
        self.layout, self.scale, self.softcap, self.dropout = layout, scale, softcap, dropout
        self.use_fused, self.side_scale = use_fused, side_scale
        inputs = (q_input or layout.d_model, k_input or layout.d_model, v_input or layout.d_model)
        self.qkv = (PackedQKV if packed else SeparateQKV)(layout, inputs, bias=qkv_bias)
        self.q_norm, self.k_norm = qk_norms(qk_norm, layout, norm_eps)
        self.position = position or Position()
        self.sinks = nn.Parameter(torch.zeros(layout.n_heads)) if sinks else None
        self.o_proj = nn.Linear(layout.n_heads * layout.v_width, layout.d_model, bias=out_bias)
        self.side_k_proj = self.side_v_proj = None
        self.side_k_norm: nn.Module = nn.Identity()
        if side_input is not None:
            self.side_k_proj = nn.Linear(side_input, layout.kv_heads * layout.qk_width, bias=qkv_bias)
            self.side_v_proj = nn.Linear(side_input, layout.kv_heads * layout.v_width, bias=qkv_bias)
            _, self.side_k_norm = qk_norms(qk_norm, layout, norm_eps)

    def forward(self, x: Tensor, context: Tensor | None = None, **given: Any) -> Tensor:
        """Output (..., Q, M) for queries projected from `x` (..., Q, M). `sources` lists the keywords in `given`."""
        outputs = [self._output(source) for source in self.sources(x, context, **given)]
        summed = outputs[0] if len(outputs) == 1 else outputs[0] + self.side_scale * outputs[1]
        projected: Tensor = self.o_proj(join_heads(summed))
        return projected

    def stages(self, x: Tensor, context: Tensor | None = None, **given: Any) -> tuple[Stages, ...]:
        """Every intermediate of attention: to the main source, then to the side source if one is given."""
        return tuple(self._stages(source) for source in self.sources(x, context, **given))

    def sources(
        self,
        x: Tensor,
        context: Tensor | None = None,
        *,
        value: Tensor | None = None,
        mask: Mask = None,
        bias: Tensor | None = None,
        positions: Tensor | None = None,
        context_positions: Tensor | None = None,
        cache: KVCache | None = None,
        side: Tensor | None = None,
        side_mask: Mask = None,
    ) -> tuple[KeyValueSource, ...]:
        """The arguments of `attend` for the main source, then for `side` if it is given.

        Keys are projected from `context` (..., K, k_input), or from `x` without a context; values from
        `value`, or from the same input as the keys. `positions` of the queries, (Q,) or (B, Q), default
        to those that follow the tokens in the cache. With a cache, the mask must cover the keys that the
        cache returns. A context is projected once, while the cache is empty, and then read from the cache.
        """
        if positions is None:
            seen = cache.seen if cache is not None and context is None else 0
            positions = torch.arange(seen, seen + x.shape[-2], device=x.device)
        k_positions = positions
        if context is not None:
            first = torch.arange(context.shape[-2], device=x.device)
            k_positions = first if context_positions is None else context_positions
        q, k, v = self._project(x, context, value, positions, k_positions, cache)
        turned = self.position.rotate(q, positions)
        if context is None and cache is not None:
            # the consecutive positions that end at the last one
            k_positions = positions[..., -1:] - torch.arange(k.shape[-2] - 1, -1, -1, device=positions.device)
        acting = _added(bias, self.position.bias(positions, k_positions))
        main = KeyValueSource(turned, k, v, _mask(mask, turned, k), self.scale, acting, self.softcap, self.sinks)
        if side is None:
            return (main,)
        if self.side_k_proj is None or self.side_v_proj is None:
            raise Problem(
                "a side source was given, but side_input={side_input}: it has no projections", side_input=None
            )
        groups = self.layout.kv_heads
        side_k = self.side_k_norm(split_heads(self.side_k_proj(side), groups))
        side_v = split_heads(self.side_v_proj(side), groups)
        return main, KeyValueSource(
            q, side_k, side_v, _mask(side_mask, q, side_k), self.scale, None, self.softcap, None
        )

    def _project(
        self,
        x: Tensor,
        context: Tensor | None,
        value: Tensor | None,
        positions: Tensor,
        k_positions: Tensor,
        cache: KVCache | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries before rotation; keys and values including those of the cache."""
        x = self.position.add(x, positions)
        if context is not None and cache is not None and len(cache):
            return self.q_norm(self.qkv.queries(x)), cache.keys, cache.values
        if context is None and value is None and isinstance(self.qkv, PackedQKV):
            q, k, v = self.qkv.all(x)
        else:
            source = x if context is None else self.position.add(context, k_positions)
            q, k, v = self.qkv.queries(x), self.qkv.keys(source), self.qkv.values(source if value is None else value)
        k = self.position.rotate(self.k_norm(k), k_positions)
        k, v = (k, v) if cache is None else cache.append(k, v)
        return self.q_norm(q), k, v

    def _stages(self, source: KeyValueSource) -> Stages:
        return attend(*source, dropout=self.dropout, training=self.training)

    def _output(self, source: KeyValueSource) -> Tensor:
        if not self.use_fused:
            return self._stages(source).output
        q, k, v, mask, scale, bias, _, _ = source
        return fused(q, k, v, mask, scale, bias, self.dropout, self.training)


def _mask(mask: Mask, q: Tensor, k: Tensor) -> Tensor | None:
    """The mask as a tensor; a mask function is called with the lengths of q and k, on the device of q."""
    return mask if mask is None or isinstance(mask, Tensor) else mask(q.shape[-2], k.shape[-2]).to(q.device)


def _added(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


_one_at_a_time = threading.RLock()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside the block torch's global generator, which belongs to the whole process, starts from `seed` and serves
    this thread alone; afterwards it is as before.
    """
    with _one_at_a_time, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
