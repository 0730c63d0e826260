"""Section 1: products at a growing d_k, and their spread over many random pairs, raw and scaled, beside theory."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import guess, page_parts, show, widgets
from attnviz.app.cache.shared_results import finished_results, shared
from attnviz.app.links import link_state
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences
from attnviz.canvas import score_walk
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.scaling import choices, figures
from attnviz.pages.scaling.maths import growing_width, variance
from attnviz.pages.scaling.panels import saturation, scaling_form
from attnviz.pages.scaling.panels.scaling_form import K, Q

#: Over as many pairs as can be drawn without making the visitor wait.
at_once = shared(variance.first_result)
growth = shared(variance.growth)


def draw(config: variance.Config) -> str:
    """Draw the spread; the program that prints its numbers."""
    result = _result(config)
    page_parts.draw_columns(lambda: _histograms(result), lambda: _numbers(result), widths=[1.5, 1])
    _draw_broken_assumptions(result)
    _growth(result)
    return variance.program(replace(config, pairs=result.pairs))


def draw_controls() -> tuple[variance.Config, int]:
    """Draw the section's controls; returns what pairs are drawn of, and the number of keys."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        d_k = scaling_form.page_number_box(choices.D_K, "d_k", 1)
        n_keys = scaling_form.page_number_box(choices.KEYS, _("Keys, n"), 1)
        with page_parts.more_menu():
            distribution, strength = _distribution()
            pairs = scaling_form.page_number_box(choices.PAIRS, _("Pairs of q and k"), 10_000)
            seed = scaling_form.page_number_box(choices.SEED, _("Seed"), 1)
    config = variance.Config(d_k, min(pairs, variance.most_pairs(d_k)), seed, distribution, strength)
    if config.pairs < pairs:
        st.caption(_("At d_k = {d_k} at most {most:,} pairs are drawn.").format(d_k=config.d_k, most=config.pairs))
    return config, n_keys


def _distribution() -> tuple[str, float]:
    """Draw the distribution of the components; returns its id, and the correlation or mean that it has."""
    names = {
        "normal": _("normal"),
        "uniform": _("uniform"),
        "rademacher": _("Rademacher, ±1"),
        "heavy-tailed": _("heavy-tailed, t with 4 degrees of freedom"),
        "correlated": _("correlated q and k"),
        "shifted": _("mean not zero"),
    }
    strengths = {
        "correlated": (_("Correlation"), _("of each q_i with its k_i")),
        "shifted": (_("Mean"), _("of every component of q and of k")),
    }
    picked = widgets.select_one(choices.COMPONENTS, _("Components of q and k"), names, style="select")
    if picked not in strengths:
        return picked, 0.0
    label, help = strengths[picked]
    return picked, scaling_form.page_number_box(choices.STRENGTHS[picked], label, 0.1, help=help)


def _result(config: variance.Config) -> variance.Result:
    """The result over the pairs that can be drawn at once, or over all pairs after the visitor pressed the button."""
    result: variance.Result = finished_results("s-variance").find(config) or at_once(config)
    if result.complete:
        return result
    progress_slot = st.empty()
    with progress_slot.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            _("So far {drawn:,} of {asked:,} pairs are drawn, so that the page answers without waiting.").format(
                drawn=result.pairs, asked=config.pairs
            ),
            width="content",
        )
        more = st.button(_("Draw all {asked:,}").format(asked=config.pairs), key="s_draw_all")
    if not more:
        return result
    bar = progress_slot.progress(0.0)
    for result in variance.draw(config):
        bar.progress(
            result.pairs / config.pairs,
            _("{drawn:,} of {asked:,} pairs").format(drawn=result.pairs, asked=config.pairs),
        )
    progress_slot.empty()
    finished_results("s-variance").get(config, lambda: result)
    return result


def _histograms(result: variance.Result) -> None:
    raw, scaled, d_k = result.raw, result.scaled, result.config.d_k
    caption = (
        _("One random pair at d_k = {d_k}: its raw product is {centre:.2g}; divided by √{d_k}, {scaled_centre:.2g}.")
        if result.pairs == 1
        else _(
            "{pairs:,} random pairs at d_k = {d_k}: raw products scatter by {raw:.4g} (one standard deviation) around "
            "{centre:.2g}; divided by √{d_k}, by {scaled:.4g} around {scaled_centre:.2g}."
        )
    ).format(
        pairs=result.pairs,
        d_k=d_k,
        raw=math.sqrt(raw.variance),
        centre=raw.mean,
        scaled=math.sqrt(scaled.variance),
        scaled_centre=scaled.mean,
    )
    axis = (
        _("√1 is 1, so both are the same.")
        if d_k == 1
        else _("Both stand on one axis: raw products lie √{d_k} = {times:.3g} times as far out.").format(
            d_k=d_k, times=math.sqrt(d_k)
        )
    )
    show.figure(
        show.chart_of(figures.histograms, (raw.counts, raw.edges), (scaled.counts, scaled.edges), d_k),
        name=f"variance-dk{d_k}",
        key="s_histograms",
        table={
            "raw_from": raw.edges[:-1],
            "raw_to": raw.edges[1:],
            "raw_density": raw.counts,
            **({"scaled_density": scaled.counts} if len(scaled.counts) == len(raw.counts) else {}),
        },
        sentence=join_sentences(caption, axis, _shape(result)),
    )


def _shape(result: variance.Result) -> str:
    """A sentence on the shape where it is far from normal: the theory of this page predicts a variance only."""
    config = result.config
    excess = variance.moments(config.distribution, config.strength).kurtosis
    if excess is None or abs(excess / config.d_k) < 0.3:
        return ""
    return join_sentences(
        _(
            "Their shape is not normal yet: the excess kurtosis of such a sum is {kurtosis:.2g}, that of a normal 0. "
            "It shrinks like 1/d_k."
        ).format(kurtosis=excess / config.d_k),
        "" if config.strength else _("Only the variance is as predicted at every d_k."),
    )


def _numbers(result: variance.Result) -> None:
    raw, scaled, d_k = result.raw, result.scaled, result.config.d_k
    st.latex(
        rf"\begin{{aligned}}\mathrm{{Var}}({Q}\cdot {K}) &= \sum_{{i=1}}^{{{d_k}}}\mathrm{{Var}}({Q}_i{K}_i) = {d_k}\\"
        rf"\mathrm{{Var}}\left(\tfrac{{{Q}\cdot {K}}}{{\sqrt{{{d_k}}}}}\right) "
        rf"&= \tfrac{{{d_k}}}{{{d_k}}} = 1\end{{aligned}}"
    )
    measured, divided = st.columns(2)
    measured.metric(
        _("measured, raw"), format_measured(raw.variance, d_k), help=_("1/n variance of q·k over all pairs")
    )
    with_error, without = _("± {error:.2g}; predicted: {variance}"), _("predicted: {variance}")
    predicted = with_error if math.isfinite(raw.variance_error) else without
    measured.caption(predicted.format(error=raw.variance_error, variance=d_k))
    divided.metric(_("measured, scaled"), format_measured(scaled.variance, 1), help=_("1/n variance of q·k/√d_k"))
    divided.caption(predicted.format(error=scaled.variance_error, variance=1))
    st.markdown(
        join_sentences(
            _distance(result),
            _("Predicted for components of q and k that are independent, with mean 0 and variance 1."),
        )
    )


def format_measured(value: float, beside: float) -> str:
    """A measured value with as many decimals as help to compare it: 63.867 beside 64, 0.9979 beside 1."""
    if beside >= 1000:
        return f"{Rounded(value):,.1f}"
    return f"{Rounded(value):.3f}" if beside >= 10 else f"{Rounded(value):.4f}"


def _distance(result: variance.Result) -> str:
    raw = result.raw
    if result.pairs == 1:
        return _("One pair has no spread: draw more.")
    if not math.isfinite(raw.variance_error):
        return _("The sampling error of such a variance is infinite: no distance from d_k can be told in it.")
    template = _("The raw variance is **{off:.0f} sampling errors** away from d_k: the prediction fails.")
    if abs(raw.deviation) <= 3:
        template = _("The raw variance is {off:.1f} sampling errors away from d_k: no more than chance explains.")
    return template.format(off=abs(raw.deviation))


def _draw_broken_assumptions(result: variance.Result) -> None:
    config, raw, scaled = result.config, result.raw, result.scaled
    if config.distribution == "heavy-tailed":
        st.info(
            _(
                "The variance of a product exists and is 1, so the prediction holds. The fourth moment does not exist, "
                "and with it no sampling error: one pair in a million can move the variance."
            )
        )
    if config.distribution not in variance.BROKEN or not config.strength:
        return
    what = {
        "correlated": _("q and k are correlated, r = {strength:g}: each product has mean r and variance 1 + r²."),
        "shifted": _("Every component has mean m = {strength:g}: each product has mean m² and variance 1 + 2m²."),
    }[config.distribution].format(strength=config.strength)
    how = _(
        "So q·k has mean {mean:.4g} and variance {variance:.4g} (measured {m_mean:.4g} and {m_variance:.4g}), "
        "not 0 and {d_k}. Dividing by √d_k makes the variance {scaled:.4g} whatever d_k is, but leaves a mean of "
        "{left:.4g} that grows like √d_k."
    ).format(
        mean=raw.exact_mean,
        variance=raw.exact_variance,
        m_mean=raw.mean,
        m_variance=raw.variance,
        d_k=config.d_k,
        scaled=scaled.exact_variance,
        left=scaled.exact_mean,
    )
    st.warning(join_sentences(what, how))


def _growth(result: variance.Result) -> None:
    config = result.config
    grown = growth(config.seed, config.distribution, config.strength)
    scaled = grown.raw / grown.d_k
    show.figure(
        show.chart_of(
            figures.growth,
            grown.d_k,
            grown.raw,
            grown.error,
            grown.exact,
            here=(config.d_k, result.raw.variance, result.scaled.variance),
        ),
        name="variance-over-dk",
        key="s_growth",
        table={"d_k": grown.d_k, "raw": grown.raw, "raw_error": grown.error, "scaled": scaled},
        sentence=_(
            "From d_k = 1 to 4,096 the raw variance grows from {first:.2g} to {last:,.0f}, the scaled one stays "
            "between {low:.2f} and {high:.2f} ({pairs} pairs at each d_k, bars: two sampling errors)."
        ).format(
            first=grown.raw[0], last=grown.raw[-1], low=scaled.min(), high=scaled.max(), pairs=variance.GRID_PAIRS
        ),
    )


def growing_panel() -> str:
    """Draw the section; the program that prints its numbers."""
    picture_slot = page_parts.main_picture()
    spread_config, n_keys = draw_controls()
    config = growing_width.Config(spread_config.d_k, n_keys, spread_config.seed, "sqrt", 1.0)
    with picture_slot:
        _draw_walk(config)
    saturation_program = saturation.draw_measures(config)
    return f"{draw(spread_config)}\n\n{saturation_program}"


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
