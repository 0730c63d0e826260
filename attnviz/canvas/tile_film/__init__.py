"""Attention over tiles as a film: the tile at work on the matrix and large, what its lines keep, what lies where."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.base.words import _
from attnviz.canvas.shared.component import count, mount
from attnviz.canvas.shared.packing import fingerprint
from attnviz.figures.theme import V_GREEN
from attnviz.live import canvas_wording


@dataclass(frozen=True, eq=False)
class TileScene:
    """All that is played. Lines are queries forward and keys backward; `first` and `second` are what they keep after
    the tile with each block across them, (blocks, T).
    """

    tokens: int
    blocks: tuple[int, int]  #: queries and keys of a tile
    width: int
    backward: bool
    tiles: np.ndarray  #: (steps, 2)
    shades: np.ndarray  #: (T, T), what a cell holds, from -1 to 1 on its scale; NaN where masked
    first: np.ndarray
    second: np.ndarray
    moved: np.ndarray  #: (steps, 2), bytes read and written so far
    parts: Sequence[tuple[str, str, str]]  #: in fast memory: letter, and its sides, of "q", "k", "d" and "1"
    slow: Sequence[tuple[str, str, str]]  #: in slow memory, with sides of "n", "d" and "1"


def tile_film(key: str, scene: TileScene, *, at: int, on_step: Callable[[int], None]) -> None:
    """Draw the film at step `at`; `on_step` hears where the visitor stopped."""
    codes = np.where(np.isnan(scene.shades), 255, np.rint(127 + 127 * scene.shades))
    payload = codes.astype(np.uint8).tobytes() + b"".join(
        each.astype("<f4").tobytes() for each in (scene.first, scene.second)
    )
    header: dict[str, Any] = {
        "name": fingerprint(payload, scene.blocks, scene.backward),
        "tokens": scene.tokens,
        "blocks": list(scene.blocks),
        "width": scene.width,
        "backward": scene.backward,
        "tiles": scene.tiles.tolist(),
        "moved": scene.moved.tolist(),
        "parts": [list(part) for part in scene.parts],
        "slow": [list(part) for part in scene.slow],
        "at": at,
        "colours": canvas_wording.colours(),
        "green": V_GREEN,
        "words": words_of(scene.backward),
    }
    mount("tile_film", key, "stood", header, lambda told: count(told.get("at"), len(scene.tiles)), on_step, payload)


def words_of(backward: bool) -> dict[str, str]:
    """Sentences of the film; {names} are filled in by the browser."""
    of_pass = (
        {
            "scene": _("Tiles of the backward pass; the one at work holds the gradient of its scores"),
            "start": _("Key {line}: this tile is the first for it. Its dV has length {second}, its dK {other}."),
            "line": _(
                "Key {line}: its weights are computed again from q·k and each query’s log-sum-exp. Its dV grows from "
                "length {before} to {second}, its dK from {was} to {other}."
            ),
            "first": _("dV"),
            "second": _("dK"),
        }
        if backward
        else {
            "scene": _("Tiles of the matrix of scores; only the one at work holds scores"),
            "start": _("Query {line}: its largest score is {first}, and e^(score − {first}) sums to {second}."),
            "line": _(
                "Query {line}: a larger score, {first} after {was}. So the sum so far, {before}, is multiplied by "
                "e^({was} − {first}) = {factor}; this tile adds {added}: {second}."
            ),
            "same": _(
                "Query {line}: no score of this tile is above {first}, so the sum so far, {before}, stays; this tile "
                "adds {added}: {second}."
            ),
            "first": _("max"),
            "second": _("sum"),
        }
    )
    return (
        of_pass
        | {
            "back": _("Tile back"),
            "next": _("Next tile"),
            "start_over": _("First tile"),
            "end": _("Last tile"),
            "play": _("Play"),
            "rewind": _("Play backwards"),
            "pause": _("Pause"),
            "step": _("Tile"),
            "said": _("Tile {step} of {total}: queries {q0} to {q1}, keys {k0} to {k1}"),
            "blind": _("Query {line} sees no key up to here: nothing is added."),
            "fast": _("Fast memory: {bytes}"),
            "slow": _("Slow memory: {read} read, {written} written so far"),
            "part": _("{name} {rows} × {cols}, {bytes}"),
            "never": _("never there: the matrix, {rows} × {cols}, {bytes}"),
            "tile": _("The tile at work, line by line; up and down choose a line"),
        }
        | canvas_wording.joins()
    )
