"""What stands along the sides of an attention matrix: pieces or words, special tokens shown or hidden.

Weights are summed over the key pieces of a word (a query gives a word what it gives its pieces) and
averaged over the query pieces of a word (a word is the mean of its pieces), so that rows that summed
to 1 still do. Hiding special tokens takes their rows and columns out; what the remaining rows lost
can be given back in proportion, or left missing. Each choice is said in `notes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnviz.core.message import Message
from attnviz.models.tokens import token_text
from attnviz.models.tokens.encoding import Tokens

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Axis:
    """The places along one side of a matrix, and which positions of the model each stands for."""

    labels: tuple[str, ...]
    positions: tuple[tuple[int, ...], ...]  #: ascending; one position each, unless pieces are merged to words
    special: tuple[bool, ...]
    segment: tuple[int, ...]
    merged: bool = False
    hidden: int = 0  #: how many special tokens are not shown

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def notes(self) -> tuple[Message, ...]:
        """What was done to the weights, in words."""
        told = []
        if self.merged:
            told.append(Message("Weights to the pieces of a word are added up; those from its pieces are averaged"))
        if self.hidden:
            told.append(Message("{count} special tokens are not shown", {"count": self.hidden}))
        return tuple(told)


def axis(tokens: Tokens, words: bool = False, specials: bool = True) -> Axis:
    """One place per piece, or per word; with the special tokens or without."""
    groups: dict[object, list[int]] = {}
    for piece in tokens.pieces:
        if piece.special and not specials:
            continue
        key = (piece.segment, piece.word) if words and piece.word is not None else ("alone", piece.position)
        groups.setdefault(key, []).append(piece.position)
    placed = tuple(tuple(group) for group in groups.values())
    first = [tokens.pieces[group[0]] for group in placed]
    return Axis(
        labels=tuple(_label(tokens, group) for group in placed),
        positions=placed,
        special=tuple(piece.special for piece in first),
        segment=tuple(piece.segment for piece in first),
        merged=words,
        hidden=0 if specials else sum(piece.special for piece in tokens.pieces),
    )


def project(weights: Tensor, queries: Axis, keys: Axis, renormalise: bool = False) -> Tensor:
    """Weights (..., Q, K) between positions as weights between the places of two axes.

    `renormalise` divides each row by its sum where something of it is left; it is meant for
    hidden special tokens and never for scores.
    """
    placed = _joined(_joined(weights, keys, -1), queries, -2)  # (..., places, places)
    if queries.merged:
        sizes = weights.new_tensor([len(group) for group in queries.positions])
        placed = placed / sizes[:, None]
    if not renormalise:
        return placed
    total = placed.sum(-1, keepdim=True)
    return placed / total.masked_fill(total == 0, 1.0)


def _joined(weights: Tensor, side: Axis, dim: int) -> Tensor:
    """Sums over the positions of each place along `dim`; nothing is computed where places are positions."""
    import torch

    order = [position for group in side.positions for position in group]
    if order == list(range(weights.shape[dim])) and len(order) == len(side):
        return weights
    picked = weights.index_select(dim, torch.tensor(order, device=weights.device))
    if len(order) == len(side):
        return picked
    place = [place for place, group in enumerate(side.positions) for _ in group]
    shape = list(picked.shape)
    shape[dim] = len(side)
    return weights.new_zeros(shape).index_add_(dim, torch.tensor(place, device=weights.device), picked)


def _label(tokens: Tokens, group: tuple[int, ...]) -> str:
    """A word is labelled by what its pieces spell, as the model reads them."""
    pieces = [tokens.pieces[position] for position in group]
    if len(pieces) == 1:
        return pieces[0].label
    spelled = "".join(p.text for p in pieces if p.part is None or p.part[0] == 1)
    return token_text.label(spelled)
