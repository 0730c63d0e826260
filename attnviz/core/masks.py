"""Attention masks as boolean tensors (Q, K), True meaning may attend; combine them with & and |.

`k_len=None` means as many keys as queries; the last query is at the position of the last key, as in decoding with a
cache.
"""

import torch
from torch import Tensor

from attnviz.base.message import require_at_least

Device = torch.device | str | None


def positions(q_len: int, k_len: int | None = None, *, device: Device = None) -> tuple[Tensor, Tensor]:
    """Positions of the queries (Q, 1), negative before the first key, and of the keys (K,): a mask is an expression
    of the two.
    """
    keys = q_len if k_len is None else k_len
    require_at_least("q_len", q_len, 0)
    require_at_least("k_len", keys, 0)
    return torch.arange(keys - q_len, keys, device=device)[:, None], torch.arange(keys, device=device)


def everything(q_len: int, k_len: int | None = None, *, device: Device = None) -> Tensor:
    """No mask: all True."""
    return torch.ones(q_len, q_len if k_len is None else k_len, dtype=torch.bool, device=device)


def causal(q_len: int, k_len: int | None = None, *, device: Device = None) -> Tensor:
    """True where key position <= query position; the last query sees every key."""
    q, k = positions(q_len, k_len, device=device)
    return k <= q


def sliding_window(
    q_len: int, k_len: int | None, window: int, *, both_sides: bool = False, device: Device = None
) -> Tensor:
    """True for the last `window` keys, the query's own included; with `both_sides` also for window - 1 later keys."""
    require_at_least("window", window, 1)
    q, k = positions(q_len, k_len, device=device)
    return (q - k).abs() < window if both_sides else (k <= q) & (q - k < window)


def drawn(allowed: Tensor, keys_per_query: int, luck: torch.Generator) -> Tensor:
    """A random choice of `keys_per_query` keys per query from `allowed` (Q, K), or all of them where there are fewer.

    Rows are drawn one after another, so drawing a few rows at a time gives the same result as all at once.
    """
    draw = torch.rand(allowed.shape, generator=luck) + allowed
    chosen = draw.topk(min(keys_per_query, allowed.shape[1]), dim=-1).indices
    return torch.zeros_like(allowed).scatter(-1, chosen, True) & allowed
