"""What the mask page holds: the sentence, the rules, the paint. All of it lives in the link."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np
import streamlit as st

from attnviz.core.message import Problem
from attnviz.experiments.masks import mask_lab
from attnviz.experiments.word_vectors import LONGEST, split
from attnviz.ui.canvas import packing
from attnviz.ui.shared import linked, links, quoted, set_linked, show_problem

PAINT = "m_paint"


def paint() -> mask_lab.Painted:
    """The painted cells, from this session or from the link."""
    return linked(PAINT, mask_lab.Painted(), _from_link)


def repaint(base: np.ndarray, wanted: np.ndarray) -> None:
    """Keep what the visitor painted over `base`. A callback."""
    keep(mask_lab.painted(base, wanted))


def keep(value: mask_lab.Painted) -> None:
    """Put the paint into the session and the link. A callback."""
    try:
        text = links.pack(to_json(value)) if value else None
    except Problem as problem:
        text = None
        show_problem(problem)
    set_linked(PAINT, value, text)


def to_json(value: mask_lab.Painted) -> dict[str, Any]:
    """The paint as bits: {"n": words, "on": base64, "off": base64}."""
    return {"n": value.size, "on": _bits(value.on, value.size), "off": _bits(value.off, value.size)}


def from_json(value: Any) -> mask_lab.Painted:
    """The paint of `to_json`; Problem when it is anything else."""
    try:
        size = int(value["n"])
        if not 0 < size <= LONGEST:
            raise ValueError
        on, off = (tuple(map(int, np.flatnonzero(_unbits(value[name], size)))) for name in ("on", "off"))
    except (KeyError, TypeError, ValueError, binascii.Error) as cause:
        raise Problem("The painted cells in this link cannot be read; the rules alone are shown.") from cause
    return mask_lab.Painted(size, on, off)


def named(word: str) -> str:
    """A word of the sentence inside a sentence of ours: italic, as typed, cut when it is very long."""
    return quoted(word if len(word) <= 30 else word[:28] + "…")


def words() -> tuple[str, ...]:
    """The sentence that was typed, as words; Problem when there is none or too many."""
    found = split(st.session_state.get("m_text") or "")
    if not found:
        raise Problem("There is no word in the sentence: type at least one.")
    if len(found) > LONGEST:
        raise Problem("The sentence has {n} words; this page takes at most {limit}.", n=len(found), limit=LONGEST)
    return found


def _from_link(text: str) -> mask_lab.Painted:
    try:
        return from_json(links.unpack(text))
    except Problem as problem:
        show_problem(problem)
        return mask_lab.Painted()


def _bits(flats: tuple[int, ...], size: int) -> str:
    grid = np.zeros(size * size, bool)
    grid[list(flats)] = True
    return base64.b64encode(packing.pack_bits(grid)).decode() if flats else ""


def _unbits(text: str, size: int) -> np.ndarray:
    if not text:
        return np.zeros((size, size), bool)
    return packing.unpack_bits(base64.b64decode(text, validate=True), (size, size))
