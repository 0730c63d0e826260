"""Which keys a measure looks for in each row of attention weights: how far a key is, whether its token came before."""

from __future__ import annotations

import torch
from torch import Tensor

from attnviz.core.message import Problem


def offsets(weights: Tensor, dtype: torch.dtype, real: Tensor | None = None) -> Tensor:
    """Key position minus query position, (Q, K) or (..., Q, K); the last query is at the position of the last key."""
    q_len, k_len = weights.shape[-2:]
    places = torch.arange(k_len, device=weights.device, dtype=dtype) if real is None else real.cumsum(-1, dtype=dtype)
    return places.unsqueeze(-2) - places[..., k_len - q_len :].unsqueeze(-1)


def seen_before(weights: Tensor, tokens: Tensor, keys: Tensor | None) -> Tensor:
    """True where the key is an earlier occurrence of the query's token, (..., Q, K)."""
    q_len, k_len = weights.shape[-2:]
    tokens = _beside(weights, tokens)
    asked = tokens[..., k_len - q_len :]  # (..., Q)
    seen = (asked.unsqueeze(-1) == tokens.unsqueeze(-2)).tril(k_len - q_len - 1)
    return seen if keys is None else seen & keys.unsqueeze(-2)


def followers(seen: Tensor, keys: Tensor | None) -> Tensor:
    """True where the key comes just after a key that `seen` marks, padding left out, (..., Q, K)."""
    if keys is None:
        return torch.nn.functional.pad(seen[..., :-1], (1, 0))
    positions = torch.arange(keys.shape[-1], device=keys.device)
    latest = torch.where(keys, positions, -1).cummax(-1).values
    before = torch.nn.functional.pad(latest[..., :-1], (1, 0), value=-1).unsqueeze(-2)  # the real key before each
    real = (before >= 0) & keys.unsqueeze(-2)
    seen = seen & torch.ones_like(real)
    return seen.gather(-1, before.clamp_min(0).expand_as(seen)) & real


def _beside(weights: Tensor, tokens: Tensor) -> Tensor:
    """Ids in a shape that broadcasts to the weights, batch first: (B, K) becomes (B, 1, K) for (B, H, Q, K)."""
    lead = weights.shape[:-2]
    if tokens.dim() > 1:
        missing = max(0, len(lead) + 1 - tokens.dim())
        tokens = tokens.reshape(*tokens.shape[:-1], *(1,) * missing, tokens.shape[-1])
    around = zip(reversed(tokens.shape[:-1]), reversed(lead), strict=False)
    fits = tokens.shape[-1] == weights.shape[-1] and tokens.dim() <= len(lead) + 1
    if not fits or any(have not in (1, want) for have, want in around):
        raise Problem(
            "token ids have shape {shape}; beside weights of shape {weights} they must be (K,) for one sentence, "
            "or have the batch first",
            shape=tuple(tokens.shape),
            weights=tuple(weights.shape),
        )
    return tokens
