"""A model's predictions for the next or a masked token as probabilities, and how an intervention changed them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.core.measures import total_variation
from attnviz.models.capture.head_selection import wide
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.residual import Residual


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
    if top_k is not None and top_k < 1:
        raise Problem("top_k={top_k} must be at least 1", top_k=top_k)
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if temperature == 0:
        best = wide.argmax(-1, keepdim=True)
        return torch.zeros_like(wide).scatter(-1, best, 1.0)
    if top_k is not None and top_k < wide.shape[-1]:
        kept = wide.topk(top_k, -1)
        wide = torch.full_like(wide, -torch.inf).scatter(-1, kept.indices, kept.values)
    return ((wide - wide.amax(-1, keepdim=True)) / temperature).softmax(-1)


def guesses(logits: Tensor, n: int = 10, temperature: float = 1.0, top_k: int | None = None) -> list[Guess]:
    """The `n` most likely tokens for one position's logits (V,), best first, without tokens of probability 0."""
    chances = probabilities(_one(logits), temperature, top_k)
    best = chances.topk(min(n, len(chances)))
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return [Guess(token, chance) for token, chance in pairs if chance > 0]


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


@dataclass(frozen=True, eq=False)
class LogitAttribution:
    """A logit, or the lead of one over another, taken apart: `attention` is the part that all attention layers add."""

    heads: Tensor  #: (B, L, H); NaN where a layer has fewer heads
    biases: Tensor  #: (B, L): of the output projections' biases
    layers: tuple[str, ...] = ()  #: the layers' dotted names

    @property
    def attention(self) -> Tensor:
        """(B,)"""
        total: Tensor = self.heads.nansum((1, 2)) + self.biases.sum(1)
        return total

    def top(self, n: int = 5, row: int = 0) -> list[tuple[int, int, float]]:
        """(layer, head, what it adds) of the heads that add most, up or down."""
        flat = self.heads[row].flatten()
        order = flat.nan_to_num(0.0).abs().argsort(descending=True)[:n].tolist()
        width = self.heads.shape[2]
        return [(place // width, place % width, float(flat[place])) for place in order]


def attribute(
    layers: tuple[RecordedLayer, ...],
    residual: Residual,
    token: int | Tensor,
    versus: int | Tensor | None,
    positions: Tensor,
) -> LogitAttribution:
    """The contributions at one position of each row, the final norm's scale held fixed."""
    if residual.path is None:
        raise Problem("a logit of this model cannot be taken apart by heads: {why}", why=residual.why)
    length = residual.path.scale.shape[1]
    if not 0 <= int(positions.min()) <= int(positions.max()) < length:
        raise Problem(
            "position={position} must be from 0 to {last}", position=positions.flatten()[0].item(), last=length - 1
        )
    direction = residual.path.direction(token, versus, positions)  # (B, M)
    widest = max(layer.n_heads for layer in layers)
    heads, biases = [], []
    for layer in layers:
        assert layer.w_o is not None
        through = (direction @ wide(layer.w_o)).unflatten(1, (layer.n_heads, -1))  # (B, H, Dv)
        added = (_at(layer, positions) * through).sum(-1)  # (B, H)
        heads.append(torch.nn.functional.pad(added, (0, widest - layer.n_heads), value=torch.nan))
        biases.append(direction.new_zeros(len(direction)) if layer.b_o is None else direction @ wide(layer.b_o))
    return LogitAttribution(torch.stack(heads, 1), torch.stack(biases, 1), tuple(layer.name for layer in layers))


def _at(layer: RecordedLayer, positions: Tensor) -> Tensor:
    """Each head's output at one position of each row, (B, H, Dv)."""
    first, last = int(positions.min()), int(positions.max())
    found = layer.cropped(slice(first, last + 1), slice(None)).head_outputs()
    return found[torch.arange(len(found), device=found.device), :, positions - first]
