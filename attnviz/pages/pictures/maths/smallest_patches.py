"""A smallest set of patches that keeps a model's answer: none of them can be taken away alone.

It is one such set and not the only one: which patches are left depends on the order in which others were taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attnviz.base.message import Message
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.pictures.maths.picture_record import HeadChange, PictureRun
from attnviz.pages.pictures.maths.picture_run import rerun


@dataclass(frozen=True)
class SmallestSet:
    """The patches that are still looked at, how many there were, and how often the model ran."""

    kept: tuple[int, ...]
    of: int
    passes: int
    said: str
    share: float  #: the probability of the answer with these patches alone
    done: bool = False

    @property
    def hidden(self) -> tuple[int, ...]:
        """The patches that were taken away."""
        return tuple(patch for patch in range(self.of) if patch not in set(self.kept))

    @property
    def told(self) -> Message:
        """The result as a sentence."""
        return Message(
            "{count} of {of} patches are enough for *{said}* ({share} sure): hide any one of them and it says "
            "something else. Found in {passes} passes; other sets may do as well.",
            {
                "count": len(self.kept),
                "of": self.of,
                "said": self.said,
                "share": f"{self.share:.0%}",
                "passes": self.passes,
            },
        )


def smallest_set(loaded: LoadedModel, run: PictureRun, order: Sequence[int] | None = None) -> Iterator[SmallestSet]:
    """Partial results, the last one complete: greedily, in blocks first, then patch by patch until none can go.

    `order` says which patches to try first, the least telling ones; without it, as they lie.
    """
    of = run.stacks[0].grid.patches
    wanted = run.answer.said
    shares: dict[frozenset[int], tuple[str, float]] = {}

    def keeps(kept: Sequence[int]) -> bool:
        name = frozenset(kept)
        if name not in shares:
            hidden = tuple(patch for patch in range(of) if patch not in name)
            answer = rerun(loaded, run, HeadChange(hidden=hidden))[0]
            shares[name] = answer.said, answer.share
        return shares[name][0] == wanted

    kept: tuple[int, ...] = tuple(range(of))
    for kept in taken_away(tuple(order or range(of)), keeps):
        yield SmallestSet(kept, of, len(shares), wanted, _share(shares, kept, run))
    yield SmallestSet(kept, of, len(shares), wanted, _share(shares, kept, run), done=True)


def _share(shares: dict[frozenset[int], tuple[str, float]], kept: Sequence[int], run: PictureRun) -> float:
    found = shares.get(frozenset(kept))
    return run.answer.share if found is None else found[1]


def taken_away(order: Sequence[int], keeps: Callable[[Sequence[int]], bool]) -> Iterator[tuple[int, ...]]:
    """Ever smaller sets, each of which `keeps` what is wanted; from the last no single one can be taken away.

    Blocks of half of what is left are tried first, then of a quarter, and so on; single ones are tried again and again
    until a whole round takes none.
    """
    left = list(order)
    block = max(1, len(left) // 2)
    while True:
        took, at = False, 0
        while at < len(left):
            without = left[:at] + left[at + block :]
            if keeps(without):
                left, took = without, True
                yield tuple(sorted(left))
            else:
                at += block
        if block > 1:
            block = max(1, block // 2)
        elif not took:
            return
