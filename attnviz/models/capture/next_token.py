"""A model's predictions for the next or a masked token as probabilities: drawn from, and before and after a change."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.base.message import Problem, require_at_least
from attnviz.core.measures import total_variation
from attnviz.models.capture.head_selection import wide


@dataclass(frozen=True)
class Guess:
    """A token and the probability that the model gives it."""

    token: int
    probability: float


@dataclass(frozen=True)
class Moved:
    """A token's probability before and after something was changed."""

    token: int
    before: float
    after: float


def probabilities(logits: Tensor, temperature: float = 1.0, top_k: int | None = None) -> Tensor:
    """Logits (..., V) as probabilities. Temperature 0 gives the best token everything; `top_k` keeps the best few."""
    if not temperature >= 0 or temperature == float("inf"):
        raise Problem("temperature={temperature} must be 0 or a positive number", temperature=temperature)
    if top_k is not None:
        require_at_least("top_k", top_k, 1)
    scores = wide(logits)
    if temperature == 0:
        return torch.zeros_like(scores).scatter(-1, scores.argmax(-1, keepdim=True), 1.0)
    if top_k is not None and top_k < scores.shape[-1]:
        kept = scores.topk(top_k, -1)
        scores = torch.full_like(scores, -torch.inf).scatter(-1, kept.indices, kept.values)
    return ((scores - scores.amax(-1, keepdim=True)) / temperature).softmax(-1)


def guesses(logits: Tensor, n: int = 10, temperature: float = 1.0, top_k: int | None = None) -> list[Guess]:
    """The `n` most likely tokens for one position's logits (V,), best first, without tokens of probability 0."""
    chances = probabilities(_one(logits), temperature, top_k)
    best = chances.topk(min(n, len(chances)))
    return [Guess(i, p) for i, p in zip(best.indices.tolist(), best.values.tolist(), strict=True) if p > 0]


def moved(before: Tensor, after: Tensor, n: int = 10, n_after: int | None = None) -> list[Moved]:
    """The likeliest tokens before and after a change, logits (V,) each, in order of their probability before.

    Takes the `n` likeliest tokens before, and the `n_after` (by default `n`) likeliest after.
    """
    one, other = probabilities(_one(before).double()), probabilities(_one(after).double())
    most, most_after = (min(each, len(one)) for each in (n, n if n_after is None else n_after))
    tokens = torch.cat([one.topk(most).indices, other.topk(most_after).indices]).unique()
    tokens = tokens[one[tokens].argsort(descending=True)]
    return [Moved(token, one[token].item(), other[token].item()) for token in tokens.tolist()]


def probability_moved(before: Tensor, after: Tensor) -> float:
    """Total variation between the probabilities of two sets of logits (V,): the share that moved, 0 to 1."""
    return float(total_variation(probabilities(_one(before)), probabilities(_one(after))))


def _one(logits: Tensor) -> Tensor:
    if logits.dim() != 1:
        raise Problem("logits have shape {shape}; one position's have shape (V,)", shape=tuple(logits.shape))
    return logits


def sampler(temperature: float = 0.0, seed: int = 0) -> Callable[[Tensor], int]:
    """A function that chooses a token from logits (V,), V being the size of the vocabulary.

    It takes the most likely token at temperature 0, otherwise a random one; the same seed repeats its choices.
    """
    source = torch.Generator().manual_seed(seed)
    return lambda logits: int(torch.multinomial(probabilities(logits, temperature).cpu(), 1, generator=source))
