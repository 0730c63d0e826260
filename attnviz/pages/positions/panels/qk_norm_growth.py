"""Section 7: queries and keys that grow, with and without RMSNorm, as in video transformers."""

import math
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures import heatmap
from attnviz.pages.positions import choices
from attnviz.pages.positions.figures import rotation as figures
from attnviz.pages.positions.maths import qk_norm_growth as experiment

norm = shared(experiment.run)


def panel() -> None:
    place = page_parts.main_picture()
    frames, rows, columns = experiment.GRID
    st.markdown(
        _(
            "Training lets the weights of queries and keys grow. Here {patches} random patches of a video ({frames} "
            "frames of {rows} × {columns}) are projected by random W_q and W_k times a factor, normalised or not, "
            "turned by RoPE over time, height and width, and compared, in {heads} heads."
        ).format(patches=frames * rows * columns, frames=frames, rows=rows, columns=columns, heads=experiment.HEADS)
    )
    config = _controls()
    result = norm(config)
    st.latex(
        r"\begin{gathered}\mathrm{RMSNorm}(q) = \frac{q}{\sqrt{\mathrm{mean}(q^2)}}\,\gamma\\ "
        rf"\left|\tfrac{{q\cdot k}}{{\sqrt{{{config.d_head}}}}}\right| \le {Rounded(result.bound):.4g}"
        r"\quad(\gamma = 1)\end{gathered}"
    )
    st.markdown(f"**{_verdict(result)}**")
    with place:
        _matrices(result)
    _curves(result)
    show.snippet(
        experiment.program(config),
        "p-norm",
        about=_("Paste this code into a notebook: it prints the largest |logit| and the entropy at this factor."),
    )


def _controls() -> experiment.Config:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        norm = widgets.one_of(
            choices.NORM,
            _("RMSNorm of q and k"),
            {"full": _("over all heads together"), "head": _("over each head")},
            help=_("Wan’s video transformer normalises over all heads together, Qwen3 and others over each head."),
        )
        growth = widgets.number(choices.GROWTH, _("W_q and W_k ×"), step=1.0, width=150)
        with page_parts.more():
            d_head = widgets.number(choices.NORM_WIDTH, _("Width of a head"), step=2)
            seed = widgets.number(choices.SEED, _("Seed"), step=1)
        return experiment.Config(norm=norm, growth=growth, d_head=d_head, seed=seed)


def _verdict(result: experiment.Result) -> str:
    raw, normed = result.without, result.normed
    return _(
        "At {growth:g} times the weights the largest |logit| is {raw:.4g} without the norm and {normed:.3g} with it; "
        "rows are {raw_spread:.0%} and {spread:.0%} as spread out as they could be."
    ).format(
        growth=result.config.growth,
        raw=raw.largest,
        normed=normed.largest,
        raw_spread=raw.spread,
        spread=normed.spread,
    )


def _matrices(result: experiment.Result) -> None:
    frames, rows, columns = experiment.GRID
    names = [f"{t}·{y}·{x}" for t in range(frames) for y in range(rows) for x in range(columns)]
    shown = (
        ("without", _("Without the norm"), result.without.weights),
        ("with", _("With the norm"), result.normed.weights),
    )
    for column, (name, title, weights) in zip(st.columns(2, gap="medium"), shown, strict=True):
        with column:
            st.markdown(f"**{title}**")
            show.figure(
                show.chart_of(
                    heatmap.matrix, weights, names, names, numbers=False, height=380, labels_that_fit=8, root=True
                ),
                name=f"qk-norm-{name}",
                key=f"p_norm_{name}",
                words=_(
                    "First head, patches as frame·row·column: a row’s largest weight is {largest:.0%} on average."
                ).format(largest=float(weights.max(-1).mean())),
            )


def _curves(result: experiment.Result) -> None:
    growths, here = np.array(experiment.GROWTHS), result.config.growth
    one, double = (float(np.interp(math.log(g), np.log(growths), result.without.logit)) for g in (1, 2))
    drawn: tuple[tuple[str, str, dict[str, Any], str], ...] = (
        (
            "logit",
            _("Largest |logit|"),
            {"log_y": True, "bound": result.bound},
            _("Without the norm logits grow with the square of the factor: {one:.3g} at 1, {double:.3g} at 2.").format(
                one=one, double=double
            ),
        ),
        (
            "entropy",
            _("Entropy, of the largest possible"),
            {"share": True},
            _(
                "At 32 times the weights {raw:.1%} of the entropy is left without the norm, {normed:.1%} with it."
            ).format(raw=result.without.entropy[-1], normed=result.normed.entropy[-1]),
        ),
        (
            "gradient",
            _("Norm of the softmax Jacobian"),
            {},
            _(
                "What softmax lets through of a change in the scores: {raw:.3g} at 32 without the norm, {normed:.3g} "
                "with it."
            ).format(raw=result.without.gradient[-1], normed=result.normed.gradient[-1]),
        ),
    )
    for column, (measure, title, more, words) in zip(st.columns(3, gap="small"), drawn, strict=True):
        without, normed = getattr(result.without, measure), getattr(result.normed, measure)
        with column:
            show.figure(
                show.chart_of(figures.growth, growths, without, normed, title, here, **more),
                name=f"qk-norm-{measure}",
                key=f"p_norm_{measure}",
                table={"factor": growths, "without": without, "with": normed},
                words=words,
            )
