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
from attnviz.core.projections import PackedQKV, SeparateQKV, join_heads, make_qk_norms, split_heads

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


class Attention(nn.Module):
    """An attention layer for inputs (..., T, M), with heads as `layout` describes.

    `packed`: one matrix for query, key and value. `position`: how positions enter (RoPE, ALiBi, ...). `side_input`:
    width of a second source (a picture beside a text) with its own key and value projections and,
    where there is a `qk_norm`, its own norm of the keys; its attention output is multiplied by
    `side_scale` and added before the output projection. Nothing of it is rotated, nor are its queries.
    `use_fused`: use torch's kernels instead of `attend`.
    """

    def __init__(
        self,
        layout: HeadLayout,
        *,
        packed: bool = False,
        qkv_bias: bool = False,
        out_bias: bool = False,
        qk_norm: QKNorm | None = None,
        norm_eps: float = 1e-6,
        position: Position | None = None,
        scale: Scale = "sqrt",
        dropout: float = 0.0,
        side_input: int | None = None,
        side_scale: float = 1.0,
        use_fused: bool = False,
    ) -> None:
        super().__init__()
        self.layout, self.scale, self.dropout = layout, scale, dropout
        self.use_fused, self.side_scale = use_fused, side_scale
        self.qkv = (PackedQKV if packed else SeparateQKV)(layout, bias=qkv_bias)
        self.q_norm, self.k_norm = make_qk_norms(qk_norm, layout, norm_eps)
        self.position = position or Position()
        self.o_proj = nn.Linear(layout.n_heads * layout.v_width, layout.d_model, bias=out_bias)
        self.side_k_proj = self.side_v_proj = None
        self.side_k_norm: nn.Module = nn.Identity()
        if side_input is not None:
            self.side_k_proj = nn.Linear(side_input, layout.kv_heads * layout.qk_width, bias=qkv_bias)
            self.side_v_proj = nn.Linear(side_input, layout.kv_heads * layout.v_width, bias=qkv_bias)
            _, self.side_k_norm = make_qk_norms(qk_norm, layout, norm_eps)

    def forward(self, x: Tensor, context: Tensor | None = None, **options: Any) -> Tensor:
        """Output (..., Q, M) for queries projected from `x` (..., Q, M). `sources` lists the keywords in `options`."""
        if self.use_fused:
            outputs = [fused(*source, self.dropout, self.training) for source in self.sources(x, context, **options)]
        else:
            outputs = [stages.output for stages in self.stages(x, context, **options)]
        summed = outputs[0] if len(outputs) == 1 else outputs[0] + self.side_scale * outputs[1]
        projected: Tensor = self.o_proj(join_heads(summed))
        return projected

    def stages(self, x: Tensor, context: Tensor | None = None, **options: Any) -> tuple[Stages, ...]:
        """Every intermediate of attention: to the main source, then to the side source if one is given."""
        sources = self.sources(x, context, **options)
        return tuple(attend(*source, dropout=self.dropout, training=self.training) for source in sources)

    def sources(
        self,
        x: Tensor,
        context: Tensor | None = None,
        *,
        mask: Mask = None,
        positions: Tensor | None = None,
        cache: KVCache | None = None,
        side: Tensor | None = None,
    ) -> tuple[KeyValueSource, ...]:
        """The arguments of `attend` for the main source, then for `side` if it is given.

        Keys and values are projected from `context` (..., K, M), or from `x` without a context. `positions` of the
        queries, (Q,) or (B, Q), default to those that follow the tokens in the cache. With a cache, which is for
        self-attention, the mask must cover the keys that the cache returns.
        """
        if positions is None:
            seen = 0 if cache is None else cache.seen
            positions = torch.arange(seen, seen + x.shape[-2], device=x.device)
        k_positions = positions if context is None else torch.arange(context.shape[-2], device=x.device)
        q, k, v = self._project(x, context, positions, k_positions)
        if cache is not None:
            k, v = cache.append(k, v)
            # the consecutive positions that end at the last one
            k_positions = positions[..., -1:] - torch.arange(k.shape[-2] - 1, -1, -1, device=positions.device)
        turned, bias = self.position.rotate(q, positions), self.position.bias(positions, k_positions)
        main = KeyValueSource(turned, k, v, _mask(mask, turned, k), self.scale, bias)
        if side is None:
            return (main,)
        if self.side_k_proj is None or self.side_v_proj is None:
            raise Problem(
                "a side source was given, but side_input={side_input}: it has no projections", side_input=None
            )
        groups = self.layout.kv_heads
        side_k = self.side_k_norm(split_heads(self.side_k_proj(side), groups))
        return main, KeyValueSource(q, side_k, split_heads(self.side_v_proj(side), groups), None, self.scale, None)

    def _project(
        self, x: Tensor, context: Tensor | None, positions: Tensor, k_positions: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries before rotation; keys and values of the new tokens, or of the context."""
        x = self.position.add(x, positions)
        if context is None and isinstance(self.qkv, PackedQKV):
            q, k, v = self.qkv.all(x)
        else:
            source = x if context is None else self.position.add(context, k_positions)
            q, k, v = self.qkv.queries(x), self.qkv.keys(source), self.qkv.values(source)
        return self.q_norm(q), self.position.rotate(self.k_norm(k), k_positions), v


def _mask(mask: Mask, q: Tensor, k: Tensor) -> Tensor | None:
    """The mask as a tensor; a mask function is called with the lengths of q and k, on the device of q."""
    return mask if mask is None or isinstance(mask, Tensor) else mask(q.shape[-2], k.shape[-2]).to(q.device)


_one_at_a_time = threading.RLock()


@contextmanager
def seeded_generator(seed: int) -> Iterator[None]:
    """Inside the block torch's global generator, which belongs to the whole process, starts from `seed` and serves
    this thread alone; afterwards it is as before.
    """
    with _one_at_a_time, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
