"""The curves of section 2: measures over d_k, for raw, scaled and the alternative, with their sentences and limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from attnviz.app import show
from attnviz.base.words import _
from attnviz.pages.scaling.figures.curves import Limit, Line, over_d_k
from attnviz.pages.scaling.maths import growing_width, saturation
from attnviz.pages.scaling.panels import results
from attnviz.pages.scaling.panels.results import alternative_names, colour


@dataclass(frozen=True)
class CurvePicture:
    """How to draw one measure over d_k.

    `words` is a template for d_k, n, rows, raw, scaled, raw_mean and scaled_mean.
    """

    measure: str
    title: str
    words: str
    limits: Sequence[Limit] = ()
    bounds: tuple[float, float] | None = None
    mean: bool = False  #: whether to draw the means of raw and scaled too
    share_of: float | None = None
    log_y: bool = False


@dataclass(frozen=True)
class MeasuredCurves:
    """Raw, scaled and the alternative, measured on the same vectors."""

    config: growing_width.Config
    made: dict[str, saturation.Result]  #: by id: "raw", "sqrt", and the alternative

    @property
    def d_k(self) -> np.ndarray:
        return self.made["raw"].d_k

    @property
    def at(self) -> int:
        """The index of the measured d_k that is nearest to the chosen one."""
        return int(np.argmin(np.abs(np.log(self.d_k / self.config.d_k))))


def measured(config: growing_width.Config) -> MeasuredCurves:
    """The measured curves for `config`, from the cache where possible."""
    parameters = {"raw": 1.0, "sqrt": 1.0, config.alternative: config.parameter}
    configs = {name: saturation.Config(config.n_keys, config.seed, name, p) for name, p in parameters.items()}
    return MeasuredCurves(config, {name: results.curves(one) for name, one in configs.items()})


#: the measures that are drawn at once: what softmax gives, how spread that is, and what gets back through it
FIRST = ("largest", "entropy", "jacobian")
MORE = ("certain", "effective", "to_q", "to_k", "score")
IN_A_ROW = 3


def draw(found: MeasuredCurves, measures: Sequence[str]) -> None:
    """Draw these measures over d_k, three in a row."""
    every = _every(found)
    for start in range(0, len(measures), IN_A_ROW):
        some = [every[name] for name in measures[start : start + IN_A_ROW]]
        for column, picture in zip(st.columns(IN_A_ROW, gap="medium"), some, strict=False):
            with column:
                _draw(found, picture)


def draw_one(found: MeasuredCurves, measure: str) -> None:
    """Draw one measure over d_k, as wide as there is room."""
    _draw(found, _every(found)[measure])


def _every(found: MeasuredCurves) -> dict[str, CurvePicture]:
    known = saturation.limits(found.config.n_keys)
    return {picture.measure: picture for picture in [*_of_weights(found, known), *_of_gradients(found, known)]}


def _draw(found: MeasuredCurves, picture: CurvePicture) -> None:
    measure, at = picture.measure, found.at
    raw, scaled = (found.made[name].bands[measure] for name in ("raw", "sqrt"))
    fig = over_d_k(
        found.d_k,
        _lines(found, picture),
        picture.title,
        limits=picture.limits,
        here=found.config.d_k,
        bounds=picture.bounds,
        share_of=picture.share_of,
        log_y=picture.log_y,
    )
    words = picture.words.format(
        d_k=int(found.d_k[at]),
        n=found.config.n_keys,
        rows=found.made["raw"].rows,
        raw=raw.middle[at],
        scaled=scaled.middle[at],
        raw_mean=raw.mean[at],
        scaled_mean=scaled.mean[at],
    )
    table = {"d_k": found.d_k} | {
        f"{name}_{part}": values
        for name, result in found.made.items()
        for part, values in vars(result.bands[measure]).items()
    }
    show.figure(fig, name=f"saturation-{measure}", key=f"s_{measure}", table=table, caption=words, words=words)


def _lines(found: MeasuredCurves, picture: CurvePicture) -> list[Line]:
    names = alternative_names()
    lines = []
    for name, result in found.made.items():
        band = result.bands[picture.measure]
        mean = band.mean if picture.mean and name in ("raw", "sqrt") else None
        lines.append(Line(names[name], colour(name), band.middle, band.low, band.high, mean))
    return lines


def _of_weights(found: MeasuredCurves, known: saturation.Limits) -> list[CurvePicture]:
    even, n = known.uniform, known.n_keys
    log_n = math.log(n) or 1.0
    return [
        CurvePicture(
            "largest",
            _("Largest weight"),
            _("At d_k = {d_k} the median row gives its favourite key {raw:.0%} raw and {scaled:.0%} scaled."),
            [Limit(_("even, 1/n"), even["largest"]), Limit(_("one-hot"), known.one_hot["largest"])],
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
            _("Entropy: nats, and share of ln n"),
            _(
                "At d_k = {d_k} the median entropy is {raw:.2f} nats raw and {scaled:.2f} scaled. For large n "
                "theory predicts ln n − d_k/2 for raw scores up to d_k = 2 ln n, and 0 beyond."
            ),
            [
                Limit(_("even, ln n"), even["entropy"]),
                Limit(_("raw, predicted for large n"), known.entropy(found.d_k)),
            ],
            (0, log_n * 1.12),
            share_of=log_n,
        ),
        CurvePicture(
            "effective",
            _("Effective number of keys"),
            _("At d_k = {d_k} a raw row looks at {raw:,.1f} keys in effect, a scaled one at {scaled:,.1f} of {n}."),
            [Limit(_("even, n"), even["effective"]), Limit(_("one-hot"), 1.0, below=True)],
            (0, n * 1.1),
        ),
    ]


def _of_gradients(found: MeasuredCurves, known: saturation.Limits) -> list[CurvePicture]:
    n, root = known.n_keys, np.sqrt(found.d_k)
    gradient = _(
        "At d_k = {d_k}: median {raw:.2g} raw, {scaled:.2g} scaled; mean {raw_mean:.2g} and {scaled_mean:.2g}. "
        "Without scaling, as d_k grows, most rows get almost no gradient while a few near-ties get much: the "
        "mean (dotted) hides it."
    )
    largest = [
        Limit(_("√d_k × mean largest of n normals"), known.largest_score * root),
        Limit(_("√(2 d_k ln n)"), math.sqrt(2 * math.log(n)) * root),
    ]
    return [
        CurvePicture(
            "jacobian",
            _("Norm of the softmax Jacobian"),
            _(
                "At d_k = {d_k} the median norm is {raw:.3f} raw and {scaled:.3f} scaled. This is how much of "
                "a change in the scores softmax lets through."
            ),
            [Limit(_("even, √(n−1)/n"), known.uniform["jacobian"], below=True), Limit(_("one-hot"), 0.0)],
            (-0.02, 0.62),
        ),
        CurvePicture("to_q", _("Gradient that reaches q"), gradient, (), _room(found, "to_q"), mean=True),
        CurvePicture("to_k", _("Gradient that reaches the keys"), gradient, (), _room(found, "to_k"), mean=True),
        CurvePicture(
            "score",
            _("Largest logit"),
            _("At d_k = {d_k} the largest of {n} logits is {raw:.3g} raw and {scaled:.3g} scaled."),
            largest if n > 1 else (),
            log_y=n >= 8,
        ),
    ]


def _room(found: MeasuredCurves, measure: str) -> tuple[float, float]:
    """Limits of the axis that leave room above the means; scaled to the raw band, all other lines would be flat."""
    top = max(float(found.made[name].bands[measure].mean.max()) for name in ("raw", "sqrt"))
    return (-0.03 * top, 1.6 * top or 1.0)
