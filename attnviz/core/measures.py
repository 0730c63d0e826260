"""Numbers that describe attention weights: how spread out they are, how far they look, and at which tokens.

Every function takes weights (..., Q, K) with any leading dimensions (layers, heads). A measure has one
value per row, (..., Q), and `over_rows` averages it to one number per matrix. Rows for which a measure is
undefined (no key may be seen, no earlier token to point at) are NaN and are left out of averages. Query
positions are the last Q of the K positions, as when decoding with a cache. Where queries and keys are two
different sentences, measures of distance and of neighbouring tokens are meaningless; the others are valid.

In a padded batch, `keys`, boolean (..., K), is False at padding. Positions then count real tokens only, so that a
measure of a padded sentence equals that of the sentence alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.core.message import Problem


def over_rows(values: Tensor, rows: Tensor | None = None) -> Tensor:
    """Mean of values (..., Q) over the rows that are not NaN, (...); NaN where all are.

    `rows`, boolean and broadcast to (..., Q), selects the rows to average, such as those of real tokens.
    """
    if rows is not None:
        values = values.masked_fill(~rows, torch.nan)
    return values.nanmean(-1)


def distribution(weights: Tensor) -> Tensor:
    """Rows scaled to sum to 1, in at least float32, which leaves out the share of a sink; rows of zeros become NaN."""
    wide = weights.to(torch.promote_types(weights.dtype, torch.float32))
    return wide / wide.sum(-1, keepdim=True)


def entropy(weights: Tensor) -> Tensor:
    """Entropy of each row in nats, (..., Q): 0 when all weight is on one key, ln n when even over n keys.

    This is -sum p ln p, where p is the row's `distribution`, computed as ln s - sum w ln w / s for weights w
    with sum s. A weight of 0 counts as the smallest above 0, which adds nothing; torch's own x ln x is far slower.
    """
    wide = weights.to(torch.promote_types(weights.dtype, torch.float32))
    total = wide.sum(-1)
    logarithms = wide.clamp_min(torch.finfo(wide.dtype).tiny).log_()
    return (total.log() - _dot(wide, logarithms) / total).clamp_min(0.0)


def entropy_share(weights: Tensor, mask: Tensor | None = None) -> Tensor:
    """Entropy divided by the largest that the mask allows, ln(keys the row may see), (..., Q), from 0 to 1.

    NaN in a row that may see at most one key, because there is nothing to choose between.
    """
    return _share_of_most(entropy(weights), keys_allowed(weights, mask))


def _share_of_most(spread: Tensor, n: Tensor) -> Tensor:
    """Entropy (..., Q) divided by ln n, where n (..., Q) counts the keys a row may see; NaN where n is below 2."""
    most = n.to(spread.dtype).log().masked_fill(n < 2, torch.nan)
    return (spread / most).clamp_max(1.0)


def effective_keys(weights: Tensor) -> Tensor:
    """exp(entropy), (..., Q): the number of equally weighted keys that would have the same entropy. From 1 to K."""
    return entropy(weights).exp()


def largest_weight(weights: Tensor) -> Tensor:
    """The biggest weight of each row, (..., Q), from 1/K (0 with sinks) to 1."""
    return _blank_empty(weights.amax(-1), weights)


def total_variation(p: Tensor, q: Tensor) -> Tensor:
    """How much weight moved between rows p and q (..., K): half the sum of |p - q|, (...), from 0 to 1."""
    return (p - q).abs().sum(-1) / 2


def mean_distance(weights: Tensor, keys: Tensor | None = None) -> Tensor:
    """Average distance that a row looks, in positions, (..., Q): sum p |query - key|, from 0 to K-1."""
    wide = weights.to(torch.promote_types(weights.dtype, torch.float32))
    return _dot(wide, _offsets(weights, wide.dtype, keys).abs_()) / wide.sum(-1)


def mass_on(weights: Tensor, targets: Tensor) -> Tensor:
    """Total weight on the keys where `targets` is True, (..., Q), 0 to 1; `targets` broadcasts to (..., Q, K).

    NaN in a row that has no target or may see no key.
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
    """Weight on the token just before, (..., Q), 0 to 1; NaN where no token comes before."""
    return offset_mass(weights, -1, keys)


def same_token_mass(weights: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight of each position on itself, (..., Q), 0 to 1."""
    return offset_mass(weights, 0, keys)


def next_token_mass(weights: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight on the token just after, (..., Q), 0 to 1; NaN where there is none, otherwise 0 under a causal mask."""
    return offset_mass(weights, 1, keys)


def first_token_mass(weights: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight on the first key that is not padding, (..., Q), 0 to 1."""
    if keys is not None:
        first = keys & (keys.cumsum(-1) == 1)
        return mass_on(weights, first.unsqueeze(-2))
    return _blank_empty(weights[..., 0], weights)


def duplicate_token_score(weights: Tensor, tokens: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight on earlier occurrences of the query's own token, (..., Q), 0 to 1.

    `tokens` are ids: (K,) for one sentence; for a batch (B, K), or (B, 1, K) where weights are (B, H, Q, K).
    NaN where the token has not occurred before.
    """
    return mass_on(weights, _seen_before(weights, tokens, keys))


def induction_score(weights: Tensor, tokens: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight on the tokens that followed earlier occurrences of the query's token, (..., Q), 0 to 1.

    In "A B ... A", the second A should look at B. `tokens` as in `duplicate_token_score`. Where a token is
    repeated immediately, the token that followed the first occurrence is the query itself.
    """
    return mass_on(weights, _followers(_seen_before(weights, tokens, keys), keys))


@dataclass(frozen=True)
class HeadMeasures:
    """One number per head: (...), the leading shape of the weights; NaN where the measure is undefined in every row.

    Each field is the row average of the function of the same name.
    """

    entropy: Tensor  #: nats
    entropy_share: Tensor  #: 0 to 1
    effective_keys: Tensor  #: 1 to K
    largest_weight: Tensor  #: 0 to 1
    mean_distance: Tensor  #: positions
    previous_token: Tensor  #: 0 to 1, like all fields below
    same_token: Tensor
    next_token: Tensor
    first_token: Tensor
    duplicate_token: Tensor | None = None  #: None unless `tokens` were given
    induction: Tensor | None = None  #: None unless `tokens` were given


def measure(
    weights: Tensor,
    mask: Tensor | None = None,
    tokens: Tensor | None = None,
    rows: Tensor | None = None,
    keys: Tensor | None = None,
) -> HeadMeasures:
    """Every measure of every matrix in weights (..., Q, K), averaged over rows, or over those where `rows` is True.

    In a padded batch, `rows` is False at padding queries and `keys` at padding keys.
    """
    if keys is not None:
        weights = weights.masked_fill(~keys.unsqueeze(-2), 0)
        mask = keys.unsqueeze(-2) if mask is None else mask & keys.unsqueeze(-2)
    yardstick = Yardstick.of(weights, tokens, keys)
    return yardstick.averaged(yardstick.rows(weights, keys_allowed(weights, mask)), rows)


@dataclass(frozen=True)
class Yardstick:
    """What the keys of one sentence are to its rows: made once, and held against every head of every layer.

    Weights may come in parts, some rows at a time and without the keys that none of these rows sees: what is computed
    from a part while it lies in the processor's cache costs a fraction of what it costs later.
    """

    shape: tuple[int, int]  #: (Q, K)
    distance: Tensor  #: (..., Q, K) positions between query and key
    targets: dict[str, Tensor]  #: measure -> (..., Q, K), 1 where the measure counts a key's weight
    found: dict[str, Tensor]  #: the same measures -> (..., Q), False where a row has no such key

    @classmethod
    def of(cls, like: Tensor, tokens: Tensor | None = None, keys: Tensor | None = None) -> Yardstick:
        """For weights shaped `like` (..., Q, K); `tokens` and `keys` as in `measure`."""
        dtype = torch.promote_types(like.dtype, torch.float32)
        offsets = _offsets(like, dtype, keys)
        marks: dict[str, Tensor] = {}
        if keys is not None:
            real = keys.unsqueeze(-2)
            marks = {name: (offsets == offset) & real for name, offset in NEIGHBOURS.items()}
            marks["first_token"] = (keys & (keys.cumsum(-1) == 1)).unsqueeze(-2)
        if tokens is not None:
            marks["duplicate_token"] = _seen_before(like, tokens, keys)
            marks["induction"] = _followers(marks["duplicate_token"], keys)
        q_len, k_len = like.shape[-2:]
        targets = {name: mark.to(dtype) for name, mark in marks.items()}
        return cls((q_len, k_len), offsets.abs(), targets, {name: mark.any(-1) for name, mark in marks.items()})

    def rows(self, weights: Tensor, allowed: Tensor, first: int = 0, key: int = 0) -> dict[str, Tensor]:
        """Every measure of some rows, (..., q), by its name: weights (..., q, k) begin at row `first` and at key `key`.

        `allowed` (..., q) counts the keys that each of these rows may see, all of which must be among the weights'.
        """
        wide = weights.to(torch.promote_types(weights.dtype, torch.float32))
        some, part = slice(first, first + wide.shape[-2]), slice(key, key + wide.shape[-1])
        total, spread = wide.sum(-1), entropy(wide)
        values = {
            "entropy": spread,
            "entropy_share": _share_of_most(spread, allowed),
            "effective_keys": spread.exp(),
            "largest_weight": wide.amax(-1),
            "mean_distance": _dot(wide, self.distance[..., some, part]) / total,
        }
        for name, offset in NEIGHBOURS.items():
            if name not in self.targets:
                values[name] = self._on_diagonal(wide, offset, first, key)
        if "first_token" not in self.targets:
            values["first_token"] = wide[..., 0] if key == 0 else torch.zeros_like(total)
        for name, target in self.targets.items():
            lines = some if target.shape[-2] > 1 else slice(None)
            missing = ~self.found[name][..., lines]
            values[name] = _dot(wide, target[..., lines, part]).masked_fill(missing, torch.nan)
        return {name: value.masked_fill(total == 0, torch.nan) for name, value in values.items()}

    def _on_diagonal(self, weights: Tensor, offset: int, first: int, key: int) -> Tensor:
        """Weight on the key `offset` positions after each query; 0 where it is no part of these, NaN where none is."""
        q_len, k_len = self.shape
        targets = torch.arange(first, first + weights.shape[-2], device=weights.device) + (k_len - q_len + offset)
        here = targets - key
        inside = (here >= 0) & (here < weights.shape[-1])
        at = here.clamp(0, weights.shape[-1] - 1).expand(weights.shape[:-1]).unsqueeze(-1)
        mass = weights.gather(-1, at).squeeze(-1).masked_fill(~inside, 0.0)
        return mass.masked_fill((targets < 0) | (targets >= k_len), torch.nan)

    def averaged(self, values: dict[str, Tensor], rows: Tensor | None = None) -> HeadMeasures:
        """The mean over all rows, or over those where `rows` is True, of what `rows` found."""
        return HeadMeasures(**{name: over_rows(value, rows) for name, value in values.items()})


#: measure of a neighbouring token -> how many positions after the query it is
NEIGHBOURS = {"previous_token": -1, "same_token": 0, "next_token": 1}


def _dot(weights: Tensor, table: Tensor) -> Tensor:
    """Sum over keys of weights (..., K) times `table`, which broadcasts to the weights: (...)."""
    return torch.einsum("...k,...k->...", weights, table.to(weights.dtype))


def _blank_empty(values: Tensor, weights: Tensor) -> Tensor:
    """`values` (..., Q), replaced by NaN in rows whose weights are all 0."""
    return values.masked_fill(weights.sum(-1) == 0, torch.nan)


def keys_allowed(weights: Tensor, mask: Tensor | None) -> Tensor:
    """Number of keys that each row may see, broadcast to (..., Q)."""
    if mask is None:
        return torch.full(weights.shape[:-1], weights.shape[-1], device=weights.device)
    return mask.sum(-1).expand(weights.shape[:-1]) if mask.shape[-1] > 1 else mask.expand_as(weights).sum(-1)


def _offsets(weights: Tensor, dtype: torch.dtype, real: Tensor | None = None) -> Tensor:
    """Key position minus query position, (Q, K) or (..., Q, K); the last query is at the position of the last key."""
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
