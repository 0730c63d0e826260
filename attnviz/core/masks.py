"""Attention masks as boolean tensors (Q, K), True meaning may attend; combine them with & and |.

`k_len=None` means as many keys as queries; the last query is at the position of the last key, as in decoding with a
cache.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from attnviz.base.message import Problem, require_at_least, require_one_of

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


def prefix(q_len: int, k_len: int | None, prefix_len: int, *, device: Device = None) -> Tensor:
    """True for the first `prefix_len` keys; causal for the keys after them."""
    require_at_least("prefix_len", prefix_len, 0)
    q, k = positions(q_len, k_len, device=device)
    return (k <= q) | (k < prefix_len)


def padding(
    q_len: int,
    k_len: int | None = None,
    lengths: int | Sequence[int] | Tensor | None = None,
    *,
    attention_mask: Tensor | None = None,
    side: str = "right",
    device: Device = None,
) -> Tensor:
    """True for real keys, from sentence lengths or an attention_mask (1 real, 0 padding).

    One length or an attention_mask (K,) gives (Q, K); lengths (B,) or an attention_mask (B, K) give (B, 1, Q, K),
    which `attend` accepts. Rows of padded queries are not emptied: their results are never used.
    """
    _, k = positions(q_len, k_len, device=device)
    n_keys = len(k)
    if (lengths is None) == (attention_mask is None):
        raise Problem("padding takes either lengths or an attention_mask, and exactly one of them")
    if attention_mask is not None:
        if attention_mask.dim() not in (1, 2) or attention_mask.shape[-1] != n_keys:
            raise Problem(
                "attention_mask has shape {shape}; it must be (keys,) or (batch, keys) with {k_len} keys",
                shape=tuple(attention_mask.shape),
                k_len=n_keys,
            )
        real = attention_mask.to(device or attention_mask.device).bool()
    else:
        count = torch.as_tensor(lengths, device=device)
        require_one_of("side", side, ("right", "left"))
        if count.numel() and not 0 <= int(count.min()) <= int(count.max()) <= n_keys:
            raise Problem(
                "lengths={lengths} must lie between 0 and k_len={k_len}", lengths=count.tolist(), k_len=n_keys
            )
        count = count[..., None]
        real = k < count if side == "right" else k >= n_keys - count
    return real.expand(q_len, n_keys) if real.dim() == 1 else real[:, None, None].expand(-1, 1, q_len, n_keys)


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
    _, k = positions(q_len, k_len)
    n_keys = len(k)
    if (lengths is None) == (ids is None):
        raise Problem("documents takes either lengths or ids, and exactly one of them")
    if lengths is not None:
        ids = document_ids(lengths, device=device)
        if len(ids) != n_keys:
            raise Problem(
                "document lengths {lengths} must add up to k_len={k_len}", lengths=list(lengths), k_len=n_keys
            )
    assert ids is not None
    if ids.dim() not in (1, 2) or ids.shape[-1] != n_keys or q_len > n_keys:
        raise Problem(
            "ids has shape {shape}; it must be (keys,) or (batch, keys) with {k_len} keys, and no fewer than queries",
            shape=tuple(ids.shape),
            k_len=n_keys,
        )
    same = ids[..., n_keys - q_len :].unsqueeze(-1) == ids.unsqueeze(-2)
    return same if ids.dim() == 1 else same.unsqueeze(1)


def document_ids(lengths: Sequence[int], *, device: Device = None) -> Tensor:
    """The number of each key's document, from the documents' lengths."""
    if any(n < 1 for n in lengths):
        raise wrong_lengths(list(lengths))
    return torch.arange(len(lengths), device=device).repeat_interleave(torch.tensor(lengths, device=device))


def wrong_lengths(lengths: object) -> Problem:
    """The refusal of lengths that no documents can have."""
    return Problem("Document lengths {lengths} must be whole numbers of at least 1, such as 4, 3, 5.", lengths=lengths)


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
    require_at_least("dilation", dilation, 1)
    if window is not None:
        require_at_least("window", window, 1)
    return dilated_between(*positions(q_len, k_len, device=device), dilation, window, both_sides)


def dilated_between(q: Tensor, k: Tensor, dilation: int, window: int | None, both_sides: bool) -> Tensor:
    """The dilated mask for queries at the positions `q` (Q, 1) and keys at `k` (K,)."""
    distance = (q - k).abs() if both_sides else q - k
    steps = (distance >= 0) & (distance % dilation == 0)
    return steps if window is None else steps & (distance < window * dilation)


def sample_keys(allowed: Tensor, keys_per_query: int, luck: torch.Generator) -> Tensor:
    """A random choice of `keys_per_query` keys per query from `allowed` (Q, K), or all of them where there are fewer.

    Rows are drawn one after another, so drawing a few rows at a time gives the same result as all at once.
    """
    draw = torch.rand(allowed.shape, generator=luck) + allowed
    sampled = draw.topk(min(keys_per_query, allowed.shape[1]), dim=-1).indices
    return torch.zeros_like(allowed).scatter(-1, sampled, True) & allowed
