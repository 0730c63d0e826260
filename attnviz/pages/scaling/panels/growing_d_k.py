"""Section 1: from products that spread to a gradient that dries up, and the same counted on many pairs and rows."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.app import guess, page_parts, show
from attnviz.app.links import link_state
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences
from attnviz.canvas import score_walk
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.scaling import choices
from attnviz.pages.scaling.maths import growing_width
from attnviz.pages.scaling.panels import saturation, scaling_form, variance


def panel() -> str:
    """Draw the section; the program that prints its numbers."""
    picture_slot = page_parts.main_picture()
    spread_config, n_keys = variance.draw_controls()
    config = growing_width.Config(spread_config.d_k, n_keys, spread_config.seed, "sqrt", 1.0)
    with picture_slot:
        _draw_walk(config)
    saturation_program = saturation.draw_measures(config)
    return f"{variance.draw(spread_config)}\n\n{saturation_program}"


def _draw_walk(config: growing_width.Config) -> None:
    film = scaling_form.width_film(config.n_keys, config.seed, config.d_k)
    raw, scaled = saturation.measure_schemes(config).values()
    medians = (raw.d_k, raw.rows, raw.bands["jacobian"].middle, scaled.bands["jacobian"].middle)
    figure = score_walk.ScoreWalkFigure(film.d_k, film.scores, film.d_k.tolist().index(config.d_k), medians)

    def on_release(at: int) -> None:
        link_state.set_and_push(choices.D_K, int(film.d_k[at]))

    score_walk.score_walk("s_walk", figure, on_release=on_release)
    _ask(config)
    result = scaling_form.one_query_result(config)
    caption = describe_row(result)
    table: dict[str, Any] = {"key": range(1, config.n_keys + 1)}
    for name, row in result.rows.items():
        table |= {f"{name}_logit": row.logits, f"{name}_weight": row.weights}
    show.footer(
        lambda: SceneFigure((figure,), film=figure),
        name=f"scaling-dk{config.d_k}",
        key="s_walk_picture",
        canvas=show.live_canvas("s_walk"),
        table=table,
        caption=caption,
        sentence=caption,
    )


def _ask(config: growing_width.Config) -> None:
    """Ask how far products spread where d_k is four times as large; the answer goes there.

    Not where there are not so many numbers.
    """
    quarter, rest = divmod(config.d_k, 4)
    d_k = quarter if not rest and guess.asked_about(choices.GUESS) == str(quarter) else config.d_k
    if 4 * d_k > choices.D_K.high:
        return
    guess.ask(
        choices.GUESS,
        _("At d_k = {d_k}, four times as many random numbers: how far does q·k spread on average?").format(d_k=4 * d_k),
        {"same": _("Just as far"), "twice": _("Twice as far"), "four": _("Four times as far")},
        lambda: ("twice", describe_spread(replace(config, d_k=d_k))),
        about=str(d_k),
        shows=lambda answered: {choices.D_K: 4 * d_k if answered else d_k},
    )


def describe_spread(config: growing_width.Config) -> str:
    """How far products spread at this d_k and at four times as large a one: in theory, and those of the picture."""
    both = [config, replace(config, d_k=4 * config.d_k)]
    sizes = [float(np.sqrt(np.square(scaling_form.one_query_result(each).raw.logits).mean())) for each in both]
    return join_sentences(
        _(
            "q·k adds {d_k} independent numbers of variance 1, and variances add up: its standard deviation, √d_k, "
            "goes from {before:.4g} to {after:.4g}."
        ).format(d_k=both[1].d_k, before=math.sqrt(both[0].d_k), after=math.sqrt(both[1].d_k)),
        _("In this one draw (n = {n}, seed {seed}) its root mean square goes from {before:.3g} to {after:.3g}.").format(
            n=config.n_keys, seed=config.seed, before=Rounded(sizes[0]), after=Rounded(sizes[1])
        ),
    )


def describe_row(result: growing_width.Result) -> str:
    """The sentence under the picture: the largest weight and what softmax lets through, raw and scaled."""
    config, raw, scaled = result.config, result.raw, result.scaled
    return _(
        "**Scores are random (seed {seed}).** At d_k = {d_k} the raw row gives {raw:.1%} to one of the keys (n = {n}), "
        "the scaled row {scaled:.1%}. Of a small change in the scores softmax lets through {norm_raw:.3f} raw "
        "and {norm_scaled:.3f} scaled (the norm of its Jacobian)."
    ).format(
        seed=config.seed,
        d_k=config.d_k,
        n=config.n_keys,
        raw=raw.largest,
        scaled=scaled.largest,
        norm_raw=Rounded(raw.jacobian),
        norm_scaled=Rounded(scaled.jacobian),
    )
