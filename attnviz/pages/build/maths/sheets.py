"""Sheets cut from tensors: the matrix that belongs to one sentence of the batch and one head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.pages.build.maths.attention_by_hand import AXES, Result
from attnviz.pages.build.maths.cells import Role, Sheet
from attnviz.pages.build.maths.inputs import Config

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
