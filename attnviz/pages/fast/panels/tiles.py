"""Section 1: the scores in tiles, played one by one, with what each row keeps and what lies in which memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.links import link_state
from attnviz.base import units
from attnviz.base.words import _, sentences
from attnviz.canvas import tile_film
from attnviz.pages.fast import choices
from attnviz.pages.fast.figures.tiles import TilePicture
from attnviz.pages.fast.maths import tiles

filmed = st.cache_resource(max_entries=8, show_spinner=False)(tiles.run)
SLOW = (("Q", "n", "d"), ("K", "n", "d"), ("V", "n", "d"), ("O", "n", "d"), ("L", "n", "1"))
SLOW_BACKWARD = (*SLOW, ("dO", "n", "d"), ("D", "n", "1"), ("dQ", "n", "d"), ("dK", "n", "d"), ("dV", "n", "d"))


def panel() -> None:
    """Draw the section."""
    place = page_parts.main_picture()
    film = filmed(_ask())
    asked = link_state.value(choices.AT)
    at = film.middle if asked is None else min(asked, len(film.tiles) - 1)
    with place:
        draw(film, "fast-film", at, lambda step: link_state.put(choices.AT, step))
        _under(film, at)
    st.markdown(_said(film))
    show.snippet(tiles.program(film.config), "fast-tiles")


def _ask() -> tiles.Config:
    with page_parts.two_in_a_row("fast"):
        tokens = widgets.number(choices.FILM_TOKENS, _("Tokens"), step=16)
        block_q = widgets.one_of(choices.BLOCK_Q, _("Queries in a tile"), choices.named(choices.BLOCK_IDS))
        block_k = widgets.one_of(choices.BLOCK_K, _("Keys in a tile"), choices.named(choices.BLOCK_IDS))
        masks = {"causal": _("causal"), "window": _("sliding window"), "none": _("no mask")}
        mask = widgets.one_of(choices.MASK, _("Mask"), masks)
        passes = {"forward": _("forward"), "backward": _("backward")}
        way = widgets.one_of(choices.PASS, _("Pass"), passes)
        with page_parts.more():
            window = widgets.number(choices.WINDOW, _("Width of the window"), step=1)
            width = widgets.number(choices.FILM_WIDTH, _("Width of a head, d"), step=1)
            seed = widgets.number(choices.SEED, _("Vectors: random, seed"), step=1)
    return tiles.Config(tokens, width, int(block_q), int(block_k), mask, window, way == "backward", seed)


def draw(film: tiles.TileRun, key: str, at: int, on_step: Callable[[int], None]) -> None:
    """Draw the film at a step; `on_step` hears where the visitor stops."""
    config = film.config
    scene = tile_film.TileScene(
        config.tokens,
        (config.block_q, config.block_k),
        config.width,
        config.backward,
        film.tiles,
        film.shades,
        film.first,
        film.second,
        film.moved,
        [(part.name, part.rows, part.cols) for part in film.parts],
        SLOW_BACKWARD if config.backward else SLOW,
    )
    tile_film.tile_film(key, scene, at=at, on_step=on_step)


def _under(film: tiles.TileRun, at: int) -> None:
    config = film.config
    whole = tiles.NUMBER * config.tokens**2
    words = _(
        "One head over a length of {tokens}, random vectors (seed {seed}), numbers of 32 bits. The whole matrix of "
        "scores would take **{whole}**; it is never there."
    ).format(tokens=config.tokens, seed=config.seed, whole=units.binary(whole))
    show.under(
        lambda: picture(film, at),
        name=f"tile-{at + 1}-of-{len(film.tiles)}",
        key="fast-film-save",
        words=words,
        table=lambda: table(film, at),
    )


def _said(film: tiles.TileRun) -> str:
    what = _("gradients of Q, K and V") if film.config.backward else _("output")
    return sentences(
        _(
            "Against `attend`, which holds the whole matrix, the {what} differs by {gap:.1e} of its largest value."
        ).format(what=what, gap=film.difference),
        _("Tiles of {other} × {other} give another film, and a result {gap:.1e} away.").format(
            other=film.other_block, gap=film.other_difference
        ),
    )


def _kept(film: tiles.TileRun, at: int) -> tuple[np.ndarray, np.ndarray]:
    """What each line keeps once the tile `at` is done, NaN where it has met none: two numbers each."""
    config = film.config
    inner, outer, block = (0, 1, config.block_k) if config.backward else (1, 0, config.block_q)
    now = slice(film.tiles[at][outer] * block, (film.tiles[at][outer] + 1) * block)
    first, second = (
        np.where(np.arange(config.tokens) < now.start, each[-1], np.nan) for each in (film.first, film.second)
    )
    first[now], second[now] = (each[film.tiles[at][inner], now] for each in (film.first, film.second))
    return np.where(np.isfinite(first), first, np.nan), second


def picture(film: tiles.TileRun, at: int) -> TilePicture:
    """The film's picture at a step, for files."""
    config = film.config
    row, col = film.tiles[at]
    queries, keys = config.shape(film.tiles[at])
    shades = film.shades[row * config.block_q :, col * config.block_k :][:queries, :keys]
    words = tile_film.words_of(config.backward)
    read, written = (units.binary(float(n)) for n in film.moved[at])
    size = {"q": queries, "k": keys, "d": config.width, "1": 1}
    said = [
        words["fast"].format(bytes=units.binary(film.held(at))),
        *(f"    {part.name} {size[part.rows]} × {size[part.cols]}" for part in film.parts),
        words["slow"].format(read=read, written=written),
    ]
    names = (words["first"], words["second"])
    title = words["said"].format(
        step=at + 1,
        total=len(film.tiles),
        q0=row * config.block_q + 1,
        q1=row * config.block_q + queries,
        k0=col * config.block_k + 1,
        k1=col * config.block_k + keys,
    )
    return TilePicture(
        config.tokens,
        (config.block_q, config.block_k),
        film.tiles,
        at,
        shades,
        list(zip(names, _kept(film, at), strict=True)),
        config.backward,
        said,
        title,
    )


def table(film: tiles.TileRun, at: int) -> dict[str, list[Any]]:
    """What each line keeps, as columns."""
    words = tile_film.words_of(film.config.backward)
    first, second = _kept(film, at)
    line = "key" if film.config.backward else "query"
    numbers = {words["first"]: first, words["second"]: second}
    return {line: list(range(1, len(first) + 1))} | {name: values.tolist() for name, values in numbers.items()}
