"""Which positions a cache keeps when it may hold only so many: full, window, sinks and window, heavy hitters, random.

At each decoding step the newest token enters and, where the budget is spent, another one is evicted for good; the
newest always stays. A budget counts the newest token, so that attention never sees more keys than the budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from attnviz.base.message import Problem, Several

EvictionKind = Literal["full", "window", "sinks", "heavy", "random"]
EVICTION_KINDS: tuple[EvictionKind, ...] = get_args(EvictionKind)
SINKS = 4  #: first tokens that "sinks" keeps, as StreamingLLM does


@dataclass(frozen=True)
class Eviction:
    """A policy and the number of positions that it may keep. `seed` is that of "random"."""

    kind: EvictionKind
    budget: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in EVICTION_KINDS:
            raise Problem("kind={kind} is not one of {known}", kind=repr(self.kind), known=Several(EVICTION_KINDS))
        if self.budget < 1:
            raise Problem("budget={budget} must be at least 1 position", budget=self.budget)

    @property
    def looks(self) -> bool:
        """Whether the policy looks at the attention weights."""
        return self.kind == "heavy"


def kept_by_position(policy: Eviction, prompt: int, total: int) -> Tensor:
    """Boolean (total - prompt, total): what each decoded token sees, for policies that look at positions only.

    Row r is the token at position prompt + r; the prompt before it was processed whole.
    """
    rows, columns = torch.arange(prompt, total)[:, None], torch.arange(total)[None]
    past = columns <= rows
    budget = policy.budget
    if policy.kind == "full":
        return past
    if policy.kind == "window":
        return past & (columns > rows - budget)
    if policy.kind == "sinks":
        sinks = min(SINKS, budget - 1)
        return past & ((columns < sinks) | (columns > rows - (budget - sinks)))
    if policy.kind == "random":
        return past & _best_of_past(_lots(total, policy.seed), rows, budget)
    raise Problem("{kind} looks at the weights: use HeavyHitters", kind=policy.kind)


def _lots(total: int, seed: int) -> Tensor:
    """(total,): a lot drawn for each position; the same for every number of positions."""
    return torch.stack(
        [torch.rand((), generator=torch.Generator().manual_seed(seed * 65_537 + n)) for n in range(total)]
    )


def _best_of_past(lots: Tensor, rows: Tensor, budget: int) -> Tensor:
    """Boolean (rows, total): each row's own position, and the budget - 1 largest lots before it.

    Who is among the largest of a growing past once left never comes back, so that this evicts for good.
    """
    columns = torch.arange(len(lots))[None]
    before = torch.where(columns < rows, lots[None], torch.tensor(-1.0))
    place = before.argsort(-1, descending=True).argsort(-1)
    return ((place < budget - 1) & (columns < rows)) | (columns == rows)


class HeavyHitters:
    """Keeps the newest half of the budget, and of the rest what has drawn most attention so far, for each K/V head.

    Weights of the query heads that share a K/V head are added up, since they share its cache. `seen` (G, prompt) is
    the attention that each position drew while the prompt was processed.
    """

    def __init__(self, budget: int, seen: Tensor, total: int) -> None:
        groups, prompt = seen.shape
        self.budget, self.recent = budget, (budget + 1) // 2
        self.drawn = torch.zeros(groups, total, dtype=seen.dtype)
        self.drawn[:, :prompt] = seen
        self.held = torch.zeros(groups, total, dtype=torch.bool)
        self.held[:, :prompt] = True

    def keep(self, position: int) -> Tensor:
        """Boolean (G, total): what the token at `position`, which enters now, may see."""
        self.held[:, position] = True
        old = self.held.clone()
        first_recent = max(0, position - self.recent + 1)
        old[:, first_recent:] = False
        room = max(0, self.budget - int(self.held[:, first_recent:].sum(-1).max()))
        strongest = self.drawn.masked_fill(~old, -1).argsort(dim=-1, descending=True, stable=True)[:, :room]
        kept = torch.zeros_like(self.held).scatter(-1, strongest, True) & old
        kept[:, first_recent : position + 1] = self.held[:, first_recent : position + 1]
        self.held = kept
        return kept.clone()

    def draw(self, weights: Tensor) -> None:
        """Add the weights (H, total) that the newest token gave."""
        self.drawn += weights.reshape(len(self.drawn), -1, weights.shape[-1]).sum(1)
