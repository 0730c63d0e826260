"""The boards of each step: an operation's input sheets, its result, and the origin of each number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from attnviz.pages.build.maths import cells
from attnviz.pages.build.maths.attention_by_hand import AXES, LAYER_NORM_EPS, NORM_EPS, Result
from attnviz.pages.build.maths.cells import Board, Role, Sheet
from attnviz.pages.build.maths.inputs import Config

Boards = tuple[Board, ...]


def make_boards(view: View, step: str) -> Boards:
    """The operations of one step, for one sentence of the batch and one query head."""
    return _BOARDS[step](view)


def all_tensors(view: View, steps: Iterable[str]) -> tuple[list[Sheet], dict[str, list[list[int]]]]:
    """Every tensor of a walk once, and by step those of each operation, by number: the last one is made by it.

    What comes in is what an earlier step made last with these numbers; what none made, as a weight, stands before its
    result.
    """
    tensors: list[Sheet] = []
    made: list[int] = []
    walk: dict[str, list[list[int]]] = {}

    def find(sheet: Sheet) -> int:
        values = sheet.values.T if sheet.name.endswith("ᵀ") else sheet.values
        for number in reversed(made):
            if tensors[number].role == sheet.role and np.array_equal(tensors[number].values, values):
                return number
        tensors.append(sheet)
        return len(tensors) - 1

    for step in steps:
        walk[step] = []
        for board in make_boards(view, step):
            numbers = [find(sheet) for sheet in board.sheets[:-1]]
            made.append(len(tensors))
            tensors.append(board.result)
            walk[step].append([*numbers, made[-1]])
    return tensors, walk


def _embed(tensor_id: str, rows: Sheet) -> Board:
    """Lookup of each word's row in a table of the distinct words, in alphabetical order."""
    vocabulary = sorted(set(rows.rows))
    values = rows.values[[rows.rows.index(word) for word in vocabulary]]
    table = replace(rows, name="W_E", values=values, rows=tuple(vocabulary), axes=("", ""))  # untranslated: a symbol
    return cells.move_cells(tensor_id, [table], rows, lambda r, c: (0, vocabulary.index(rows.rows[r]), c))


def _project(view: View) -> Boards:
    keys_from = "Y" if view.config.cross else "X"
    packed = view.packed_widths
    boards = tuple(
        cells.multiply_sheets(
            projection.lower(),
            view.sheet("X" if projection == "Q" else keys_from),
            view.weight(f"W_{projection}"),
            view.sheet(f"{projection}_flat"),
            view.bias(f"b_{projection}"),
        )
        for projection in ("Q", "K", "V")
        if projection not in packed
    )
    return (*boards, _packed_board(view, keys_from)) if packed else boards


def _packed_board(view: View, source: str) -> Board:
    """The packed projection: one product gives Q, K and V, or K and V, side by side."""
    projections = list(view.packed_widths)
    name = "".join(projections)
    matrices = [view.weight(f"W_{projection}") for projection in projections]
    wide = np.concatenate([m.values for m in matrices], 1)
    result = replace(view.sheet("packed"), name=name, role="plain", cols=_number_labels(wide.shape[1]), axes=("Q", "C"))
    weight = replace(
        result,
        name=f"W_{name}",  # untranslated: a symbol
        role="w",
        values=wide,
        rows=matrices[0].rows,
        axes=("M", "C"),
    )
    bias = None
    if view.config.bias:
        row = np.concatenate([view.result.weights[f"b_{projection}"] for projection in projections])[None]
        bias = replace(weight, name=f"b_{name}", values=row, rows=("",), axes=("", ""))
    return cells.multiply_sheets(name.lower(), view.sheet(source), weight, result, bias)


def _split(view: View) -> Boards:
    begins = dict(zip(view.packed_widths, accumulate(view.packed_widths.values(), initial=0), strict=False))
    boards = []
    for projection in ("Q", "K", "V"):
        result = view.sheet(projection)
        start = (view.head if projection == "Q" else view.kv_head) * result.values.shape[1] + begins.get(projection, 0)
        source = view.sheet("packed" if projection in begins else f"{projection}_flat")
        boards.append(cells.move_cells(projection.lower(), [source], result, _from_column(start)))
    return tuple(boards)


def _from_column(start: int) -> Callable[[int, int], tuple[int, int, int]]:
    return lambda r, c: (0, r, c + start)


def _merge(view: View) -> Boards:
    width = view.config.layout.v_width
    sources = [
        replace(view.sheet("heads", h), name=f"O_{h + 1}")  # untranslated: a symbol
        for h in range(view.config.n_heads)
    ]
    return (cells.move_cells("", sources, view.sheet("merged"), lambda r, c: (c // width, r, c % width)),)


_BOARDS: dict[str, Callable[[View], Boards]] = {
    "embed": lambda view: tuple(
        _embed(projection, view.sheet(embedding)) for projection, embedding, _places, _placed in view.sides
    ),
    "position": lambda view: tuple(
        cells.add_sheets(projection, view.sheet(embedding), view.sheet(places), view.sheet(placed))
        for projection, embedding, places, placed in view.sides
    ),
    "project": _project,
    "split": _split,
    "qk_norm": lambda view: tuple(
        cells.normalise_rows(
            tensor_id.lower(), view.sheet(tensor_id), view.sheet(f"{tensor_id}_norm"), NORM_EPS, centre=False
        )
        for tensor_id in ("Q", "K")
    ),
    "rotate": lambda view: tuple(
        cells.rotate_sheet(
            tensor_id.lower(),
            view.latest_sheet(f"{tensor_id}_norm", tensor_id),
            view.sheet("angles"),
            view.sheet(f"{tensor_id}_turned"),
        )
        for tensor_id in ("Q", "K")
    ),
    "scores": lambda view: (
        cells.multiply_sheets(
            "",
            view.latest_sheet("Q_turned", "Q_norm", "Q"),
            view.latest_sheet("K_turned", "K_norm", "K").transposed(),
            view.sheet("scores"),
        ),
    ),
    "scale": lambda view: (
        cells.scale_sheet(
            view.sheet("scores"), view.sheet("scaled"), view.config.layout.qk_width if view.config.scaled else None
        ),
    ),
    "bias": lambda view: (cells.add_sheets("", view.sheet("scaled"), view.sheet("bias"), view.sheet("biased")),),
    "mask": lambda view: (
        cells.mask_sheet(view.latest_sheet("biased", "scaled"), view.sheet("mask"), view.sheet("masked")),
    ),
    "softmax": lambda view: (
        cells.softmax_sheet(view.latest_sheet("masked", "biased", "scaled"), view.sheet("weights")),
    ),
    "dropout": lambda view: (
        cells.drop_out(
            view.sheet("weights"),
            view.sheet("kept"),
            view.sheet("dropped"),
            keep_probability=1 - view.config.dropout if view.config.training else 1.0,
        ),
    ),
    "sum": lambda view: (
        cells.multiply_sheets("", view.latest_sheet("dropped", "weights"), view.sheet("V"), view.sheet("heads")),
    ),
    "merge": _merge,
    "output": lambda view: (
        cells.multiply_sheets("", view.sheet("merged"), view.weight("W_O"), view.sheet("output"), view.bias("b_O")),
    ),
    "residual": lambda view: (cells.add_sheets("", view.sheet("X"), view.sheet("output"), view.sheet("residual")),),
    "norm": lambda view: (
        cells.normalise_rows("", view.sheet("residual"), view.sheet("normed"), LAYER_NORM_EPS, centre=True),
    ),
    "ffn": lambda view: (
        cells.multiply_sheets("U", view.sheet("normed"), view.weight("W_1"), view.sheet("hidden"), view.bias("b_1")),
        cells.combine_cells(
            "R",
            (view.sheet("hidden"),),
            view.sheet("active"),
            ("→",),
            lambda x: [("op", "max(0,"), ("0", x), ("op", ")")],
        ),
        cells.multiply_sheets("FFN", view.sheet("active"), view.weight("W_2"), view.sheet("fed"), view.bias("b_2")),
    ),
}


# Sheets cut from tensors: the matrix that belongs to one sentence of the batch and one head.
SYMBOLS = {
    "E": "E", "E_kv": "E", "P": "P", "P_kv": "P", "X": "X", "Y": "Y", "packed": "QKV",
    "Q": "Q", "K": "K", "V": "V", "Q_flat": "Q", "K_flat": "K", "V_flat": "V", "Q_norm": "Q", "K_norm": "K",
    "Q_turned": "Q", "K_turned": "K",
    "angles": "θ", "scores": "S", "scaled": "S_scaled", "bias": "bias", "biased": "S_biased", "mask": "mask",
    "masked": "S_masked",
    "weights": "A", "kept": "kept", "dropped": "A", "heads": "O", "merged": "O", "output": "Out", "residual": "Z",
    "normed": "N", "hidden": "U", "active": "R", "fed": "FFN",
}  # fmt: skip
ROLES: dict[str, Role] = {
    "Q": "q", "K": "k", "V": "v", "Q_flat": "q", "K_flat": "k", "V_flat": "v", "Q_norm": "q", "K_norm": "k",
    "Q_turned": "q", "K_turned": "k", "scores": "scores", "scaled": "scores", "bias": "scores", "biased": "scores",
    "masked": "scores", "mask": "mask", "kept": "mask", "weights": "weights", "dropped": "weights",
}  # fmt: skip


@dataclass(frozen=True)
class View:
    """One sentence of the batch and one query head: any tensor as a sheet."""

    result: Result
    batch: int = 0
    head: int = 0

    @property
    def config(self) -> Config:
        return self.result.config

    @property
    def sides(self) -> tuple[tuple[str, str, str, str], ...]:
        """(tensor_id, embedding, position, sum) by name: for queries, and in cross-attention also for keys."""
        return (("x", "E", "P", "X"), ("y", "E_kv", "P_kv", "Y"))[: 2 if self.config.cross else 1]

    @property
    def packed_widths(self) -> dict[str, int]:
        """Columns of each projection in the packed matrix. Empty without packing."""
        projections = () if not self.config.packed else "KV" if self.config.cross else "QKV"
        return {projection: self.result.tensors[f"{projection}_flat"].shape[-1] for projection in projections}

    @property
    def kv_head(self) -> int:
        return self.config.layout.kv_head_of(self.head)

    def sheet(self, name: str, head: int | None = None) -> Sheet:
        """The matrix of tensor `name` in this view; `head` chooses another query or K/V head."""
        values, axes = self.result.tensors[name], AXES[name]
        for letter, index in (("B", self.batch), ("H", self.head), ("G", self.kv_head)):
            if letter in axes:
                values = values[index if head is None or letter == "B" else head]
        rows, cols = axes[-2], axes[-1]
        return Sheet(
            self._symbol(name),
            ROLES.get(name, "x"),
            values,
            self._labels(rows, name),
            self._labels(cols, name),
            (rows, cols),
            *self._groups(name, cols),
        )

    def latest_sheet(self, *names: str) -> Sheet:
        """The sheet of the first of these tensors that exists. List later steps first."""
        return self.sheet(next(name for name in names if name in self.result.tensors))

    def _symbol(self, name: str) -> str:
        """The symbol of tensor `name`, unique in this configuration."""
        if name in ("E", "E_kv") and "P" not in self.result.tensors:  # what embeds is already what is projected
            return SYMBOLS["X" if name == "E" else "Y"]
        return SYMBOLS["scores" if name == "scaled" and not self.config.scaled else name]

    def _groups(self, name: str, cols: str) -> tuple[tuple[Role, ...], tuple[int, ...]]:
        """Roles of the columns where they differ, and the columns at which a head or a projection ends."""
        if name == "packed":
            roles = [ROLES[projection] for projection, width in self.packed_widths.items() for _column in range(width)]
            return tuple(roles), tuple(accumulate(self.packed_widths.values()))[:-1]
        width = self._head_width(cols)
        return (), tuple(range(width, self.result.tensors[name].shape[-1], width)) if width else ()

    def _head_width(self, axis: str) -> int | None:
        """Columns per head on an axis that joins heads. None for other axes."""
        layout = self.config.layout
        return {"HD": layout.qk_width, "GD": layout.qk_width, "GV": layout.v_width, "HV": layout.v_width}.get(axis)

    def _labels(self, axis: str, name: str) -> tuple[str, ...]:
        if axis == "Q" or (axis == "K" and name == "packed" and not self.config.cross):
            return self.result.q_words[self.batch]
        if axis == "K":
            return self.result.k_words[self.batch]
        width, count = self._head_width(axis), self.result.tensors[name].shape[-1]
        return tuple(f"{i // width + 1}.{i % width + 1}" for i in range(count)) if width else _number_labels(count)

    def weight(self, name: str) -> Sheet:
        values = self.result.weights[name]
        axes = {"W_O": ("HV", "M"), "W_1": ("M", "F"), "W_2": ("F", "M")}.get(name)
        if axes:
            rows = self.sheet("merged").cols if name == "W_O" else _number_labels(len(values))
            return Sheet(name, "w", values, rows, _number_labels(values.shape[1]), axes)
        flat = self.sheet(f"{name[-1]}_flat")
        return replace(flat, name=name, values=values, rows=_number_labels(values.shape[0]), axes=("M", flat.axes[1]))

    def bias(self, name: str) -> Sheet | None:
        values = self.result.weights.get(name)
        if values is None:
            return None
        return Sheet(name, ROLES.get(name[-1], "w"), values[None], ("",), _number_labels(len(values)), ("", ""))


def _number_labels(count: int) -> tuple[str, ...]:
    return tuple(str(i + 1) for i in range(count))
