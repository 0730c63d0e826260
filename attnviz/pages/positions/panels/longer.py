"""Section 4: texts longer than trained, and what each scaling does to the wavelengths."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.links import link_state
from attnviz.app.text import with_minus
from attnviz.base.words import _, sentences
from attnviz.pages.positions import choices as positions_choices
from attnviz.pages.positions.figures import rotation as figures
from attnviz.pages.positions.maths import longer_context, position_snippets
from attnviz.pages.positions.panels import position_results

FORMULAS = {
    "none": r"\theta_i = b^{-2i/D}",
    "linear": r"\theta_i' = \theta_i / s",
    "ntk": r"b' = b\, s^{D/(D-2)}",
    "dynamic": r"b' = b\left(s\tfrac{n}{L} - (s-1)\right)^{D/(D-2)}",
    "yarn": r"\theta_i' = \gamma_i\theta_i + (1-\gamma_i)\tfrac{\theta_i}{s}\\ q, k \times (0.1\ln s + 1)",
    "llama3": r"\theta_i' = \gamma_i\theta_i + (1-\gamma_i)\tfrac{\theta_i}{s}\\ "
    r"\gamma_i = \mathrm{clamp}\left(\tfrac{L\theta_i/2\pi - 1}{4 - 1}\right)",
}


def panel() -> None:
    config = _controls()
    result = position_results.longer(config)
    sizes = rf"s = {config.factor:g},\quad L = {tex_count(config.length)}"
    st.latex(rf"\begin{{gathered}}{sizes}\\ {FORMULAS[config.method]}\end{{gathered}}")
    st.markdown(f"**{_verdict(result)}**")
    _waves(result)
    _distance(result)
    _table(result)
    position_results.program(position_snippets.longer(config), "longer")


def chosen() -> longer_context.Config:
    """The configuration from the current choices."""
    value = link_state.value
    return longer_context.Config(
        value(positions_choices.METHOD),
        value(positions_choices.FACTOR),
        value(positions_choices.TRAINED),
        value(positions_choices.WIDTH),
        value(positions_choices.BASE),
    )


def _controls() -> longer_context.Config:
    widgets.one_of(positions_choices.METHOD, _("Scaling"), position_results.methods())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        widgets.number(positions_choices.TRAINED, _("Trained on, positions"), step=1024, width=170)
        widgets.number(positions_choices.FACTOR, _("Times longer, s"), step=1.0, width=150)
        widgets.number(positions_choices.WIDTH, _("Width D"), step=2, width=150)
        widgets.number(positions_choices.BASE, _("Base b"), step=1000.0, width=150)
    return chosen()


def _verdict(result: longer_context.Result) -> str:
    config, made = result.config, result.methods[result.config.method]
    pairs = len(made.wavelengths)
    if made.new:
        return _(
            "With {n:,} positions {new} of {pairs} pairs reach angles that they never had in training: these are the "
            "slow ones, which had not completed a turn within {trained:,} positions."
        ).format(n=result.target, new=made.new, pairs=pairs, trained=config.length)
    if not made.slowed:
        return _(
            "Within {n:,} positions no pair reaches an angle that it did not have in training, and none turns more "
            "slowly."
        ).format(n=result.target)
    return _(
        "Within {n:,} positions no pair reaches an angle that it did not have in training. The price: {slowed} of "
        "{pairs} pairs turn more slowly, and the angle between neighbours in the fastest pair is {neighbours:.0%} of "
        "what it was."
    ).format(n=result.target, slowed=made.slowed, pairs=pairs, neighbours=made.neighbours)


def _waves(result: longer_context.Result) -> None:
    config, names = result.config, position_results.methods()
    lines = {names[method]: made.wavelengths for method, made in result.methods.items()}
    made = result.methods[config.method]
    plain = result.methods["none"]
    words = _(
        "{method}: the fastest pair turns once in {first:.3g} positions (as trained: {first_was:.3g}), the slowest in "
        "{last:,.0f} ({last_was:,.0f}); {unfinished} pairs are longer than the {trained:,} positions of training."
    ).format(
        method=names[config.method],
        first=made.wavelengths[0],
        first_was=plain.wavelengths[0],
        last=made.wavelengths[-1],
        last_was=plain.wavelengths[-1],
        unfinished=result.unfinished,
        trained=config.length,
    )
    fig = chart_of(figures.wavelengths, lines, names[config.method], config.length, result.target)
    table = {"pair": np.arange(len(plain.wavelengths))} | {m: each.wavelengths for m, each in result.methods.items()}
    show.figure(fig, name="wavelengths-scaled", key="p_longer_waves", table=table, caption=words, words=words)


def _distance(result: longer_context.Result) -> None:
    config = result.config
    beyond = result.distance > config.length
    words = _("Score q·k/√D of two vectors of ones over the distance, averaged over stretches.")
    if beyond.any():
        words = sentences(
            words,
            _(
                "Beyond the trained length (shaded) the largest is {plain:.3g} unscaled and {chosen:.3g} with the "
                "scaling."
            ).format(plain=result.plain[beyond].max(), chosen=result.chosen[beyond].max()),
        )
    made = result.methods[config.method]
    if made.length != 1:
        words = sentences(
            words,
            _("YaRN also makes q and k {length:.3f} times as long, so that scores grow by {grown:.2f}.").format(
                length=made.length, grown=made.length**2
            ),
        )
    name = position_results.methods()[config.method]
    words = with_minus(words)
    fig = chart_of(figures.over_distance, result.distance, result.plain, result.chosen, name, config.length)
    table = {"distance": result.distance, "as_trained": result.plain, config.method: result.chosen}
    show.figure(fig, name="longer-distance", key="p_longer_distance", table=table, caption=words, words=words)


def _table(result: longer_context.Result) -> None:
    names = position_results.methods()
    rows = [
        {
            _("scaling"): names[method],
            _("pairs at new angles"): made.new,
            _("pairs slowed"): made.slowed,
            _("fastest pair, turn in"): f"{made.wavelengths[0]:.3g}",
            _("slowest pair, turn in"): f"{made.wavelengths[-1]:,.0f}",
            _("q and k ×"): f"{made.length:.3f}",
        }
        for method, made in result.methods.items()
    ]
    st.dataframe(rows, hide_index=True, key="p_longer_table")


def tex_count(value: int) -> str:
    """A whole number for a formula, with commas that take no space after them."""
    return f"{value:,}".replace(",", "{,}")
