"""Section 3: one pair of a query and a key, turned on a circle as the position moves."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.links import link_state
from attnviz.app.text import with_minus
from attnviz.base.words import _
from attnviz.canvas import rotation_circle
from attnviz.figures.theme import Figure
from attnviz.pages.positions import choices as positions_choices
from attnviz.pages.positions.figures import rotation as figures
from attnviz.pages.positions.maths import pair_rotation, position_snippets
from attnviz.pages.positions.panels import position_results


def panel() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        widgets.number(positions_choices.WIDTH, _("Width D"), step=2, width=150)
        widgets.number(positions_choices.BASE, _("Base b"), step=1000.0, width=150)
        widgets.number(positions_choices.SEED, _("q and k: random, seed"), step=1, width=180)
    config = chosen()
    result = position_results.rotation(config)
    st.latex(
        rf"\begin{{gathered}}\theta_{{{config.pair}}} = {config.base:g}^{{-{2 * config.pair}/{config.width}}} = "
        rf"{result.turns[config.pair]:.4g}\ \text{{rad}}\\ (n-m)\theta_{{{config.pair}}} = "
        rf"({config.k_at} - {config.q_at})\cdot {result.turns[config.pair]:.4g} = "
        rf"{result.angle:.4g}\,\text{{rad}}\end{{gathered}}"
    )
    rotation_circle.rotation_circle(
        "p_circle",
        result.turns,
        result.q,
        result.k,
        at=rotation_circle.RotationPlace(config.pair, config.q_at, config.k_at),
        last=positions_choices.LAST,
        on_pick=_pick,
    )
    words = _(
        "Turned, this pair’s part of q·k is {product:.4g}; all {pairs} pairs together give {score:.4g}, and "
        "{unturned:.4g} before they are turned."
    ).format(product=result.product, pairs=len(result.turns), score=result.score, unturned=result.unturned)
    words = with_minus(words)
    show.under(
        lambda: _figure(result),
        name=f"pair-{config.pair}",
        key="p_circle_under",
        table=lambda: {"pair": np.arange(len(result.turns)), "radians_per_position": result.turns},
        caption=words,
        words=words,
    )
    position_results.program(position_snippets.circle(config), "circle")


def chosen() -> pair_rotation.Config:
    """The configuration from the current choices; the pair is one that a head of this width has."""
    value = link_state.value
    width = value(positions_choices.WIDTH)
    return pair_rotation.Config(
        width,
        value(positions_choices.BASE),
        max(0, min(value(positions_choices.PAIR), width // 2 - 1)),
        value(positions_choices.Q_AT),
        value(positions_choices.K_AT),
        value(positions_choices.SEED),
    )


def _pick(place: rotation_circle.RotationPlace) -> None:
    """Remember where the visitor let go. A callback."""
    link_state.put_all(
        {
            positions_choices.PAIR: place.pair,
            positions_choices.Q_AT: place.q_at,
            positions_choices.K_AT: place.k_at,
        }
    )


def _figure(result: pair_rotation.Result) -> Figure:
    config, pair = result.config, result.config.pair
    title = _("Pair {pair}: q at position {q_at}, k at position {k_at}").format(
        pair=pair, q_at=config.q_at, k_at=config.k_at
    )
    return figures.pair(result.q[pair], result.k[pair], result.q_turned, result.k_turned, title)
