"""Section 1: the scores in tiles, played one by one, with what each row keeps and what lies in which memory."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import guess, page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.links import link_state
from attnviz.base import units
from attnviz.base.words import _, join_sentences
from attnviz.canvas import tile_film
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.fast import choices
from attnviz.pages.fast.maths import tiles

cached_run = shared(tiles.run)


def panel() -> None:
    """Draw the section."""
    container = page_parts.main_picture()
    config = _draw_controls()
    film = cached_run(config)
    at = widgets.limit_choice(choices.AT, len(film.tiles) - 1, usual=film.middle_step)
    with container:
        draw(film, "fast-film", at, lambda step: link_state.set_and_push(choices.AT, step))
        _ask(config)
        show.footer(
            lambda: tile_figure(film, at),
            name=f"tile-{at + 1}-of-{len(film.tiles)}",
            key="fast-film-save",
            canvas=show.live_canvas("fast-film"),
            sentence=_(
                "One head over {tokens} {tokens:token|tokens}, random vectors (seed {seed}), 32-bit numbers. The "
                "whole matrix of "
                "scores would take **{whole}**; it is never built."
            ).format(tokens=config.tokens, seed=config.seed, whole=units.binary(tiles.NUMBER * config.tokens**2)),
            table=lambda: running_table(film, at),
        )
    st.markdown(_describe_difference(film))
    show.program(tiles.program(config), "fast-tiles")


def _draw_controls() -> tiles.Config:
    with page_parts.paired_columns("fast"):
        tokens = widgets.number_box(choices.FILM_TOKENS, _("Tokens"), step=16)
        block_q = widgets.select_one(choices.BLOCK_Q, _("Queries in a tile"), choices.BLOCK_IDS)
        block_k = widgets.select_one(choices.BLOCK_K, _("Keys in a tile"), choices.BLOCK_IDS)
        masks = {"causal": _("causal"), "window": _("sliding window"), "none": _("no mask")}
        mask = widgets.select_one(choices.MASK, _("Mask"), masks)
        passes = {"forward": _("forward"), "backward": _("backward")}
        way = widgets.select_one(choices.PASS, _("Pass"), passes)
        with page_parts.more_menu():
            window = widgets.number_box(choices.WINDOW, _("Width of the window"), step=1)
            width = widgets.number_box(choices.FILM_WIDTH, _("Width of a head, d"), step=1)
            seed = widgets.number_box(choices.SEED, _("Vectors: random, seed"), step=1)
    return tiles.Config(tokens, width, int(block_q), int(block_k), mask, window, way == "backward", seed)


def draw(film: tiles.TileRun, key: str, at: int, on_step: Callable[[int], None]) -> None:
    """Draw the film at a step; `on_step` is called with the step where the visitor stops."""
    tile_film.tile_film(key, film.canvas_header, partial(_film_arrays, film.config), at=at, on_step=on_step)


def _ask(config: tiles.Config) -> None:
    """Ask which larger tiles save more traffic; not where no larger ones can be chosen."""
    if 2 * max(config.blocks) > max(tiles.BLOCKS):
        return

    def compare() -> tuple[str, str]:
        right, moved = compare_doubled(config)
        now, with_queries, with_keys = map(units.binary, moved)
        numbers = _(
            "Now {now} go through the door; {with_queries} with {queries} queries in a tile, {with_keys} with {keys} "
            "keys."
        ).format(
            now=now, with_queries=with_queries, with_keys=with_keys, queries=2 * config.block_q, keys=2 * config.block_k
        )
        reason = (
            _("Each block of keys reads its queries anew.")
            if config.backward
            else _("Each block of queries reads its keys and values anew.")
        )
        return right, join_sentences(numbers, reason)

    guess.ask(
        choices.GUESS,
        _("What saves more bytes: twice as many queries in a tile, or twice as many keys?"),
        {"queries": _("Queries"), "keys": _("Keys"), "alike": _("Both alike")},
        compare,
        about="backward" if config.backward else "forward",
    )


def compare_doubled(config: tiles.Config) -> tuple[str, list[int]]:
    """Whether twice as many "queries" in a tile or "keys" move fewer bytes, or "alike"; bytes now, and of each."""
    taller, wider = replace(config, block_q=2 * config.block_q), replace(config, block_k=2 * config.block_k)
    moved = [int(cached_run(each).bytes_moved[-1].sum()) for each in (config, taller, wider)]
    return "alike" if moved[1] == moved[2] else "queries" if moved[1] < moved[2] else "keys", moved


def _film_arrays(config: tiles.Config) -> tuple[np.ndarray, np.ndarray]:
    film = cached_run(config)
    return film.shades, film.line_stats


def _describe_difference(film: tiles.TileRun) -> str:
    what = _("gradients of Q, K and V") if film.config.backward else _("output")
    return join_sentences(
        _(
            "Against `attend`, which holds the whole matrix, the largest difference of the {what} is {gap:.1e} of the "
            "largest value."
        ).format(what=what, gap=film.difference),
        _("Tiles of {other} × {other} give a result {gap:.1e} away.").format(
            other=film.other_block, gap=film.other_difference
        ),
    )


def running_numbers(film: tiles.TileRun, at: int) -> dict[str, np.ndarray]:
    """The two running numbers of each line after tile `at`, by name, each (T,); NaN before its first tile."""
    line_side = int(film.config.backward)  # the side of a tile on which its lines stand
    tile, block_of_line = film.tiles[at], np.arange(film.config.tokens) // film.config.blocks[line_side]
    latest = np.where(block_of_line < tile[line_side], film.line_stats[:, -1], film.line_stats[:, tile[1 - line_side]])
    names = tile_film.film_text(film.config.backward)
    numbers = np.where((block_of_line <= tile[line_side]) & np.isfinite(latest), latest, np.nan)
    return dict(zip((names["first"], names["second"]), numbers, strict=True))


def tile_figure(film: tiles.TileRun, at: int) -> SceneFigure:
    """The film's picture at a step, for files."""
    figure = tile_film.TileFigure(film.canvas_header, film.shades, film.line_stats, at)
    return SceneFigure((figure,), figure.title, figure)


def running_table(film: tiles.TileRun, at: int) -> dict[str, list[Any]]:
    """Table of the running numbers, one row per query or key."""
    line = "key" if film.config.backward else "query"
    numbers = {name: values.tolist() for name, values in running_numbers(film, at).items()}
    return {line: list(range(1, film.config.tokens + 1))} | numbers
