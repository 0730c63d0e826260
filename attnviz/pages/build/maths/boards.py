"""The boards of each step: the sheets that an operation takes, the sheet it gives, and where each number comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attnviz.pages.build.maths import cells
from attnviz.pages.build.maths.attention_by_hand import AXES, LAYER_NORM_EPS, NORM_EPS, Result
from attnviz.pages.build.maths.cells import Board, Role, Sheet
from attnviz.pages.build.maths.inputs import Config


def boards(result: Result, step: str, batch: int = 0, head: int = 0) -> tuple[Board, ...]:
    """The operations of one step, for one sentence of the batch and one query head."""
    return _BOARDS[step](View(result, batch, head))


def _embed_boards(view: View) -> tuple[Board, ...]:
    made = [cells.given("x", view.sheet("E"))]
    return (*made, cells.given("y", view.sheet("E_kv"))) if view.config.cross else tuple(made)


def _position_boards(view: View) -> tuple[Board, ...]:
    made = [cells.added("x", view.sheet("E"), view.sheet("P"), view.sheet("X"))]
    if view.config.cross:
        made.append(cells.added("y", view.sheet("E_kv"), view.sheet("P_kv"), view.sheet("Y")))
    return tuple(made)


def _project_boards(view: View) -> tuple[Board, ...]:
    source = {"Q": "X", "K": "Y" if view.config.cross else "X", "V": "Y" if view.config.cross else "X"}
    packed = view.packed_parts() if view.config.packed else ()
    made = [
        cells.product(
            part.lower(),
            view.sheet(source[part]),
            view.weight(f"W_{part}"),
            view.sheet(f"{part}_flat"),
            view.bias(f"b_{part}"),
        )
        for part in ("Q", "K", "V")
        if part not in packed
    ]
    return (*made, _packed_board(view, source["K"])) if packed else tuple(made)


def _packed_board(view: View, source: str) -> Board:
    """One matrix product gives all parts (Q, K and V, or K and V), because their weights stand side by side."""
    parts = view.packed_parts()
    name = "".join(parts)
    matrices = [view.weight(f"W_{part}") for part in parts]
    wide = np.concatenate([m.values for m in matrices], 1)
    result = view.sheet("packed")
    labels = tuple(str(i + 1) for i in range(wide.shape[1]))
    weight = Sheet(f"W_{name}", "w", wide, matrices[0].rows, labels, ("M", "C"), result.col_roles, result.lines)
    result = Sheet(name, "plain", result.values, result.rows, labels, ("Q", "C"), result.col_roles, result.lines)
    bias = None
    if view.config.bias:
        row = np.concatenate([view.result.weights[f"b_{part}"] for part in parts])[None]
        bias = Sheet(f"b_{name}", "w", row, ("",), labels, ("", ""), result.col_roles, result.lines)
    return cells.product(name.lower(), view.sheet(source), weight, result, bias)


def _split_boards(view: View) -> tuple[Board, ...]:
    packed = view.packed_parts() if view.config.packed else ()
    made = []
    for part in ("Q", "K", "V"):
        result = view.sheet(part)
        start = (view.head if part == "Q" else view.kv_head) * result.values.shape[1]
        start += view.offset(part) if part in packed else 0
        source = view.sheet("packed" if part in packed else f"{part}_flat")
        made.append(cells.moved(part.lower(), [source], result, _shifted(start)))
    return tuple(made)


def _shifted(start: int) -> Callable[[int, int], tuple[int, int, int]]:
    return lambda r, c: (0, r, c + start)


def _qk_norm_boards(view: View) -> tuple[Board, ...]:
    return tuple(
        cells.normalised(part.lower(), view.sheet(part), view.sheet(f"{part}_norm"), NORM_EPS, centre=False)
        for part in ("Q", "K")
    )


def _rotate_boards(view: View) -> tuple[Board, ...]:
    before = "_norm" if view.config.qk_norm else ""
    return tuple(
        cells.rotated(part.lower(), view.sheet(part + before), view.sheet("angles"), view.sheet(f"{part}_turned"))
        for part in ("Q", "K")
    )


def _final(view: View, part: str) -> str:
    """The name of the tensor that the scores use as Q or K: after QK norm and rotation, where there are any."""
    for ending in ("_turned", "_norm"):
        if part + ending in view.result.tensors:
            return part + ending
    return part


def _score_boards(view: View) -> tuple[Board, ...]:
    q, k = view.sheet(_final(view, "Q")), view.sheet(_final(view, "K"), transpose=True)
    return (cells.product("", q, k, view.sheet("scores")),)


def _scale_boards(view: View) -> tuple[Board, ...]:
    width = view.config.layout.qk_width if view.config.scaled else None
    return (cells.multiplied(view.sheet("scores"), view.sheet("scaled"), width),)


def _bias_boards(view: View) -> tuple[Board, ...]:
    return (cells.added("", view.sheet("scaled"), view.sheet("bias"), view.sheet("biased")),)


def _before_mask(view: View) -> str:
    return "biased" if "biased" in view.result.tensors else "scaled"


def _mask_boards(view: View) -> tuple[Board, ...]:
    return (cells.masked(view.sheet(_before_mask(view)), view.sheet("mask"), view.sheet("masked")),)


def _softmax_boards(view: View) -> tuple[Board, ...]:
    before = "masked" if "masked" in view.result.tensors else _before_mask(view)
    return (cells.softmax(view.sheet(before), view.sheet("weights")),)


def _dropout_boards(view: View) -> tuple[Board, ...]:
    keep = 1 - view.config.dropout if view.config.training else 1.0
    return (cells.dropped(view.sheet("weights"), view.sheet("kept"), view.sheet("dropped"), keep),)


def _sum_boards(view: View) -> tuple[Board, ...]:
    used = "dropped" if "dropped" in view.result.tensors else "weights"
    return (cells.product("", view.sheet(used), view.sheet("V"), view.sheet("heads")),)


def _merge_boards(view: View) -> tuple[Board, ...]:
    width = view.config.layout.v_width
    sources = [view.sheet("heads", head=h) for h in range(view.config.n_heads)]
    named = [Sheet(f"O_{h + 1}", *_rest(s)) for h, s in enumerate(sources)]
    return (cells.moved("", named, view.sheet("merged"), lambda r, c: (c // width, r, c % width)),)


def _rest(sheet: Sheet) -> tuple[Role, np.ndarray, tuple[str, ...], tuple[str, ...], tuple[str, str]]:
    return sheet.role, sheet.values, sheet.rows, sheet.cols, sheet.axes


def _output_boards(view: View) -> tuple[Board, ...]:
    return (cells.product("", view.sheet("merged"), view.weight("W_O"), view.sheet("output"), view.bias("b_O")),)


def _residual_boards(view: View) -> tuple[Board, ...]:
    return (cells.added("", view.sheet("X"), view.sheet("output"), view.sheet("residual")),)


def _norm_boards(view: View) -> tuple[Board, ...]:
    return (cells.normalised("", view.sheet("residual"), view.sheet("normed"), LAYER_NORM_EPS, centre=True),)


_BOARDS: dict[str, Callable[[View], tuple[Board, ...]]] = {
    "embed": _embed_boards,
    "position": _position_boards,
    "project": _project_boards,
    "split": _split_boards,
    "qk_norm": _qk_norm_boards,
    "rotate": _rotate_boards,
    "scores": _score_boards,
    "scale": _scale_boards,
    "bias": _bias_boards,
    "mask": _mask_boards,
    "softmax": _softmax_boards,
    "dropout": _dropout_boards,
    "sum": _sum_boards,
    "merge": _merge_boards,
    "output": _output_boards,
    "residual": _residual_boards,
    "norm": _norm_boards,
}


# Sheets cut from tensors: the matrix that belongs to one sentence of the batch and one head.
SYMBOLS = {
    "E": "E", "E_kv": "E", "P": "P", "P_kv": "P", "X": "X", "Y": "Y", "packed": "QKV",
    "Q": "Q", "K": "K", "V": "V", "Q_flat": "Q", "K_flat": "K", "V_flat": "V", "Q_norm": "Q", "K_norm": "K",
    "Q_turned": "Q", "K_turned": "K",
    "angles": "θ", "scores": "S", "scaled": "S_scaled", "bias": "bias", "biased": "S_biased", "mask": "mask",
    "masked": "S_masked",
    "weights": "A", "kept": "kept", "dropped": "A", "heads": "O", "merged": "O", "output": "Out", "residual": "Z",
    "normed": "N",
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
    batch: int
    head: int

    @property
    def config(self) -> Config:
        return self.result.config

    @property
    def kv_head(self) -> int:
        return self.config.layout.kv_head_of(self.head)

    def sheet(self, name: str, head: int | None = None, transpose: bool = False) -> Sheet:
        """The matrix of tensor `name` in this view; `head` chooses another query or K/V head."""
        values, axes = self.result.tensors[name], AXES[name]
        for letter, place in (("B", self.batch), ("H", self.head), ("G", self.kv_head)):
            if letter in axes:
                chosen = place if head is None or letter == "B" else head
                values = values[chosen]
        rows, cols = axes[-2], axes[-1]
        labels = self._labels(rows, name), self._labels(cols, name)
        made = Sheet(self.symbol(name), ROLES.get(name, "x"), values, *labels, (rows, cols), *self._groups(name, cols))
        if not transpose:
            return made
        return Sheet(made.name + "ᵀ", made.role, values.T, made.cols, made.rows, (cols, rows))

    def symbol(self, name: str) -> str:
        """What tensor `name` is called here: no two that differ have one symbol, and no tensor has two."""
        if name in ("E", "E_kv") and "P" not in self.result.tensors:  # what embeds is already what is projected
            return SYMBOLS["X" if name == "E" else "Y"]
        if name == "scaled" and not self.config.scaled:
            return SYMBOLS["scores"]
        return SYMBOLS[name]

    def _groups(self, name: str, cols: str) -> tuple[tuple[Role, ...], tuple[int, ...]]:
        if name == "packed":
            return self.packed_roles(), self._packed_lines()
        layout = self.config.layout
        width = {"HD": layout.qk_width, "GD": layout.qk_width, "GV": layout.v_width, "HV": layout.v_width}.get(cols)
        return (), tuple(range(width, self.result.tensors[name].shape[-1], width)) if width else ()

    def packed_parts(self) -> tuple[str, ...]:
        return ("K", "V") if self.config.cross else ("Q", "K", "V")

    def packed_roles(self) -> tuple[Role, ...]:
        roles: list[Role] = []
        for part in self.packed_parts():
            roles += [ROLES[part]] * self.result.tensors[f"{part}_flat"].shape[-1]
        return tuple(roles)

    def _packed_lines(self) -> tuple[int, ...]:
        widths = [self.result.tensors[f"{part}_flat"].shape[-1] for part in self.packed_parts()]
        return tuple(int(n) for n in np.cumsum(widths)[:-1])

    def offset(self, part: str) -> int:
        """The column at which a part begins in the packed projection."""
        parts = self.packed_parts()
        return sum(self.result.tensors[f"{p}_flat"].shape[-1] for p in parts[: parts.index(part)])

    def _labels(self, axis: str, name: str) -> tuple[str, ...]:
        words = {"Q": self.result.q_words[self.batch], "K": self.result.k_words[self.batch]}
        if axis == "K" and name == "packed" and not self.config.cross:
            return words["Q"]
        if axis in words:
            return words[axis]
        layout = self.config.layout
        grouped = {"HD": layout.qk_width, "GD": layout.qk_width, "GV": layout.v_width, "HV": layout.v_width}.get(axis)
        count = self.result.tensors[name].shape[-1]
        if grouped:
            return tuple(f"{i // grouped + 1}.{i % grouped + 1}" for i in range(count))
        return tuple(str(i + 1) for i in range(count))

    def weight(self, name: str) -> Sheet:
        values = self.result.weights[name]
        letter = {"W_Q": "HD", "W_K": "GD", "W_V": "GV"}.get(name)
        role: Role = {"W_Q": "q", "W_K": "k", "W_V": "v"}.get(name, "w")  # type: ignore[assignment]
        if letter:
            flat = self.sheet(f"{name[-1]}_flat")
            rows = tuple(str(i + 1) for i in range(values.shape[0]))
            return Sheet(name, role, values, rows, flat.cols, ("M", letter), (), flat.lines)
        merged = self.sheet("merged")
        cols = tuple(str(i + 1) for i in range(values.shape[1]))
        return Sheet(name, "w", values, merged.cols, cols, ("HV", "M"))

    def bias(self, name: str) -> Sheet | None:
        values = self.result.weights.get(name)
        if values is None:
            return None
        role: Role = {"b_Q": "q", "b_K": "k", "b_V": "v"}.get(name, "w")  # type: ignore[assignment]
        return Sheet(name, role, values[None], ("",), tuple(str(i + 1) for i in range(len(values))), ("", ""))
