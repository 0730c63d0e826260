"""What stands along the sides of an attention matrix: spans or words, special tokens shown or hidden.

Weights are summed over the key spans of a word (a query gives a word what it gives its spans) and
averaged over the query spans of a word (a word is the mean of its spans), so that rows that summed
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
class MatrixAxis:
    """The places along one side of a matrix, and which positions of the model each stands for."""

    labels: tuple[str, ...]
    positions: tuple[tuple[int, ...], ...]  #: ascending; one position each, unless spans are merged to words
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
            told.append(Message("Weights to the spans of a word are added up; those from its spans are averaged"))
        if self.hidden:
            told.append(Message("{count} special tokens are not shown", {"count": self.hidden}))
        return tuple(told)


def matrix_axis(tokens: Tokens, words: bool = False, specials: bool = True) -> MatrixAxis:
    """One place per span, or per word; with the special tokens or without."""
    groups: dict[object, list[int]] = {}
    for span in tokens.spans:
        if span.special and not specials:
            continue
        key = (span.segment, span.word) if words and span.word is not None else ("alone", span.position)
        groups.setdefault(key, []).append(span.position)
    placed = tuple(tuple(group) for group in groups.values())
    first = [tokens.spans[group[0]] for group in placed]
    return MatrixAxis(
        labels=tuple(_label(tokens, group) for group in placed),
        positions=placed,
        special=tuple(span.special for span in first),
        segment=tuple(span.segment for span in first),
        merged=words,
        hidden=0 if specials else sum(span.special for span in tokens.spans),
    )


def project(weights: Tensor, queries: MatrixAxis, keys: MatrixAxis, renormalise: bool = False) -> Tensor:
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


def _joined(weights: Tensor, side: MatrixAxis, dim: int) -> Tensor:
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
    """A word is labelled by what its spans spell, as the model reads them."""
    spans = [tokens.spans[position] for position in group]
    if len(spans) == 1:
        return spans[0].label
    spelled = "".join(p.text for p in spans if p.part is None or p.part[0] == 1)
    return token_text.token_label(spelled)
