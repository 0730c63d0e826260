"""Section 4: scaling switched off and on for a real head, on its trained Q and K."""

import math

import numpy as np
import streamlit as st

from attnviz.analysis.head_matrix import Matrix
from attnviz.analysis.model_run import Stack
from attnviz.analysis.what_if import change_sentence
from attnviz.app import page_parts, sentence_input, show
from attnviz.app.cache import model_cache
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences
from attnviz.figures import heatmap
from attnviz.figures.theme import ALTERNATIVE, RAW, SCALED
from attnviz.pages.scaling import choices, figures
from attnviz.pages.scaling.maths import real_head as experiment
from attnviz.pages.scaling.panels import scaling_form
from attnviz.pages.scaling.panels.scaling_form import K, Q


def panel() -> str | None:
    """Draw the section; the program that prints its numbers, where a few lines can."""
    picture_slot = page_parts.main_picture()
    run = sentence_input.sentence_run(choices.MODEL, choices.SENTENCE, model_first=True)
    stack = run.stacks[0]
    config = _choose_head(stack)
    result = model_cache.cached_result(
        run, ("scaling", config), lambda: experiment.run(stack.layers[config.layer], config)
    )
    _numbers(result, run.name)
    if not math.isnan(result.model.share):
        page_parts.draw_columns(lambda: _dimensions(result), lambda: _scales(result))
        with picture_slot:
            _heatmaps(result, stack)
    if run.target is not None or math.isnan(result.model.share):
        return None
    return experiment.program(run.request.model, run.request.text, stack.layers[config.layer], config)


def _choose_head(stack: Stack) -> experiment.Config:
    """Draw the choice of layer, head and scale; return what is chosen."""
    layers = len(stack.layers)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = scaling_form.page_number_box(choices.LAYER, _("Layer, from 0"), 1, high=layers - 1)
        heads = stack.layers[layer].n_heads
        head = scaling_form.page_number_box(choices.HEAD, _("Head, from 0"), 1, high=heads - 1)
        factor = scaling_form.page_number_box(choices.FACTOR, _("Scale × the model’s"), 0.5)
        st.caption(_("{layers} layers of {heads} heads").format(layers=layers, heads=heads))
    return experiment.Config(layer, head, factor)


def _numbers(result: experiment.Result, name: str) -> None:
    config = result.config
    show.formulas(
        rf"\mathrm{{Var}}({Q}\cdot {K}) = {Rounded(result.total):.4g}\ \ (\text{{random: }}{result.d_k})",
        rf"\text{{scale}} = {Rounded(result.model_scale):.4g}\ \left(\tfrac{{1}}{{\sqrt{{{result.d_k}}}}} = "
        rf"{Rounded(1 / math.sqrt(result.d_k)):.4g}\right)",
        rf"\mathrm{{Var}}(\text{{logits}}) = {Rounded(result.model.variance):.4g}",
    )
    if math.isnan(result.model.share):
        st.markdown(
            _("**Trained: {name}.** A single key leaves a query nothing to choose: type more words.").format(
                name=escape_markdown(name)
            )
        )
        return
    st.markdown(
        _(
            "**Trained: {name}, layer {layer}, head {head}.** Its rows are {model:.0%} as spread out as they could "
            "be with the model's scale, {raw:.0%} without scaling, and {chosen:.0%} at {factor:g} times the model's "
            "scale (entropy over the largest that the mask allows, mean over rows)."
        ).format(
            name=escape_markdown(name),
            layer=config.layer,
            head=config.head,
            model=result.model.share,
            raw=result.raw.share,
            factor=config.factor,
            chosen=result.chosen.share,
        )
    )


def _dimensions(result: experiment.Result) -> None:
    half, total = result.n_dimensions_for(0.5), float(result.by_dimension.sum())
    show.figure(
        show.chart_of(figures.by_dimension, result.by_dimension),
        name="head-variance",
        key="s_head_variance",
        table={"dimension": range(result.d_k), "variance": result.by_dimension},
        sentence=_variance_template(result.total, total).format(
            half=half, d_k=result.d_k, total=total, real=result.total
        ),
    )


def _scales(result: experiment.Result) -> None:
    model_scale, multiples = result.model_scale, np.array(experiment.MULTIPLES)
    show.figure(
        show.chart_of(
            figures.entropy_over_scale,
            multiples,
            result.shares,
            {
                _("raw"): (1 / model_scale, result.raw.share, RAW),
                _("the model's scale"): (1.0, result.model.share, SCALED),
                _("your scale"): (result.config.factor, result.chosen.share, ALTERNATIVE),
            },
        ),
        name="head-entropy",
        key="s_head_entropy",
        table={"multiple": multiples, "entropy_share": result.shares},
        sentence=_(
            "Mean entropy is {model:.2f} nats at the model's scale and {raw:.2f} raw, where scores are "
            "{times:.3g} times as large; one query sees up to {keys} keys."
        ).format(
            model=result.model.entropy,
            raw=result.raw.entropy,
            times=1 / model_scale,
            keys=int(result.allowed.sum(1).max()),
        ),
    )


def _variance_template(real: float, parts: float) -> str:
    """A template: q·k of independent dimensions would have the variance `parts`, the head's own has `real`."""
    if real > 1.1 * parts:
        return _(
            "{half} of {d_k} dimensions hold half of the variance. The variances of the dimensions add up to "
            "{total:.4g}, while q·k has {real:.4g}: the dimensions pull together."
        )
    if real < 0.9 * parts:
        return _(
            "{half} of {d_k} dimensions hold half of the variance. The variances of the dimensions add up to "
            "{total:.4g}, while q·k has {real:.4g}: the dimensions cancel each other in part."
        )
    return _(
        "{half} of {d_k} dimensions hold half of the variance. The variances of the dimensions add up to "
        "{total:.4g}, and q·k has {real:.4g}, as if the dimensions were independent."
    )


def _heatmaps(result: experiment.Result, stack: Stack) -> None:
    rows, cols = stack.queries.labels, stack.keys.labels
    heatmaps = (
        ("raw", _("Raw"), result.raw),
        ("model", _("With the model's scale"), result.model),
        ("chosen", _("With your scale"), result.chosen),
    )
    for column, (name, title, head_weights) in zip(st.columns(3, gap="small"), heatmaps, strict=True):
        with column:
            st.markdown(f"**{title}**")
            caption = _("q·k × {scale:.4g}: logits have variance {variance:.3g}, entropy {entropy:.2f} nats.").format(
                scale=head_weights.scale, variance=head_weights.variance, entropy=head_weights.entropy
            )
            if name != "model":
                caption = join_sentences(
                    caption,
                    translate_markdown(
                        change_sentence(_matrix(stack, result, result.model), _matrix(stack, result, head_weights))
                    ),
                )
            show.figure(
                show.chart_of(
                    heatmap.matrix, head_weights.weights, rows, cols, masked=~result.allowed, height=340, bar=False
                ),
                name=f"head-{name}",
                key=f"s_head_{name}",
                caption=caption,
                sentence=caption,
            )


def _matrix(stack: Stack, result: experiment.Result, head_weights: experiment.Weights) -> Matrix:
    """The head at one scale with its tokens, to be compared."""
    rows, cols = stack.queries.labels, stack.keys.labels
    return Matrix(head_weights.weights, ~result.allowed, rows, cols, tuple(range(len(rows))), tuple(range(len(cols))))
