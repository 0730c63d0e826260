"""Attention masks as boolean tensors (Q, K), True meaning may attend; combine them with & and |.

Each pattern is defined once, in `attnviz.core.patterns`, which has more of them and can also count their pairs at
any length. `k_len=None` means as many keys as queries; the last query is at the position of the last key.
"""

import torch
from torch import Tensor

from attnviz.base.message import require_at_least
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
    require_at_least("keys_per_query", keys_per_query, 0)
    visible = patterns.everything(q_len, k_len) if both_sides else patterns.causal(q_len, k_len)
    return drawn(visible.tensor(), keys_per_query, torch.Generator().manual_seed(seed)).to(device)


def drawn(allowed: Tensor, keys_per_query: int, luck: torch.Generator) -> Tensor:
    """A random choice of `keys_per_query` keys per query from `allowed` (Q, K), or all of them where there are fewer.

    Rows are drawn one after another, so drawing a few rows at a time gives the same result as all at once.
    """
    draw = torch.rand(allowed.shape, generator=luck) + allowed
    chosen = draw.topk(min(keys_per_query, allowed.shape[1]), dim=-1).indices
    return torch.zeros_like(allowed).scatter(-1, chosen, True) & allowed
