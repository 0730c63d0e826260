"""The axes of an attention matrix as shown: tokens or whole words, special tokens shown or hidden.

To merge tokens into words, weights are summed over the keys of a word (attention to a word is attention
to all of its tokens) and averaged over its queries, so that rows that summed to 1 still do. Hiding special
tokens removes their rows and columns; the remaining rows can then be scaled to sum to 1 again, or left as
they are. `notes` describes each choice to the visitor.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.models.tokens import token_spans
from attnviz.models.tokens.encoding import Tokens


@dataclass(frozen=True)
class MatrixAxis:
    """Labels along one axis of a displayed matrix, and the token positions of each."""

    labels: tuple[str, ...]
    positions: tuple[tuple[int, ...], ...]  #: ascending; one position per entry, unless tokens are merged into words
    segment: tuple[int, ...]
    merged: bool = False
    hidden: int = 0  #: number of special tokens that are not shown

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def notes(self) -> tuple[Message, ...]:
        """Messages for the visitor about summed, averaged or hidden weights."""
        possible = (
            (
                self.merged,
                Message("Weights to the tokens of a word are added up; weights from its tokens are averaged"),
            ),
            (self.hidden, Message("{count} special {count:token is|tokens are} not shown", {"count": self.hidden})),
        )
        return tuple(message for holds, message in possible if holds)


def matrix_axis(tokens: Tokens, by_word: bool = False, specials: bool = True) -> MatrixAxis:
    """An axis with one entry per token, or per word if `by_word`; without special tokens if not `specials`."""
    groups: dict[object, list[int]] = {}
    for span in tokens.spans:
        if span.special and not specials:
            continue
        key = (span.segment, span.word) if by_word and span.word is not None else ("alone", span.position)
        groups.setdefault(key, []).append(span.position)
    positions = tuple(tuple(group) for group in groups.values())
    return MatrixAxis(
        labels=tuple(_label(tokens, group) for group in positions),
        positions=positions,
        segment=tuple(tokens.spans[group[0]].segment for group in positions),
        merged=by_word,
        hidden=0 if specials else sum(span.special for span in tokens.spans),
    )


def project_weights(weights: Tensor, queries: MatrixAxis, keys: MatrixAxis, renormalise: bool = False) -> Tensor:
    """Weights (..., Q, K) between tokens as weights between the entries of two axes, (..., rows, columns).

    `renormalise` scales each row that is not 0 to sum to 1. It is meant for rows that lost weight to hidden
    special tokens; never use it on scores.
    """
    placed = _sum_entries(_sum_entries(weights, keys, -1), queries, -2)  # (..., places, places)
    if queries.merged:
        placed = placed / weights.new_tensor([len(group) for group in queries.positions])[:, None]
    if not renormalise:
        return placed
    total = placed.sum(-1, keepdim=True)
    return placed / total.masked_fill(total == 0, 1.0)


def _sum_entries(weights: Tensor, side: MatrixAxis, dim: int) -> Tensor:
    """Sums over the positions of each entry along `dim`; just a selection where each entry is one position."""
    order = [position for group in side.positions for position in group]
    if order == list(range(weights.shape[dim])) and len(order) == len(side):
        return weights
    picked = weights.index_select(dim, torch.tensor(order, device=weights.device))
    if len(order) == len(side):
        return picked
    entry_indices = [entry_index for entry_index, group in enumerate(side.positions) for _ in group]
    shape = list(picked.shape)
    shape[dim] = len(side)
    return weights.new_zeros(shape).index_add_(dim, torch.tensor(entry_indices, device=weights.device), picked)


def _label(tokens: Tokens, group: tuple[int, ...]) -> str:
    """The label of an entry; for a word, the text that its tokens spell, as the model sees it."""
    spans = [tokens.spans[position] for position in group]
    if len(spans) == 1:
        return spans[0].label
    return token_spans.token_label("".join(p.text for p in spans if p.part is None or p.part[0] == 1))
