"""An edit of a whole text as one of the passes that write it carries it out: each computes some positions only.

A pass that goes on from a cache has other queries and other keys than a pass over the whole text. What holds for both
is the place of each position in the text, so that is what an edit names, and what is brought here into the pass's own.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.models.capture.edit import Edit, must_reach, numbers_chosen, output_for, rows_of
from attnviz.models.capture.recorded_layer import RecordedLayer


@dataclass(frozen=True)
class TextPart:
    """Which positions of the text are a pass's queries and keys, and how many of each were given before the first one.

    Negative positions count from the end of what was given, whatever is written behind it.
    """

    queries: range
    keys: range  #: some may not be written yet: a cache of a fixed length has empty places behind
    given: int
    given_keys: int

    def query(self, position: int) -> int:
        return position if position >= 0 else self.given + position

    def key(self, position: int) -> int:
        return position if position >= 0 else self.given_keys + position

    def rows(self, edit: Edit) -> list[int] | None:
        """The pass's own numbers of the positions that an edit changes; None for all."""
        if edit.at == "all":
            return None
        wanted = {self.query(each) for each in numbers_chosen("at", edit.at, 0)}
        return [position - self.queries.start for position in sorted(wanted) if position in self.queries]


def placed(edit: Edit, layer: RecordedLayer, part: TextPart) -> Edit | None:
    """The edit in the numbers of one pass; None where it changes nothing in that."""
    rows = part.rows(edit)
    if rows == []:
        return None
    changes: dict[str, Any] = {"at": "all" if rows is None else rows}
    wanted = list(part.queries) if rows is None else [part.queries.start + row for row in rows]
    if edit.block:
        pairs = [(part.query(query), part.key(key)) for query, key in edit.block]
        here = [(query, key) for query, key in pairs if query in part.queries and key in part.keys]
        if not here and edit.given() == ["block"]:
            return None
        changes["block"] = [(query - part.queries.start, key - part.keys.start) for query, key in here]
    if edit.mask is None and looks_back(layer):
        raise Problem("{name} looks ahead of a position that is being written: leave that out of it", name="mask=None")
    for name in ("mask", "weights"):
        cells = getattr(edit, name)
        if isinstance(cells, Tensor):
            changes[name] = _cells(name, cells, layer, part, wanted)
    output = output_for(edit, layer)
    if isinstance(output, Tensor):
        changes["output"] = rows_of("output", output, part.queries, wanted)
    return replace(edit, **changes)


def looks_back(layer: RecordedLayer) -> bool:
    """Whether it is of those in which a written token sees what was written before it."""
    return layer.kind == "self" and layer.stack == "decoder"


def must_look_back(layer: RecordedLayer, part: TextPart) -> None:
    """A Problem where an edit's function has given weight to a position after the one that looks."""
    if layer.set_weights is None or not looks_back(layer):
        return
    ahead = torch.tensor([[key > query for key in part.keys] for query in part.queries], device=layer.device)
    if bool((layer.set_weights.nan_to_num(0.0).ne(0) & ahead).any()):
        raise Problem("{name} looks ahead of a position that is being written: leave that out of it", name="weights")


def _cells(name: str, cells: Tensor, layer: RecordedLayer, part: TextPart, wanted: list[int]) -> Tensor:
    """A mask or weights (.., T or 1, T or 1) of the whole text at the queries and keys of the pass."""
    cut, count = rows_of(name, cells, part.queries, wanted), cells.shape[-1]
    if looks_back(layer):
        must_reach(name, count, wanted[-1])
        _must_not_look_elsewhere(name, cells, part, wanted)
    if count == 1:
        return cut
    places = torch.tensor(part.keys, device=cells.device)
    return cut[..., places.clamp(max=count - 1)] * (places < count)


def _must_not_look_elsewhere(name: str, cells: Tensor, part: TextPart, wanted: list[int]) -> None:
    """A Problem where one of the wanted queries is to see a key that is not written yet, or is in no cache any more."""
    seen = cells if cells.shape[-1] > 1 else cells.expand(*cells.shape[:-1], wanted[-1] + 2)
    seen = seen if seen.shape[-2] == 1 else seen[..., wanted, :]
    keys, queries = torch.arange(seen.shape[-1], device=cells.device), torch.tensor(wanted, device=cells.device)
    if bool((seen.ne(0) & (keys > queries[:, None])).any()):
        raise Problem("{name} looks ahead of a position that is being written: leave that out of it", name=name)
    if bool(seen[..., : part.keys.start].any()):
        raise Problem("{name} looks at positions that this model's cache has dropped: leave them out of it", name=name)
