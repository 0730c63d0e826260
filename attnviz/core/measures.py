"""What a matrix of attention weights is like, in numbers: how spread, how far, at which tokens.

Everything takes weights (..., Q, K), any leading dimensions (layers, heads) at once. A measure of
rows comes back as (..., Q), and `over_rows` averages it to one number per matrix. A row of which
the question makes no sense (no key may be seen, no earlier token to point at) is NaN and is left
out of averages. Query positions are the last Q of the K positions, as when decoding with a cache; where
queries and keys are two different sentences, distances and neighbours mean nothing, and the rest holds.

Where sentences of different lengths share a batch, `keys`, boolean (..., K), is False at padding. Positions are
then counted in real tokens, and a measure is what it would be had the padding never been there.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.core.message import Problem


def over_rows(values: Tensor, rows: Tensor | None = None) -> Tensor:
    """Mean of (..., Q) over the rows that have a value, (...); NaN where none has.

    `rows`, boolean and broadcast to (..., Q), narrows it: real tokens rather than padding.
    """
    if rows is not None:
        values = values.masked_fill(~rows, torch.nan)
    return values.nanmean(-1)


def distribution(weights: Tensor) -> Tensor:
    """Rows scaled to sum to 1, in at least float32, so that a sink's share is not looked at; rows of zeros are NaN."""
    wide = weights.to(torch.promote_types(weights.dtype, torch.float32))
    return wide / wide.sum(-1, keepdim=True)


def entropy(weights: Tensor) -> Tensor:
    """Entropy of each row in nats, (..., Q): 0 = all on one key, ln n = even over n keys.

    -sum p ln p, where p is the row's `distribution`: for weights w with sum s, ln s - sum w ln w / s.
    """
    wide = weights.to(torch.promote_types(weights.dtype, torch.float32))
    total = wide.sum(-1)
    found: Tensor = total.log() - torch.special.xlogy(wide, wide).sum(-1) / total
    return found.clamp_min(0.0)


def entropy_share(weights: Tensor, mask: Tensor | None = None) -> Tensor:
    """Entropy as a share of the most the mask allows, ln(keys the row may see), (..., Q), from 0 to 1.

    NaN in a row that may see one key or none: it has nothing to choose between.
    """
    return _share_of_most(entropy(weights), _keys_allowed(weights, mask))


def _share_of_most(spread: Tensor, n: Tensor) -> Tensor:
    """Entropy (..., Q) as a share of ln n."""
    most = n.to(spread.dtype).log().masked_fill(n < 2, torch.nan)
    return (spread / most).clamp_max(1.0)


def effective_keys(weights: Tensor) -> Tensor:
    """exp(entropy), (..., Q): how many keys, evenly attended to, would be as spread. From 1 to K."""
    return entropy(weights).exp()


def largest_weight(weights: Tensor) -> Tensor:
    """The biggest weight of each row, (..., Q), from 1/K (0 with sinks) to 1."""
    return _blank_empty(weights.amax(-1), weights)


def total_variation(p: Tensor, q: Tensor) -> Tensor:
    """How much of each row's weight changed place, (...) for rows (..., K): half the sum of |p - q|, 0 to 1."""
    return (p - q).abs().sum(-1) / 2


def mean_distance(weights: Tensor, keys: Tensor | None = None) -> Tensor:
    """How many positions away a row looks on average, (..., Q): sum p |query - key|, from 0 to K-1."""
    wide = weights.to(torch.promote_types(weights.dtype, torch.float32))
    return _dot(wide, _offsets(weights, wide.dtype, keys).abs_()) / wide.sum(-1)


def mass_on(weights: Tensor, targets: Tensor) -> Tensor:
    """Weight on the keys that `targets`, boolean and broadcast to (..., Q, K), marks: (..., Q), 0 to 1.

    NaN in a row that has no target or no key it may see.
    """
    mass = _dot(weights, targets)
    return _blank_empty(mass.masked_fill(~targets.any(-1), torch.nan), weights)


def offset_mass(weights: Tensor, offset: int, keys: Tensor | None = None) -> Tensor:
    """Weight on the key `offset` positions after the query (before it when negative), (..., Q), 0 to 1."""
    if keys is not None:
        there = _offsets(weights, torch.float32, keys) == offset
        return mass_on(weights, there & keys.unsqueeze(-2))
    q_len, k_len = weights.shape[-2:]
    diagonal = k_len - q_len + offset
    on = weights.diagonal(diagonal, -2, -1)
    first = max(0, -diagonal)
    mass = weights.new_full(weights.shape[:-1], torch.nan)
    mass[..., first : first + on.shape[-1]] = on
    return _blank_empty(mass, weights)


def previous_token_mass(weights: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight on the token just before, (..., Q), 0 to 1; the first position has none."""
    return offset_mass(weights, -1, keys)


def same_token_mass(weights: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight of each position on itself, (..., Q), 0 to 1."""
    return offset_mass(weights, 0, keys)


def next_token_mass(weights: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight on the token just after, (..., Q), 0 to 1; always 0 under a causal mask."""
    return offset_mass(weights, 1, keys)


def first_token_mass(weights: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight on the first key, the first that is no padding, (..., Q), 0 to 1."""
    if keys is not None:
        first = keys & (keys.cumsum(-1) == 1)
        return mass_on(weights, first.unsqueeze(-2))
    return _blank_empty(weights[..., 0], weights)


def duplicate_token_score(weights: Tensor, tokens: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight on earlier occurrences of the query's own token, (..., Q), 0 to 1.

    `tokens` are ids: (K,) for one sentence; for a batch (B, K), or (B, 1, K) where weights are (B, H, Q, K).
    NaN where the token had not occurred before.
    """
    return mass_on(weights, _seen_before(weights, tokens, keys))


def induction_score(weights: Tensor, tokens: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight on what followed earlier occurrences of the query's token ("A B ... A" looks at B), 0 to 1.

    Shapes as in `duplicate_token_score`. Where the token repeats at once, its follower is the query itself.
    """
    return mass_on(weights, _followers(_seen_before(weights, tokens, keys), keys))


@dataclass(frozen=True)
class HeadMeasures:
    """One number per head, all (...) = weights' leading shape; NaN where no row has an answer. See each function."""

    entropy: Tensor  #: nats
    entropy_share: Tensor  #: 0 to 1
    effective_keys: Tensor  #: 1 to K
    largest_weight: Tensor  #: 0 to 1
    mean_distance: Tensor  #: positions
    previous_token: Tensor  #: 0 to 1, as all below
    same_token: Tensor
    next_token: Tensor
    first_token: Tensor
    duplicate_token: Tensor | None = None  #: with tokens only
    induction: Tensor | None = None  #: with tokens only


def measure(
    weights: Tensor,
    mask: Tensor | None = None,
    tokens: Tensor | None = None,
    rows: Tensor | None = None,
    keys: Tensor | None = None,
) -> HeadMeasures:
    """Every measure of every matrix in weights (..., Q, K), averaged over rows (those in `rows`).

    `keys` tells real keys from padding; `rows` does the same for queries.
    """
    if keys is not None:
        weights = weights.masked_fill(~keys.unsqueeze(-2), 0)
        mask = keys.unsqueeze(-2) if mask is None else mask & keys.unsqueeze(-2)
    spread = entropy(weights)
    given = (
        spread,
        _share_of_most(spread, _keys_allowed(weights, mask)),
        spread.exp(),
        largest_weight(weights),
        mean_distance(weights, keys),
        previous_token_mass(weights, keys),
        same_token_mass(weights, keys),
        next_token_mass(weights, keys),
        first_token_mass(weights, keys),
    )
    scores: tuple[Tensor, ...] = ()
    if tokens is not None:
        seen = _seen_before(weights, tokens, keys)
        scores = (mass_on(weights, seen), mass_on(weights, _followers(seen, keys)))
    return HeadMeasures(*(over_rows(value, rows) for value in given + scores))


def _dot(weights: Tensor, table: Tensor) -> Tensor:
    """Sum over keys of weights (..., Q, K) times a table that broadcasts to them, (..., Q)."""
    return torch.einsum("...qk,...qk->...q", weights, table.to(weights.dtype))


def _blank_empty(values: Tensor, weights: Tensor) -> Tensor:
    """NaN in the rows of (..., Q) that gave no weight at all."""
    return values.masked_fill(weights.sum(-1) == 0, torch.nan)


def _keys_allowed(weights: Tensor, mask: Tensor | None) -> Tensor:
    """How many keys each row may see, broadcast to (..., Q)."""
    if mask is None:
        return torch.full(weights.shape[:-1], weights.shape[-1], device=weights.device)
    return mask.sum(-1).expand(weights.shape[:-1]) if mask.shape[-1] > 1 else mask.expand_as(weights).sum(-1)


def _offsets(weights: Tensor, dtype: torch.dtype, real: Tensor | None = None) -> Tensor:
    """Key position minus query position, (Q, K) or (..., Q, K); the last query stands at the last key."""
    q_len, k_len = weights.shape[-2:]
    places = torch.arange(k_len, device=weights.device, dtype=dtype) if real is None else real.cumsum(-1, dtype=dtype)
    return places.unsqueeze(-2) - places[..., k_len - q_len :].unsqueeze(-1)


def _seen_before(weights: Tensor, tokens: Tensor, keys: Tensor | None) -> Tensor:
    """True where the key is an earlier occurrence of the query's token, (..., Q, K)."""
    q_len, k_len = weights.shape[-2:]
    tokens = _beside(weights, tokens)
    asked = tokens[..., k_len - q_len :]  # (..., Q)
    seen = (asked.unsqueeze(-1) == tokens.unsqueeze(-2)).tril(k_len - q_len - 1)
    return seen if keys is None else seen & keys.unsqueeze(-2)


def _followers(seen: Tensor, keys: Tensor | None) -> Tensor:
    """True where the key is the next real one after a key that `seen` marks."""
    if keys is None:
        return torch.nn.functional.pad(seen[..., :-1], (1, 0))
    positions = torch.arange(keys.shape[-1], device=keys.device)
    latest = torch.where(keys, positions, -1).cummax(-1).values
    before = torch.nn.functional.pad(latest[..., :-1], (1, 0), value=-1).unsqueeze(-2)  # the real key before each
    real = (before >= 0) & keys.unsqueeze(-2)
    seen = seen & torch.ones_like(real)
    return seen.gather(-1, before.clamp_min(0).expand_as(seen)) & real


def _beside(weights: Tensor, tokens: Tensor) -> Tensor:
    """Ids with the batch first, as weights have it: (B, K) becomes (B, 1, K) beside (B, H, Q, K)."""
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
