"""All measures of many heads at once, one number for each head, computed while the weights are made."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.core.key_intervals import followers, offsets, seen_before
from attnviz.core.measures import dot, entropy, keys_allowed, over_rows, share_of_most


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
        away = offsets(like, dtype, keys)
        marks: dict[str, Tensor] = {}
        if keys is not None:
            real = keys.unsqueeze(-2)
            marks = {name: (away == offset) & real for name, offset in NEIGHBOURS.items()}
            marks["first_token"] = (keys & (keys.cumsum(-1) == 1)).unsqueeze(-2)
        if tokens is not None:
            marks["duplicate_token"] = seen_before(like, tokens, keys)
            marks["induction"] = followers(marks["duplicate_token"], keys)
        q_len, k_len = like.shape[-2:]
        targets = {name: mark.to(dtype) for name, mark in marks.items()}
        return cls((q_len, k_len), away.abs(), targets, {name: mark.any(-1) for name, mark in marks.items()})

    def rows(self, weights: Tensor, allowed: Tensor, first: int = 0, key: int = 0) -> dict[str, Tensor]:
        """Every measure of some rows, (..., q), by its name: weights (..., q, k) begin at row `first` and at key `key`.

        `allowed` (..., q) counts the keys that each of these rows may see, all of which must be among the weights'.
        """
        wide = weights.to(torch.promote_types(weights.dtype, torch.float32))
        some, part = slice(first, first + wide.shape[-2]), slice(key, key + wide.shape[-1])
        total, spread = wide.sum(-1), entropy(wide)
        values = {
            "entropy": spread,
            "entropy_share": share_of_most(spread, allowed),
            "effective_keys": spread.exp(),
            "largest_weight": wide.amax(-1),
            "mean_distance": dot(wide, self.distance[..., some, part]) / total,
        }
        for name, offset in NEIGHBOURS.items():
            if name not in self.targets:
                values[name] = self._on_diagonal(wide, offset, first, key)
        if "first_token" not in self.targets:
            values["first_token"] = wide[..., 0] if key == 0 else torch.zeros_like(total)
        for name, target in self.targets.items():
            lines = some if target.shape[-2] > 1 else slice(None)
            missing = ~self.found[name][..., lines]
            values[name] = dot(wide, target[..., lines, part]).masked_fill(missing, torch.nan)
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
