"""Numbers that describe attention weights: how spread out they are, how far they look, and at which tokens.

Every function takes weights (..., Q, K) with any leading dimensions (layers, heads). A measure has one
value per row, (..., Q), and `mean_over_rows` averages it to one number per matrix. Rows for which a measure is
undefined (no key may be seen, no earlier token to point at) are NaN and are left out of averages. Query
positions are the last Q of the K positions, as when decoding with a cache. Where queries and keys are two
different sentences, measures of distance and of neighbouring tokens are meaningless; the others are valid.

In a padded batch, `keys`, boolean (..., K), is False at padding. Positions then count real tokens only, so that a
measure of a padded sentence equals that of the sentence alone.
"""

from typing import Literal

import torch
from torch import Tensor

from attnviz.base.message import Problem, require_between


def mean_over_rows(values: Tensor, rows: Tensor | None = None) -> Tensor:
    """Mean of values (..., Q) over the rows that are not NaN, (...); NaN where all are.

    `rows`, boolean and broadcast to (..., Q), selects the rows to average, such as those of real tokens.
    """
    if rows is not None:
        values = values.masked_fill(~rows, torch.nan)
    return values.nanmean(-1)


def entropy(weights: Tensor) -> Tensor:
    """Entropy of each row in nats, (..., Q): 0 when all weight is on one key, ln n when even over n keys.

    This is -sum p ln p, where p is the row scaled to sum to 1, which leaves out the share of a sink. It is computed as
    ln s - sum w ln w / s for weights w with sum s. A weight of 0 counts as the smallest above 0, which adds nothing;
    torch's own x ln x is far slower.
    """
    wide = weights.to(torch.promote_types(weights.dtype, torch.float32))
    total = wide.sum(-1)
    logarithms = wide.clamp_min(torch.finfo(wide.dtype).tiny).log_()
    return (total.log() - weighted_sum(wide, logarithms) / total).clamp_min(0.0)


def entropy_of_scores(scores: Tensor, weights: Tensor) -> Tensor:
    """Entropy (..., Q) of weights = softmax(scores), in far fewer passes than from the weights: no logarithm is taken.

    With s the score below the largest, it is -sum w s - ln of the largest weight. Scores must be finite.
    """
    below = scores - scores.amax(-1, keepdim=True)
    return (-weighted_sum(weights, below) - weights.amax(-1).log()).clamp_min(0.0)


def entropy_share(weights: Tensor, mask: Tensor | None = None) -> Tensor:
    """Entropy divided by the largest that the mask allows, ln(keys the row may see), (..., Q), from 0 to 1.

    NaN in a row that may see at most one key, because there is nothing to choose between.
    """
    return entropy_over_largest(entropy(weights), count_allowed_keys(weights, mask))


def entropy_over_largest(spread: Tensor, n: Tensor) -> Tensor:
    """Entropy (..., Q) divided by ln n, where n (..., Q) counts the keys a row may see; NaN where n is below 2."""
    most = n.to(spread.dtype).log().masked_fill(n < 2, torch.nan)
    return (spread / most).clamp_max(1.0)


def effective_keys(weights: Tensor) -> Tensor:
    """exp(entropy), (..., Q): the number of equally weighted keys that would have the same entropy. From 1 to K."""
    return entropy(weights).exp()


def jacobian_norm(weights: Tensor) -> Tensor:
    """Frobenius norm of softmax's Jacobian, diag(p) - p pT, for each row p of weights (..., n); no matrix is made."""
    square, cube = weights.square().sum(-1), weights.pow(3).sum(-1)
    return (square - 2 * cube + square**2).clamp_min(0).sqrt()


def kurtosis(values: Tensor) -> Tensor:
    """Excess kurtosis over the last axis, NaN left out, (...): 0 of a normal distribution, large if few stick out."""
    below = values - values.nanmean(-1, keepdim=True)
    return below.pow(4).nanmean(-1) / below.square().nanmean(-1).square() - 3


def total_variation(p: Tensor, q: Tensor) -> Tensor:
    """How much weight moved between rows p and q (..., K): half the sum of |p - q|, (...), from 0 to 1."""
    return (p - q).abs().sum(-1) / 2


def weight_moved(before: Tensor, after: Tensor) -> Tensor:
    """How much of a head's weight (..., Q, K) moved to other keys, (...), from 0 to 1: the mean over all rows.

    A row that may see one key counts as unmoved, as it counts in full where a weight on its only key is averaged.
    """
    return total_variation(before, after).mean(-1)


def mass_on(weights: Tensor, targets: Tensor) -> Tensor:
    """Total weight on the keys where `targets` is True, (..., Q), 0 to 1; `targets` broadcasts to (..., Q, K).

    NaN in a row that has no target or may see no key.
    """
    return weighted_sum(weights, targets).masked_fill(~targets.any(-1) | (weights.sum(-1) == 0), torch.nan)


def offset_mass(weights: Tensor, offset: int, keys: Tensor | None = None) -> Tensor:
    """Weight on the key `offset` positions after the query (before it when negative), (..., Q), 0 to 1.

    NaN where there is no such key.
    """
    return mass_on(weights, at_offset(weights, offset, keys))


def previous_token_mass(weights: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight on the token just before, (..., Q), 0 to 1; NaN where no token comes before."""
    return offset_mass(weights, -1, keys)


def first_token_mass(weights: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight on the first key that is not padding, (..., Q), 0 to 1."""
    return mass_on(weights, first_keys(weights, keys))


def duplicate_token_score(weights: Tensor, tokens: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight on earlier occurrences of the query's own token, (..., Q), 0 to 1.

    `tokens` are ids: (K,) for one sentence; for a batch (B, K), or (B, 1, K) where weights are (B, H, Q, K).
    NaN where the token has not occurred before.
    """
    return mass_on(weights, earlier_occurrences(weights, tokens, keys))


def induction_score(weights: Tensor, tokens: Tensor, keys: Tensor | None = None) -> Tensor:
    """Weight on the tokens that followed earlier occurrences of the query's token, (..., Q), 0 to 1.

    In "A B ... A", the second A should look at B. `tokens` as in `duplicate_token_score`. Where a token is
    repeated immediately, the token that followed the first occurrence is the query itself.
    """
    return mass_on(weights, followers(earlier_occurrences(weights, tokens, keys), keys))


def weighted_sum(weights: Tensor, table: Tensor) -> Tensor:
    """Sum over keys of weights (..., K) times `table`, which broadcasts to the weights: (...)."""
    return torch.einsum("...k,...k->...", weights, table.to(weights.dtype))


def count_allowed_keys(weights: Tensor, mask: Tensor | None) -> Tensor:
    """Number of keys that each row may see, broadcast to (..., Q)."""
    if mask is None:
        return torch.full(weights.shape[:-1], weights.shape[-1], device=weights.device)
    return mask.sum(-1).expand(weights.shape[:-1]) if mask.shape[-1] > 1 else mask.expand_as(weights).sum(-1)


def key_offsets(weights: Tensor, dtype: torch.dtype, real: Tensor | None = None) -> Tensor:
    """Key position minus query position, (Q, K) or (..., Q, K); the last query is at the position of the last key."""
    q_len, k_len = weights.shape[-2:]
    places = torch.arange(k_len, device=weights.device, dtype=dtype) if real is None else real.cumsum(-1, dtype=dtype)
    return places.unsqueeze(-2) - places[..., k_len - q_len :].unsqueeze(-1)


def at_offset(weights: Tensor, offset: int, keys: Tensor | None) -> Tensor:
    """True at the key `offset` positions after the query, (Q, K) or (..., Q, K)."""
    matches = key_offsets(weights, torch.float32, keys) == offset
    return matches if keys is None else matches & keys.unsqueeze(-2)


def first_keys(weights: Tensor, keys: Tensor | None) -> Tensor:
    """True at the first key that is not padding, (1, K) or (..., 1, K)."""
    real = weights.new_ones(weights.shape[-1:], dtype=torch.bool) if keys is None else keys
    return (real & (real.cumsum(-1) == 1)).unsqueeze(-2)


def earlier_occurrences(weights: Tensor, tokens: Tensor, keys: Tensor | None) -> Tensor:
    """True where the key is an earlier occurrence of the query's token, (..., Q, K)."""
    q_len, k_len = weights.shape[-2:]
    tokens = _beside(weights, tokens)
    query_tokens = tokens[..., k_len - q_len :]  # (..., Q)
    occurrences = (query_tokens.unsqueeze(-1) == tokens.unsqueeze(-2)).tril(k_len - q_len - 1)
    return occurrences if keys is None else occurrences & keys.unsqueeze(-2)


def followers(marked: Tensor, keys: Tensor | None) -> Tensor:
    """True where the key comes just after a key that `seen` marks, padding left out, (..., Q, K)."""
    if keys is None:
        return torch.nn.functional.pad(marked[..., :-1], (1, 0))
    latest = torch.where(keys, torch.arange(keys.shape[-1], device=keys.device), -1).cummax(-1).values
    before = torch.nn.functional.pad(latest[..., :-1], (1, 0), value=-1).unsqueeze(-2)  # the real key before each
    real = (before >= 0) & keys.unsqueeze(-2)
    marked = marked & torch.ones_like(real)
    return marked.gather(-1, before.clamp_min(0).expand_as(marked)) & real


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


# Attention through all layers at once: rollout (Abnar & Zuidema 2020, arXiv 2005.00928).
Heads = Literal["mean", "max", "min"]


def join_heads(weights: Tensor, heads: Heads = "mean") -> Tensor:
    """The heads of one layer as one: weights (..., H, T, T) -> (..., 1, T, T)."""
    if heads == "mean":
        return weights.mean(-3, keepdim=True)
    return weights.amax(-3, keepdim=True) if heads == "max" else weights.amin(-3, keepdim=True)


def layer_mix(weights: Tensor, residual: float = 0.5, heads: Heads = "mean") -> Tensor:
    """One matrix per layer, residual stream included: weights (..., H, T, T) -> (..., T, T), rows sum to 1.

    The result is (1 - residual) * combined heads + residual * identity, with each row scaled to sum to 1. The
    residual stream carries every token forward at its own position; 0.5 gives it the same share as attention.
    """
    if weights.shape[-1] != weights.shape[-2]:
        raise Problem(
            "weights have {q} queries and {k} keys; following attention through layers needs as many of both",
            q=weights.shape[-2],
            k=weights.shape[-1],
        )
    require_between("residual", residual, 0, 1)
    joined = join_heads(weights, heads).squeeze(-3)
    identity = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    mixed = (1 - residual) * joined + residual * identity
    total = mixed.sum(-1, keepdim=True)
    return torch.where(total > 0, mixed / total, identity)  # a row that may see no key keeps its own token


def rollout(weights: Tensor, residual: float = 0.5, heads: Heads = "mean") -> Tensor:
    """The share of each input token in each position after every layer, 0 to 1.

    weights (L, ..., H, T, T) -> (L, ..., T, T), rows sum to 1, with L layers. It is the running product of the
    layers' mixes: [l, ..., i, j] is the share of input token j in position i after layer l. It shows paths of
    attention, not causes, because values and FFNs are ignored.
    """
    mixes = layer_mix(weights, residual, heads)
    so_far = [mixes[0]]
    for mix in mixes[1:]:
        so_far.append(mix @ so_far[-1])
    return torch.stack(so_far)
