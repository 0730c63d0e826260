"""The usual attention masks as patterns, whose pairs can be counted at any length; combine them with & and |.

Every function first takes the number of queries and the number of keys (None: as many as queries).
The last query is at the position of the last key, as in decoding with a cache. The functions of the
same names in `attnviz.core.masks` return boolean tensors.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.core.key_intervals import Pattern, Run


def everything(q_len: int, k_len: int | None = None) -> Pattern:
    """No mask: every query sees every key."""
    position, keys = _positions(q_len, k_len)
    return _one_run(position, keys, torch.zeros_like(position), torch.full_like(position, keys))


def causal(q_len: int, k_len: int | None = None) -> Pattern:
    """Key position <= query position; the last query sees every key."""
    position, keys = _positions(q_len, k_len)
    return _one_run(position, keys, torch.zeros_like(position), position + 1)


def sliding_window(q_len: int, k_len: int | None, window: int, *, both_sides: bool = False) -> Pattern:
    """The last `window` keys, the query's own included; with `both_sides` also window - 1 later keys."""
    position, keys = _positions(q_len, k_len)
    _at_least("window", window, 1)
    return _one_run(position, keys, position - window + 1, position + (window if both_sides else 1))


def prefix(q_len: int, k_len: int | None, prefix_len: int) -> Pattern:
    """Every query sees the first `prefix_len` keys (a prompt attended to in both directions); the rest is causal."""
    position, keys = _positions(q_len, k_len)
    _at_least("prefix_len", prefix_len, 0)
    return _one_run(position, keys, torch.zeros_like(position), (position + 1).clamp(min=prefix_len))


def padding(q_len: int, k_len: int | None, lengths: int | Sequence[int] | Tensor, *, side: str = "right") -> Pattern:
    """Only the real keys: the first `lengths` keys, or the last ones when padding is on the "left".

    One length gives (Q, K); lengths (B,) give (B, 1, Q, K). Rows of padded queries are not emptied,
    because their results are never used.
    """
    position, keys = _positions(q_len, k_len)
    if side not in ("right", "left"):
        raise Problem('side={side} must be "right" or "left"', side=repr(side))
    count = torch.as_tensor(lengths)
    if count.numel() and not 0 <= int(count.min()) <= int(count.max()) <= keys:
        raise Problem("lengths={lengths} must lie between 0 and k_len={k_len}", lengths=count.tolist(), k_len=keys)
    count = count[..., None, None] if count.dim() else count
    first = torch.zeros_like(count) if side == "right" else keys - count
    return _one_run(position, keys, first + 0 * position, first + count + 0 * position)


def documents(q_len: int, k_len: int | None, lengths: Sequence[int]) -> Pattern:
    """Documents packed one after another in one row: each query sees only its own document."""
    position, keys = _positions(q_len, k_len)
    if any(n < 1 for n in lengths) or sum(lengths) != keys:
        raise Problem("document lengths {lengths} must add up to k_len={k_len}", lengths=list(lengths), k_len=keys)
    stops = torch.tensor([0, *lengths]).cumsum(0)
    document = torch.searchsorted(stops, position.clamp(min=0), right=True)  # (Q,)
    stop = stops[document.clamp(max=len(lengths))].where(position >= 0, 0)
    return _one_run(position, keys, stops[document - 1], stop)


def dilated(
    q_len: int, k_len: int | None, dilation: int, *, window: int | None = None, both_sides: bool = False
) -> Pattern:
    """Every `dilation`-th key, counting from the query's own; at most `window` keys when given."""
    position, keys = _positions(q_len, k_len)
    _at_least("dilation", dilation, 1)
    reach = keys + abs(q_len)
    if window is not None:
        _at_least("window", window, 1)
        reach = (window - 1) * dilation
    return _one_run(position, keys, position - reach, position + 1 + (reach if both_sides else 0), dilation)


def block_sparse(
    q_len: int, k_len: int | None, block: int, *, neighbours: int = 1, both_sides: bool = False
) -> Pattern:
    """Blocks of `block` keys: the query's own and `neighbours` blocks before it (with `both_sides` also after it)."""
    position, keys = _positions(q_len, k_len)
    _at_least("block", block, 1)
    _at_least("neighbours", neighbours, 0)
    first = position // block * block
    ahead = first + (neighbours + 1) * block if both_sides else position + 1
    return _one_run(position, keys, first - neighbours * block, ahead)


def global_tokens(q_len: int, k_len: int | None, count: int, *, both_sides: bool = False) -> Pattern:
    """Later queries see the first `count` keys; with `both_sides` all queries do, and these tokens see every key."""
    position, keys = _positions(q_len, k_len)
    _at_least("count", count, 0)
    start = torch.zeros_like(position)
    seen = torch.full_like(position, count)
    if not both_sides:
        return _one_run(position, keys, start, torch.minimum(seen, position + 1))
    return _one_run(position, keys, start, seen.where((position < 0) | (position >= count), keys))


def _positions(q_len: int, k_len: int | None) -> tuple[Tensor, int]:
    keys = q_len if k_len is None else k_len
    _at_least("q_len", q_len, 0)
    _at_least("k_len", keys, 0)
    return torch.arange(q_len) + keys - q_len, keys


def _one_run(position: Tensor, k_len: int, start: Tensor, stop: Tensor, step: int = 1) -> Pattern:
    run = Run(start.clamp(0, k_len), stop.clamp(0, k_len), step)
    return Pattern(position.shape[0], k_len, (run,))


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise Problem("{name}={value} must be at least {least}", name=name, value=value, least=least)
