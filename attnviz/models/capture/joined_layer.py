"""One layer of all the passes that write a text, joined into one."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.models.capture.recorded_layer import RecordedLayer

RowsAtKeys = tuple[Tensor, int]  #: (.., queries of one pass, keys), and the place of its first key among all keys


class JoinedLayer:
    """One layer of several passes of one text, each of which goes on where the one before it ended, as one layer.

    Keeps of each pass what is new in it, so that n passes keep n positions.
    """

    def __init__(self, first: RecordedLayer) -> None:
        self._first, self.name = first, first.name
        self._done = 0  # so many keys are known
        self.queries = 0  # and so many queries
        self._vectors: dict[str, list[Tensor]] = {name: [] for name in ("q", "k", "v", "norms")}
        self._edited: dict[str, list[Tensor | None]] = {"set_weights": [], "set_output": []}
        self._shapes: list[tuple[int, ...]] = []  # (B, H, Q, K) of each pass
        self._changed: list[int] = []  # query positions that an edit changed
        self._real: list[Tensor | None] = []  # of cross-attention: which queries are no padding
        self._rows: dict[str, list[RowsAtKeys]] = {name: [] for name in ("allowed", "bias", "reported")}
        self.add(first)

    def begins_anew(self, layer: RecordedLayer) -> bool:
        """Whether the layer is of a pass without a cache, which computes everything anew."""
        _, _, q_len, k_len = layer.shape
        return layer.kind == "self" and k_len == q_len and (k_len > self._done or q_len > 1)

    def add(self, layer: RecordedLayer) -> None:
        """Take up what the next pass recorded of this layer."""
        _, _, q_len, k_len = layer.shape
        known = self._done if layer.kind == "self" else 0  # keys before this pass; those of cross-attention stay
        self._done = known + q_len if layer.kind == "self" else k_len
        keys = min(k_len, self._done)  # a cache of a fixed length has empty places behind
        start = self._done - keys  # a sliding window has dropped keys in front
        for name, given in (("allowed", layer.mask), ("bias", layer.bias), ("reported", layer.reported)):
            if given is not None:
                four = given.reshape(*(1,) * (4 - given.dim()), *given.shape)
                self._rows[name].append((four.expand(*four.shape[:2], q_len, k_len)[..., :keys], start))
        if layer.reported is None:
            self._add_vectors(layer, slice(known - start, keys))
        self._add_changes(layer, keys)
        self._real.append(layer.queries)
        self.queries += q_len
        self._last = layer

    def _add_changes(self, layer: RecordedLayer, keys: int) -> None:
        self._changed += [self.queries + row for row in layer.rows or ()]
        self._shapes.append((*layer.shape[:3], keys))
        for name, given in (("set_weights", layer.set_weights), ("set_output", layer.set_output)):
            self._edited[name].append(None if given is None else given[..., :keys] if name == "set_weights" else given)

    def _add_vectors(self, layer: RecordedLayer, new: slice) -> None:
        q, k, v = layer.qkv
        self._vectors["q"].append(q)
        if layer.kind == "cross" and self._vectors["k"]:
            return
        for name, tensor in (("k", k), ("v", v), ("norms", layer.norms)):
            if tensor is not None:
                self._vectors[name].append(tensor[:, :, new].clone())  # a copy, so that the cache of each pass can go

    def layer(self) -> RecordedLayer:
        """All queries, and all keys that any of them saw."""
        passes = len(self._rows["allowed"])
        if passes == 1:
            return self._last
        if 0 < len(self._rows["bias"]) < passes:
            raise Problem("layer {name} adds to its scores in some steps only", name=self._first.name)
        padding = self._last.padding  # as the last pass knew it; keys that no query saw where that lacks some
        joined: dict[str, Any] = {name: _below(rows, self._done) for name, rows in self._rows.items() if rows}
        joined["padding"] = None if padding is None or padding.shape[-1] != self._done else padding
        joined["queries"] = self._real_queries()
        if not self._rows["reported"]:
            if len(self._vectors["norms"]) < len(self._vectors["k"]):
                self._vectors["norms"].clear()
            joined |= {name: torch.cat(parts, 2) if parts else None for name, parts in self._vectors.items()}
            self._must_be_one_text(joined["k"])
        return replace(self._first, causal=False, rows=tuple(self._changed) or None, **joined, **self._changes())

    def _changes(self) -> dict[str, Any]:
        """What edits put into all passes, with NaN where they put nothing."""
        made: dict[str, Any] = {}
        for name, given in self._edited.items():
            known = next((each for each in given if each is not None), None)
            if known is None:
                continue
            shapes = [own if name == "set_weights" else (*own[:3], known.shape[-1]) for own in self._shapes]
            parts = [known.new_full(s, torch.nan) if own is None else own for s, own in zip(shapes, given, strict=True)]
            made[name] = torch.cat(parts, 2) if name == "set_output" else self._at_all_keys(parts)
        return made

    def _at_all_keys(self, weights: list[Tensor]) -> Tensor:
        starts = [start for _, start in self._rows["allowed"]]
        return _below(list(zip(weights, starts, strict=True)), self._done)

    def _real_queries(self) -> Tensor | None:
        known = next((each for each in self._real if each is not None), None)
        if known is None:
            return None
        passes = zip(self._real, self._rows["allowed"], strict=True)
        parts = (known.new_ones(len(known), 1, mask.shape[-2]) if real is None else real for real, (mask, _) in passes)
        return torch.cat(list(parts), -1)

    def _must_be_one_text(self, k: Tensor) -> None:
        """Refuse passes that went back, or changed places, as a beam search does."""
        _, last, _ = self._last.qkv
        length = min(last.shape[2], k.shape[2])
        if not torch.equal(last[:, :, :length], k[:, :, k.shape[2] - length :]):
            raise Problem(
                "the steps of {name} do not go on from one another, as with a beam search or another model's guesses: "
                "generate with num_beams=1, or capture one pass over what was generated",
                name=self._first.name,
            )


def _below(blocks: list[RowsAtKeys], total: int) -> Tensor:
    """Blocks of rows below each other, each at its keys, 0 or False elsewhere: (B or 1, H or 1, all queries, total)."""
    lead = [max(block.shape[axis] for block, _ in blocks) for axis in (0, 1)]
    made = blocks[0][0].new_zeros((*lead, sum(block.shape[2] for block, _ in blocks), total))
    row = 0
    for block, start in blocks:
        made[..., row : row + block.shape[2], start : start + block.shape[3]] = block
        row += block.shape[2]
    return made
