"""How softmax saturates: many rows measured over d_k."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.base.words import _
from attnviz.pages.scaling import choices
from attnviz.pages.scaling.figures import Limit, Line, draw_over_d_k
from attnviz.pages.scaling.maths import growing_width, saturation
from attnviz.pages.scaling.panels import scaling_form

IN_A_ROW = 3


def draw_measures(config: growing_width.Config) -> str:
    """Draw the box with every measure of many rows over d_k; the program that prints their numbers."""
    box = widgets.expander(choices.MORE, _("Eight measures of many rows"), icon=":material/stacked_line_chart:")
    if box.open:
        with box:
            results = measure_schemes(config)
            st.caption(
                _(
                    "{rows} rows. Lines are medians, bands hold the middle 80% of rows, grey dashes are limits known "
                    "from theory. For many keys theory says: past d_k = 2 ln n, which is {frozen:.3g} here, raw scores "
                    "vary so much that a handful of keys hold all the weight."
                ).format(rows=results["raw"].rows, frozen=2 * math.log(config.n_keys))
            )
            _draw_in_rows(config, results, list(curve_pictures(config.n_keys, results).values()))
    return saturation.program(config, scheme_parameters(config))


@shared
def draw_curves(config: saturation.Config) -> saturation.Result:
    return saturation.run(config, scaling_form.vectors(config.n_keys, config.seed))


def measure_schemes(config: growing_width.Config) -> dict[str, saturation.Result]:
    """Raw, scaled and the alternative, by id, measured on the same vectors."""
    return {
        name: draw_curves(saturation.Config(config.n_keys, config.seed, name, p))
        for name, p in scheme_parameters(config).items()
    }


def scheme_parameters(config: growing_width.Config) -> dict[str, float]:
    """The parameter of raw, scaled and the alternative, by id."""
    return {"raw": 1.0, "sqrt": 1.0, config.alternative: config.parameter}


def draw_one(config: growing_width.Config, measure: str) -> None:
    """Draw one measure over d_k, as wide as there is room."""
    results = measure_schemes(config)
    _draw_curve(config, results, curve_pictures(config.n_keys, results)[measure])


@dataclass(frozen=True)
class CurvePicture:
    """How to draw one measure over d_k.

    `caption` is a template for d_k, n, rows, raw, scaled, raw_mean and scaled_mean.
    """

    measure: str
    title: str
    caption: str
    limits: Sequence[Limit] = ()
    bounds: tuple[float, float] | None = None
    mean: bool = False  #: whether to draw the means of raw and scaled too
    log_y: bool = False


def _draw_in_rows(
    config: growing_width.Config, results: dict[str, saturation.Result], pictures: Sequence[CurvePicture]
) -> None:
    for start in range(0, len(pictures), IN_A_ROW):
        for column, picture in zip(st.columns(IN_A_ROW, gap="medium"), pictures[start:], strict=False):
            with column:
                _draw_curve(config, results, picture)


def _draw_curve(config: growing_width.Config, results: dict[str, saturation.Result], picture: CurvePicture) -> None:
    d_k, at, names = results["raw"].d_k, saturation.nearest_on_grid(config.d_k), scaling_form.scheme_names()
    bands = {name: result.bands[picture.measure] for name, result in results.items()}
    lines = [
        Line(
            names[name],
            scaling_form.scheme_colour(name),
            band.middle,
            band.low,
            band.high,
            band.mean if picture.mean and name in ("raw", "sqrt") else None,
        )
        for name, band in bands.items()
    ]
    show.figure(
        draw_over_d_k(
            d_k,
            lines,
            picture.title,
            limits=picture.limits,
            here=config.d_k,
            bounds=picture.bounds,
            log_y=picture.log_y,
        ),
        name=f"saturation-{picture.measure}",
        key=f"s_{picture.measure}",
        table={"d_k": d_k}
        | {f"{name}_{statistic}": values for name, band in bands.items() for statistic, values in vars(band).items()},
        sentence=picture.caption.format(
            d_k=int(d_k[at]),
            n=config.n_keys,
            rows=results["raw"].rows,
            raw=bands["raw"].middle[at],
            scaled=bands["sqrt"].middle[at],
            raw_mean=bands["raw"].mean[at],
            scaled_mean=bands["sqrt"].mean[at],
        ),
    )


def curve_pictures(n: int, results: dict[str, saturation.Result]) -> dict[str, CurvePicture]:
    """Every measure of rows of n weights, by its name."""
    even, d_k = saturation.measure_equal_weights(n), results["raw"].d_k
    log_n, root = math.log(n) or 1.0, np.sqrt(d_k)
    gradient = _(
        "At d_k = {d_k}: median {raw:.2g} raw, {scaled:.2g} scaled; mean {raw_mean:.2g} and {scaled_mean:.2g}. "
        "Without scaling, as d_k grows, most rows get almost no gradient. The mean (dotted) hides it: near-ties "
        "still get some, and without scaling it lacks the factor 1/√d_k by which the chain rule multiplies the "
        "scaled one."
    )
    largest = [
        Limit(_("√d_k × mean largest of n normals"), saturation.largest_of_normals(n) * root),
        Limit(_("√(2 d_k ln n)"), math.sqrt(2 * math.log(n)) * root),
    ]
    every = (
        CurvePicture(
            "largest",
            _("Largest weight"),
            _("At d_k = {d_k} the median row gives its favourite key {raw:.0%} raw and {scaled:.0%} scaled."),
            [Limit(_("even, 1/n"), even["largest"]), Limit(_("one-hot"), 1.0)],
            (0, 1.08),
        ),
        CurvePicture(
            "certain",
            _("Share of rows with a weight over 0.99"),
            _("At d_k = {d_k}, {raw:.0%} of {rows} raw rows are as good as one-hot, {scaled:.0%} of scaled ones."),
            bounds=(-0.02, 1.04),
        ),
        CurvePicture(
            "entropy",
            _("Entropy, nats"),
            _(
                "At d_k = {d_k} the median entropy is {raw:.2f} nats raw and {scaled:.2f} scaled. For large n "
                "theory predicts ln n − d_k/2 for raw scores up to d_k = 2 ln n, and 0 beyond."
            ),
            [
                Limit(_("even, ln n"), even["entropy"]),
                Limit(_("raw, predicted for large n"), saturation.predicted_entropy(n, d_k)),
            ],
            (0, log_n * 1.12),
        ),
        CurvePicture(
            "effective",
            _("Effective number of keys"),
            _("At d_k = {d_k} a raw row looks at {raw:,.1f} keys in effect, a scaled one at {scaled:,.1f} of {n}."),
            [Limit(_("even, n"), even["effective"]), Limit(_("one-hot"), 1.0, below=True)],
            (0, n * 1.1),
        ),
        CurvePicture(
            "jacobian",
            _("Norm of the softmax Jacobian"),
            _(
                "At d_k = {d_k} the median norm is {raw:.3g} raw and {scaled:.3g} scaled. This is how much of "
                "a change in the scores softmax lets through."
            ),
            [Limit(_("even, √(n−1)/n"), even["jacobian"], below=True), Limit(_("one-hot"), 0.0)],
            (-0.02, 0.62),
        ),
        CurvePicture("to_q", _("Gradient that reaches q"), gradient, bounds=_padded_limits(results, "to_q"), mean=True),
        CurvePicture(
            "to_k", _("Gradient that reaches the keys"), gradient, bounds=_padded_limits(results, "to_k"), mean=True
        ),
        CurvePicture(
            "score",
            _("Largest logit"),
            _("At d_k = {d_k} the largest logit (n = {n}) is {raw:.3g} raw and {scaled:.3g} scaled."),
            largest if n > 1 else (),
            log_y=n >= 8,
        ),
    )
    return {picture.measure: picture for picture in every}


def _padded_limits(results: dict[str, saturation.Result], measure: str) -> tuple[float, float]:
    """Axis limits with room above the means. Fitted to the raw band, all other lines would be flat."""
    top = max(float(results[name].bands[measure].mean.max()) for name in ("raw", "sqrt"))
    return (-0.03 * top, 1.6 * top or 1.0)
