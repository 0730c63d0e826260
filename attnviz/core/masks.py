"""Attention masks as boolean tensors (Q, K), True meaning may attend; combine them with & and |.

Each pattern is defined once, in `attnviz.core.patterns`, which can also count its pairs at any
length. `k_len=None` means as many keys as queries; the last query is at the position of the last key.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.core import patterns

Device = torch.device | str | None


def everything(q_len: int, k_len: int | None = None, *, device: Device = None) -> Tensor:
    """No mask: all True."""
    return patterns.everything(q_len, k_len).tensor(device)


def causal(q_len: int, k_len: int | None = None, *, device: Device = None) -> Tensor:
    """True where key position <= query position; the last query sees every key."""
    return patterns.causal(q_len, k_len).tensor(device)


def sliding_window(
    q_len: int, k_len: int | None, window: int, *, both_sides: bool = False, device: Device = None
) -> Tensor:
    """True for the last `window` keys, the query's own included; with `both_sides` also for window - 1 later keys."""
    return patterns.sliding_window(q_len, k_len, window, both_sides=both_sides).tensor(device)


def prefix(q_len: int, k_len: int | None, prefix_len: int, *, device: Device = None) -> Tensor:
    """True for the first `prefix_len` keys; causal for the keys after them."""
    return patterns.prefix(q_len, k_len, prefix_len).tensor(device)


def padding(
    q_len: int,
    k_len: int | None = None,
    lengths: int | Sequence[int] | Tensor | None = None,
    *,
    attention_mask: Tensor | None = None,
    side: str = "right",
    device: Device = None,
) -> Tensor:
    """True for real keys, False for padding, from sentence lengths or an attention_mask (1 real, 0 padding).

    One length or an attention_mask (K,) gives (Q, K); lengths (B,) or an attention_mask (B, K)
    give (B, 1, Q, K), which `attend` accepts.
    """
    if (lengths is None) == (attention_mask is None):
        raise Problem("padding takes either lengths or an attention_mask, and exactly one of them")
    if lengths is not None:
        return patterns.padding(q_len, k_len, lengths, side=side).tensor(device)
    assert attention_mask is not None
    keys = q_len if k_len is None else k_len
    if attention_mask.dim() not in (1, 2) or attention_mask.shape[-1] != keys:
        raise Problem(
            "attention_mask has shape {shape}; it must be (keys,) or (batch, keys) with {k_len} keys",
            shape=tuple(attention_mask.shape),
            k_len=keys,
        )
    real = attention_mask.to(device or attention_mask.device).bool()
    return real.expand(q_len, keys) if real.dim() == 1 else real[:, None, None].expand(-1, 1, q_len, keys)


def documents(
    q_len: int,
    k_len: int | None = None,
    lengths: Sequence[int] | None = None,
    *,
    ids: Tensor | None = None,
    device: Device = None,
) -> Tensor:
    """True where query and key are in the same document of a packed row, from lengths or the document id of each key.

    `lengths` and ids (K,) give (Q, K); ids (B, K) give (B, 1, Q, K).
    """
    if (lengths is None) == (ids is None):
        raise Problem("documents takes either lengths or ids, and exactly one of them")
    if lengths is not None:
        return patterns.documents(q_len, k_len, lengths).tensor(device)
    assert ids is not None
    keys = q_len if k_len is None else k_len
    if ids.dim() not in (1, 2) or ids.shape[-1] != keys or q_len > keys:
        raise Problem(
            "ids has shape {shape}; it must be (keys,) or (batch, keys) with {k_len} keys, and no fewer than queries",
            shape=tuple(ids.shape),
            k_len=keys,
        )
    same = ids[..., keys - q_len :].unsqueeze(-1) == ids.unsqueeze(-2)
    return same if ids.dim() == 1 else same.unsqueeze(1)


def dilated(
    q_len: int,
    k_len: int | None,
    dilation: int,
    *,
    window: int | None = None,
    both_sides: bool = False,
    device: Device = None,
) -> Tensor:
    """True for every `dilation`-th key, counting from the query's own; at most `window` keys when given."""
    return patterns.dilated(q_len, k_len, dilation, window=window, both_sides=both_sides).tensor(device)


def random(
    q_len: int,
    k_len: int | None,
    keys_per_query: int,
    seed: int,
    *,
    both_sides: bool = False,
    device: Device = None,
) -> Tensor:
    """True for `keys_per_query` keys per query, drawn at random without repeats from the keys it may see."""
    if keys_per_query < 0:
        raise Problem("keys_per_query={keys_per_query} must be at least 0", keys_per_query=keys_per_query)
    visible = patterns.everything(q_len, k_len) if both_sides else patterns.causal(q_len, k_len)
    return drawn(visible.tensor(), keys_per_query, torch.Generator().manual_seed(seed)).to(device)


def drawn(allowed: Tensor, keys_per_query: int, luck: torch.Generator) -> Tensor:
    """A random choice of `keys_per_query` keys per query from `allowed` (Q, K), or all of them where there are fewer.

    Rows are drawn one after another, so drawing a few rows at a time gives the same result as all at once.
    """
    draw = torch.rand(allowed.shape, generator=luck) + allowed
    chosen = draw.topk(min(keys_per_query, allowed.shape[1]), dim=-1).indices
    return torch.zeros_like(allowed).scatter(-1, chosen, True) & allowed
