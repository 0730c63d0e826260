"""One layer of several passes of one text, each of which goes on where the one before it ended, as one layer."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.models.capture.recorded_layer import RecordedLayer

RowsAtKeys = tuple[Tensor, int]  #: (.., queries of one pass, keys), and the place of its first key among all keys


class JoinedLayer:
    """Grows by one pass after another; keeps of each pass what is new in it, so that n passes keep n positions."""

    def __init__(self, first: RecordedLayer) -> None:
        self._first = self._last = first
        self._start()
        self.add(first)

    def _start(self) -> None:
        self._done = 0  # so many keys are known
        self._q: list[Tensor] = []
        self._k: list[Tensor] = []
        self._v: list[Tensor] = []
        self._norms: list[Tensor | None] = []
        self._real: list[Tensor | None] = []  # of cross-attention: which queries are no padding
        self._masks: list[RowsAtKeys] = []
        self._biases: list[RowsAtKeys | None] = []
        self._reported: list[RowsAtKeys] = []

    def add(self, layer: RecordedLayer) -> None:
        """Take up what the next pass recorded of this layer."""
        _, _, q_len, k_len = layer.shape
        if layer.kind == "self" and self._done and k_len == q_len and (k_len > self._done or q_len > 1):
            self._start()  # a pass without a cache computes everything anew
            self._first = layer
        given = self._done if layer.kind == "self" else 0  # keys before this pass; those of cross-attention stay
        whole = given + q_len if layer.kind == "self" else k_len
        keys = min(k_len, whole)  # a cache of a fixed length has empty places behind
        start = whole - keys  # a sliding window has dropped keys in front
        self._masks.append((_whole_rows(layer.mask, q_len, k_len)[..., :keys], start))
        bias = layer.bias
        self._biases.append(None if bias is None else (_whole_rows(bias, q_len, k_len)[..., :keys], start))
        if layer.reported is not None:
            self._reported.append((layer.reported[..., :keys], start))
        else:
            self._add_vectors(layer, slice(given - start, keys) if layer.kind == "self" else slice(0, keys))
        self._real.append(layer.queries)
        self._done, self._last = whole, layer

    def _add_vectors(self, layer: RecordedLayer, new: slice) -> None:
        assert layer.q is not None
        assert layer.k is not None
        assert layer.v is not None
        self._q.append(layer.q)
        if layer.kind == "cross" and self._k:
            return
        self._k.append(layer.k[:, :, new].clone())  # a copy, so that the cache of each pass can go
        self._v.append(layer.v[:, :, new].clone())
        self._norms.append(None if layer.norms is None else layer.norms[:, :, new].clone())

    def layer(self) -> RecordedLayer:
        """All queries, and all keys that any of them saw."""
        if len(self._masks) == 1:
            return self._last
        total = self._done
        told = [rows for rows in self._biases if rows is not None]
        if told and len(told) < len(self._biases):
            raise Problem("layer {name} adds to its scores in some steps only", name=self._first.name)
        common = {
            "allowed": _below(self._masks, total, False),
            "causal": False,
            "padding": self._padding(total),
            "queries": self._real_queries(),
            "bias": _below(told, total, 0.0) if told else None,
        }
        if self._reported:
            return replace(self._first, reported=_below(self._reported, total, 0.0), **common)  # type: ignore[arg-type]
        q, k, v = (torch.cat(parts, 2) for parts in (self._q, self._k, self._v))
        self._must_be_one_text(k)
        known = [each for each in self._norms if each is not None]
        norms = torch.cat(known, 2) if len(known) == len(self._norms) else None
        return replace(self._first, q=q, k=k, v=v, norms=norms, **common)  # type: ignore[arg-type]

    def _padding(self, total: int) -> Tensor | None:
        """Which keys are real, as the last pass knew it; keys that no query saw where that no longer had them all."""
        last = self._last.padding
        return last if last is None or last.shape[-1] == total else None

    def _real_queries(self) -> Tensor | None:
        if all(each is None for each in self._real):
            return None
        lengths = [mask.shape[-2] for mask, _ in self._masks]
        known = next(each for each in self._real if each is not None)
        return torch.cat(
            [
                known.new_ones(len(known), 1, length) if each is None else each
                for each, length in zip(self._real, lengths, strict=True)
            ],
            -1,
        )

    def _must_be_one_text(self, k: Tensor) -> None:
        """Refuse passes that went back, or changed places, as a beam search does."""
        assert self._last.k is not None
        length = min(self._last.k.shape[2], k.shape[2])
        if not torch.equal(self._last.k[:, :, :length], k[:, :, k.shape[2] - length :]):
            raise Problem(
                "the steps of {name} do not go on from one another, as with a beam search or another model's guesses: "
                "generate with num_beams=1, or capture one pass over what was generated",
                name=self._first.name,
            )


def _whole_rows(given: Tensor, q_len: int, k_len: int) -> Tensor:
    """What broadcasts to (B, H, Q, K), with all its rows and keys: (B or 1, H or 1, Q, K)."""
    four = given.reshape(*(1,) * (4 - given.dim()), *given.shape)
    return four.expand(*four.shape[:2], q_len, k_len)


def _below(blocks: list[RowsAtKeys], total: int, empty: float) -> Tensor:
    """Blocks of rows below each other, each at its keys, in a tensor (B or 1, H or 1, all queries, all keys)."""
    sizes = [tuple(block.shape[:2]) for block, _ in blocks]
    lead = [max(size[axis] for size in sizes) for axis in (0, 1)]
    lengths = [block.shape[-2] for block, _ in blocks]
    made = blocks[0][0].new_full((*lead, sum(lengths), total), empty)
    for (block, start), row, length in zip(blocks, _starts(lengths), lengths, strict=True):
        made[..., row : row + length, start : start + block.shape[-1]] = block
    return made


def _starts(lengths: list[int]) -> list[int]:
    return [sum(lengths[:place]) for place in range(len(lengths))]
