"""A key/value cache: keys and values of earlier tokens are stored, so that decoding processes each token once."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.base.message import Message, Problem, require_at_least, require_one_of
from attnviz.core.heads import HeadLayout


class KVCache:
    """Keys (B, G, T, D) and values (B, G, T, Dv) of one attention layer.

    By default the cache grows with each append. With `capacity`, room for that many tokens is
    allocated at once and appending more is an error.
    """

    def __init__(
        self,
        layout: HeadLayout,
        batch: int = 1,
        *,
        capacity: int | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> None:
        if capacity is not None:
            require_at_least("capacity", capacity, 1)
        self.capacity = capacity
        self.seen = 0  #: tokens appended so far
        room = capacity or 0
        self._k = torch.empty(batch, layout.kv_heads, room, layout.qk_width, dtype=dtype, device=device)
        self._v = torch.empty(batch, layout.kv_heads, room, layout.v_width, dtype=dtype, device=device)

    def __len__(self) -> int:
        """Number of tokens in the cache."""
        return self.seen

    @property
    def nbytes(self) -> int:
        """Exact bytes of the storage, including room that is allocated but not yet used."""
        return self._k.nbytes + self._v.nbytes

    @property
    def used_nbytes(self) -> int:
        """Exact bytes of the tokens in the cache."""
        return self.keys.nbytes + self.values.nbytes

    @property
    def keys(self) -> Tensor:
        """Keys in the cache, oldest first, (B, G, T, D), as a view."""
        return self._k[..., : self.seen, :]

    @property
    def values(self) -> Tensor:
        """Values in the cache, oldest first, (B, G, T, Dv), as a view."""
        return self._v[..., : self.seen, :]

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Store the new tokens; return all keys and values, oldest first."""
        if self.capacity is not None and self.seen + k.shape[-2] > self.capacity:
            raise Problem(
                "the cache has room for {capacity} tokens and holds {held}: {new} more do not fit",
                capacity=self.capacity,
                held=self.seen,
                new=k.shape[-2],
            )
        self._k, self._v = self._store(self._k, k), self._store(self._v, v)
        self.seen += k.shape[-2]
        return self.keys, self.values

    def _store(self, storage: Tensor, new: Tensor) -> Tensor:
        """The storage with the new tokens added.

        Growing storage is concatenated. Preallocated storage is written in place, or copied first
        when a gradient still needs the old values.
        """
        if self.capacity is None:
            return torch.cat([storage, new], dim=-2)
        positions = torch.arange(self.seen, self.seen + new.shape[-2], device=storage.device)
        if torch.is_grad_enabled() and (new.requires_grad or storage.requires_grad):
            return storage.index_copy(-2, positions, new)
        return storage.index_copy_(-2, positions, new)


# Which positions a cache keeps when it may hold only so many: full, window, sinks and window, heavy hitters, random.
#
# At each decoding step the newest token enters and, where the budget is spent, another one is evicted for good; the
# newest always stays. A budget counts the newest token, so that attention never sees more keys than the budget.
SINKS = 4  #: first tokens that "sinks" keeps, as StreamingLLM does


@dataclass(frozen=True)
class Eviction:
    """A policy, by its name in EVICTION_RULES, and the number of positions that it may keep.

    `seed` is that of "random".
    """

    kind: str
    budget: int
    seed: int = 0

    def __post_init__(self) -> None:
        require_one_of("kind", self.kind, EVICTION_RULES)
        require_at_least("budget", self.budget, 1)

    @property
    def looks(self) -> bool:
        """Whether the policy looks at the attention weights."""
        return EVICTION_RULES[self.kind].sees is None


@dataclass(frozen=True)
class EvictionRule:
    """A rule and its name on screen.

    `sees` says which keys at positions (1, total) a decoded token at a position (rows, 1) sees, of those up to its own.
    It is None for a rule that looks at the attention weights.
    """

    label: Message
    sees: Callable[[Eviction, Tensor, Tensor], Tensor] | None


def _sinks_and_window(policy: Eviction, rows: Tensor, columns: Tensor) -> Tensor:
    sinks = min(SINKS, policy.budget - 1)
    return (columns < sinks) | (columns > rows - (policy.budget - sinks))


#: by the names that links use; a further rule is an entry here
EVICTION_RULES = {
    "full": EvictionRule(Message("everything"), lambda _, rows, columns: columns <= rows),
    "window": EvictionRule(Message("sliding window"), lambda policy, rows, columns: columns > rows - policy.budget),
    "sinks": EvictionRule(Message("sinks and window"), _sinks_and_window),
    "heavy": EvictionRule(Message("heavy hitters"), None),
    "random": EvictionRule(
        Message("random"),
        lambda policy, rows, columns: _select_best_past(_draw_lots(columns.shape[1], policy.seed), rows, policy.budget),
    ),
}


def visible_positions(policy: Eviction, prompt: int, total: int) -> Tensor:
    """Boolean (total - prompt, total): what each decoded token sees, for policies that look at positions only.

    Row r is the token at position prompt + r; the prompt before it was processed whole.
    """
    rows, columns = torch.arange(prompt, total)[:, None], torch.arange(total)[None]
    sees = EVICTION_RULES[policy.kind].sees
    if sees is None:
        raise Problem("{kind} looks at the weights: use HeavyHitters", kind=policy.kind)
    return (columns <= rows) & sees(policy, rows, columns)


def _draw_lots(total: int, seed: int) -> Tensor:
    """(total,): a lot drawn for each position; the same for every number of positions."""
    return torch.stack(
        [torch.rand((), generator=torch.Generator().manual_seed(seed * 65_537 + n)) for n in range(total)]
    )


def _select_best_past(lots: Tensor, rows: Tensor, budget: int) -> Tensor:
    """Boolean (rows, total): each row's own position, and the budget - 1 largest lots before it.

    Who is among the largest of a growing past once left never comes back, so that this evicts for good.
    """
    columns = torch.arange(len(lots))[None]
    before = torch.where(columns < rows, lots[None], torch.tensor(-1.0))
    ranks = before.argsort(-1, descending=True).argsort(-1)
    return ((ranks < budget - 1) & (columns < rows)) | (columns == rows)


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
        visible = torch.zeros_like(self.held).scatter(-1, strongest, True) & old
        visible[:, first_recent : position + 1] = self.held[:, first_recent : position + 1]
        self.held = visible
        return visible.clone()

    def draw(self, weights: Tensor) -> None:
        """Add the weights (H, total) that the newest token gave."""
        self.drawn += weights.reshape(len(self.drawn), -1, weights.shape[-1]).sum(1)
