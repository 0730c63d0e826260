"""Section 2: softmax saturates. The bars under a moving d_k, and many rows measured over d_k."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from attnviz.experiments import saturation, scaling
from attnviz.figures.scaling_curves import Limit, Line, over_d_k
from attnviz.ui import show
from attnviz.ui.scaling import controls, hero, results
from attnviz.ui.scaling.names import alternative_names, colour, formula
from attnviz.words import _


def panel() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        alternative, _parameter = controls.alternative()
        controls.number("d_k", "s_dk", 1)
        controls.number(_("Keys, n"), "s_keys", 1)
        controls.number(_("Seed"), "s_seed", 1)
    hero.bars("s_bars", alternative)
    row = results.one_query(chosen())
    st.markdown(_row_words(row))
    _formulas(row)
    curves(row)


def chosen() -> scaling.Config:
    """The row of bars as the controls have it, drawn or not."""
    alternative, parameter = controls.chosen_alternative()
    return scaling.Config(
        controls.whole("s_dk"), controls.whole("s_keys"), controls.whole("s_seed"), alternative, parameter
    )


def _row_words(result: scaling.Result) -> str:
    config, raw, scaled = result.config, result.raw, result.scaled
    return _(
        "**Random, seed {seed}.** At d_k = {d_k} the raw row gives {raw:.1%} to one of {n} keys and is as spread as "
        "{raw_keys:.3g} keys evenly; scaled, the largest weight is {scaled:.1%}, spread over {scaled_keys:.3g}."
    ).format(
        seed=config.seed,
        d_k=config.d_k,
        n=config.n_keys,
        raw=raw.largest,
        raw_keys=raw.effective,
        scaled=scaled.largest,
        scaled_keys=scaled.effective,
    )


def _formulas(result: scaling.Result) -> None:
    config = result.config
    for column, name, row in zip(
        st.columns(3),
        ("raw", "sqrt", config.alternative),
        (result.raw, result.scaled, result.alternative),
        strict=True,
    ):
        with column:
            largest = rf"\ \Rightarrow\ \max p = {row.largest:.4f}"
            st.latex(formula(name, config.d_k, config.n_keys, config.parameter) + largest)


def curves(row: scaling.Result) -> None:
    """Every measure over d_k: raw, scaled and the alternative."""
    config = row.config
    of = ("raw", "sqrt", config.alternative)
    made = {name: _curve(config, name) for name in of}
    known = saturation.limits(config.n_keys)
    rows = made["raw"].rows
    st.subheader(_("The same for {rows} rows, at every d_k").format(rows=rows), anchor=False)
    st.caption(
        _(
            "Lines are medians, bands hold the middle 80% of rows, grey dashes are limits known without drawing. "
            "Past 2 ln n = {frozen:.3g} the variance of raw scores is enough for a handful of keys to hold all the "
            "weight, however many keys there are."
        ).format(frozen=known.frozen_at)
    )
    measures = list(_measures(config, made, known))
    for start in range(0, len(measures), 2):
        for column, draw in zip(st.columns(2, gap="medium"), measures[start : start + 2], strict=False):
            with column:
                draw()


def _curve(config: scaling.Config, name: str) -> saturation.Result:
    parameter = config.parameter if name == config.alternative else 1.0
    return results.curves(saturation.Config(config.n_keys, config.seed, name, parameter))


def _measures(config: scaling.Config, made: dict[str, saturation.Result], known: saturation.Limits):  # type: ignore[no-untyped-def]
    """One function for each picture, in reading order."""
    n = config.n_keys
    x = made["raw"].d_k
    even, one = known.uniform, known.one_hot
    at = int(np.argmin(np.abs(np.log(x / config.d_k))))
    raw, scaled = made["raw"].bands, made["sqrt"].bands
    numbers = {"d_k": int(x[at]), "n": n, "rows": made["raw"].rows}

    def line(measure: str, mean: bool = False) -> list[Line]:
        names = alternative_names()
        return [
            Line(
                names[name],
                colour(name),
                result.bands[measure].middle,
                result.bands[measure].low,
                result.bands[measure].high,
                result.bands[measure].mean if mean and name in ("raw", "sqrt") else None,
            )
            for name, result in made.items()
        ]

    def draw(measure: str, title: str, words: str, **more):  # type: ignore[no-untyped-def]
        mean = bool(more.pop("mean", False))

        def picture() -> None:
            fig = over_d_k(x, line(measure, mean), title, here=config.d_k, **more)
            filled = words.format(
                raw=raw[measure].middle[at],
                scaled=scaled[measure].middle[at],
                raw_mean=raw[measure].mean[at],
                scaled_mean=scaled[measure].mean[at],
                **numbers,
            )
            table = {"d_k": x}
            for name, result in made.items():
                for part in ("low", "middle", "high", "mean"):
                    table[f"{name}_{part}"] = getattr(result.bands[measure], part)
            show.figure(
                fig, name=f"saturation-{measure}", key=f"s_{measure}", table=table, caption=filled, words=filled
            )

        return picture

    log_n = math.log(n) or 1.0
    root = np.sqrt(x)
    yield draw(
        "largest",
        _("Largest weight"),
        _("At d_k = {d_k} the median row gives its favourite key {raw:.0%} raw and {scaled:.0%} scaled."),
        limits=[Limit(_("even, 1/n"), even["largest"], below=True), Limit(_("one-hot"), one["largest"])],
        bounds=(0, 1.08),
    )
    yield draw(
        "certain",
        _("Share of rows with a weight over 0.99"),
        _("At d_k = {d_k}, {raw:.0%} of {rows} raw rows are as good as one-hot, {scaled:.0%} of scaled ones."),
        bounds=(-0.02, 1.04),
    )
    yield draw(
        "entropy",
        _("Entropy: nats, and share of ln n"),
        _(
            "At d_k = {d_k} the median entropy is {raw:.2f} nats raw and {scaled:.2f} scaled. "
            "Large n predicts ln n − d_k/2 for raw scores."
        ),
        limits=[Limit(_("even, ln n"), even["entropy"]), Limit(_("raw, predicted for large n"), known.entropy(x))],
        bounds=(0, log_n * 1.12),
        share_of=log_n,
    )
    yield draw(
        "effective",
        _("Effective number of keys"),
        _("At d_k = {d_k} a raw row looks at {raw:.3g} keys in effect, a scaled one at {scaled:.3g} of {n}."),
        limits=[Limit(_("even, n"), even["effective"]), Limit(_("one-hot"), 1.0, below=True)],
        bounds=(0, n * 1.1),
    )
    yield draw(
        "jacobian",
        _("Norm of the softmax Jacobian"),
        _("At d_k = {d_k} the median norm is {raw:.3f} raw and {scaled:.3f} scaled: what softmax lets through."),
        limits=[Limit(_("even, √(n−1)/n"), even["jacobian"], below=True), Limit(_("one-hot"), 0.0)],
        bounds=(-0.02, 0.62),
    )
    gradient = _(
        "At d_k = {d_k}: median {raw:.2g} raw, {scaled:.2g} scaled; mean {raw_mean:.2g} and {scaled_mean:.2g}. "
        "Raw, most rows get nothing while a few near-ties get much: the mean (dotted) hides it."
    )
    yield draw("to_q", _("Gradient that reaches q"), gradient, mean=True, bounds=_room(raw, scaled, "to_q"))
    yield draw("to_k", _("Gradient that reaches the keys"), gradient, mean=True, bounds=_room(raw, scaled, "to_k"))
    growth = np.full(len(x), math.sqrt(2 * math.log(n))) * root
    yield draw(
        "score",
        _("Largest logit"),
        _("At d_k = {d_k} the largest of {n} logits is {raw:.3g} raw and {scaled:.3g} scaled."),
        limits=[
            Limit(_("√d_k × mean largest of n normals"), known.largest_score * root),
            Limit(_("√(2 d_k ln n)"), growth),
        ]
        if n > 1
        else [],
        log_y=n >= 8,
    )


def _room(raw: dict[str, saturation.Band], scaled: dict[str, saturation.Band], measure: str) -> tuple[float, float]:
    top = max(float(band[measure].mean.max()) for band in (raw, scaled))
    return (-0.03 * top, 1.6 * top or 1.0)
