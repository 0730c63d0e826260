"""Attention over tiles as a film: slow and fast memory, a door between them, and what has gone through it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from attnviz.base.words import _
from attnviz.canvas.head.ahead import offer_bytes
from attnviz.canvas.shared.component import count, mount_component
from attnviz.figures.theme import V_GREEN
from attnviz.live import canvas_wording

SENT = 1 << 16  #: bytes of cells and numbers that are sent with the header; more are fetched once, and kept


def tile_film(
    key: str,
    tiles_header: Mapping[str, Any],
    compute: Callable[[], tuple[np.ndarray, np.ndarray]],
    *,
    at: int,
    on_step: Callable[[int], None],
) -> None:
    """Draw the film at step `at`; `on_step` receives where the visitor stopped.

    `tiles_header` holds name, sizes, tiles, bytes and what lies in which memory, as TileHeader (types.d.ts). `compute`
    may be called later too. It returns the cells (T, T), from -1 to 1 on their scale, NaN where masked, and
    `line_stats` (2, blocks, T): two numbers of each line after the tile with each block across the lines. Lines are
    queries forward and keys backward.
    """
    many = tiles_header["tokens"] ** 2 > SENT
    address = offer_bytes(("tiles", tiles_header["name"]), lambda: _payload(*compute())) if many else ""
    header = _header(tiles_header, at) | {"address": address}
    payload = b"" if many else _payload(*compute())
    mount_component(
        "tile_film",
        key,
        "stood",
        header,
        lambda heard: count(heard.get("at"), len(tiles_header["tiles"])),
        on_step,
        payload,
    )


@dataclass(frozen=True, eq=False)
class TileFigure:
    """The film at step `at` as a part of a figure; the other fields are as `tile_film` takes them."""

    scene: ClassVar[str] = "tiles"
    tiles_header: Mapping[str, Any]
    shades: np.ndarray
    line_stats: np.ndarray
    at: int

    @property
    def title(self) -> str:
        """The tile in a sentence, as the film says it."""
        tokens, tile = self.tiles_header["tokens"], self.tiles_header["tiles"][self.at]
        tall, wide = self.tiles_header["blocks"]
        q, k = tile[0] * tall, tile[1] * wide
        return film_text(self.tiles_header["backward"])["said"].format(
            step=self.at + 1,
            total=len(self.tiles_header["tiles"]),
            q0=q + 1,
            q1=min(q + tall, tokens),
            k0=k + 1,
            k1=min(k + wide, tokens),
        )

    @property
    def header(self) -> dict[str, Any]:
        return _header(self.tiles_header, self.at) | {"title": self.title}

    @property
    def payload(self) -> bytes:
        return _payload(self.shades, self.line_stats)


def _header(tiles_header: Mapping[str, Any], at: int) -> dict[str, Any]:
    look = {"colours": canvas_wording.scene_colours(), "green": V_GREEN, "words": film_text(tiles_header["backward"])}
    return {**tiles_header, "at": at, **look}


def _payload(shades: np.ndarray, line_stats: np.ndarray) -> bytes:
    codes = np.where(np.isnan(shades), 255, np.rint(127 + 127 * shades))
    return codes.astype(np.uint8).tobytes() + line_stats.astype("<f4").tobytes()


def film_text(backward: bool) -> dict[str, str]:
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
            "film": _("Attention over tiles"),
            "fast": _("Fast memory: {bytes}"),
            "slow": _("Slow memory"),
            "read": _("{what} read"),
            "written": _("{what} written"),
            "tiled": _("in tiles"),
            "naive": _("naive way"),
            "of": _("{bytes} of {all}"),
            "reads": _(
                "Up to here {bytes} of {tiled} have gone through the door. The naive way, at the same pace, still "
                "reads {name}: it moves {naive}."
            ),
            "writes": _(
                "Up to here {bytes} of {tiled} have gone through the door. The naive way, at the same pace, still "
                "writes {name}: it moves {naive}."
            ),
            "beaten": _(
                "Up to here {bytes} of {tiled} have gone through the door; the naive way is done with {naive}."
            ),
            "won": _(
                "In tiles {tiled} go through the door. The naive way moves {naive}, {times} times as many: its "
                "matrices go out and come back."
            ),
            "lost": _(
                "In tiles this small {tiled} go through the door, as the same strips come again and again. The naive "
                "way moves {naive}."
            ),
            "part": _("{name} {rows} × {cols}, {bytes}"),
            "never": _("never built: {bytes}"),
            "tile": _("The tile at work, line by line; up and down choose a line"),
        }
        | canvas_wording.joining_text()
    )
