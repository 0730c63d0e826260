"""Section 5: softmax on typed scores: temperature, overflow, blocks, mixtures."""

import math

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.links import link_state
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_list, join_sentences, ngettext
from attnviz.canvas import softmax_slider
from attnviz.core.attention import COLDEST
from attnviz.figures.theme import ROLES
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.scaling import choices, figures
from attnviz.pages.scaling.maths import softmax as experiment
from attnviz.pages.scaling.panels import scaling_form

MOST_BLOCKS = 12  #: blocks, at most
NAMED = 6  #: keys that share the largest score, at most


# Section 5: softmax on typed scores.
def panel() -> str | None:
    """Draw the section; the program that prints its numbers, for scores that fit into a few lines."""
    picture_slot = page_parts.main_picture()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = widgets.text_box(
            choices.SCORES, _("Scores"), help=_("Numbers between commas or spaces, 1 to 4,096 of them")
        )
        temperature = scaling_form.page_number_box(choices.TEMPERATURE, _("Temperature, T"), 0.1)
    scores = experiment.parse(text)
    with picture_slot:
        _weights(scores, temperature)
    if temperature != 1:
        st.caption(_("Overflow and blocks, below, are shown for these scores as they are, at T = 1."))
    _overflow(scores)
    page_parts.draw_columns(lambda: _online(scores), lambda: _mixes(scores, temperature), widths=[1.25, 1], gap="large")
    return experiment.program(scores, temperature, link_state.value(choices.BLOCK))


def _weights(scores: list[float], temperature: float) -> None:
    p = experiment.weights(scores, temperature)
    panels = [softmax_slider.Panel("temperature", "softmax", "x / T", ROLES["weight"])]
    slider = softmax_slider.SliderParameter("T", temperature, 0.0, 100.0)
    bars, numbers = st.columns([1.7, 1], gap="large", vertical_alignment="center")
    with bars:
        softmax_slider.softmax_slider(
            "s_typed_bars",
            np.array([1]),
            np.array([scores]),
            panels,
            at=1,
            parameter=slider,
            about="typed",
            on_pick=lambda pick: link_state.set_and_push(choices.TEMPERATURE, pick.parameter),
        )
    with numbers:
        st.dataframe(
            {"key": range(1, len(scores) + 1), _("score"): scores, _("weight"): [f"{Rounded(w):.6f}" for w in p]},
            hide_index=True,
            height=min(36 * (len(scores) + 1) + 3, 260),
        )
    caption = _describe_temperature(p, temperature)
    show.footer(
        SceneFigure((softmax_slider.SoftmaxFigure(np.array(scores), panels, parameter=slider),)),
        name="softmax",
        key="s_typed_picture",
        canvas=show.live_canvas("s_typed_bars"),
        table={"key": range(1, len(scores) + 1), "score": scores, "weight": p},
        caption=caption,
        sentence=caption,
    )
    show.formulas(*_formula(scores, p, temperature))


def _describe_temperature(p: np.ndarray, temperature: float) -> str:
    first = np.flatnonzero(p == p.max()) + 1
    keys = join_list([*first[:NAMED], *["…"] * (len(first) > NAMED)])
    if temperature <= COLDEST:
        return ngettext(
            "**You typed the scores.** At T = 0 all weight is on the largest score, key {keys}; equal scores would "
            "share it.",
            "**You typed the scores.** At T = 0 the largest scores, keys {keys}, are equal and share all weight: each "
            "gets {weight:.6f}.",
            len(first),
        ).format(keys=keys, weight=p.max())
    entropy = abs(float((p[p > 0] * np.log(p[p > 0])).sum()))
    return ngettext(
        "**You typed the scores.** At T = {temperature:g} key {keys} gets {weight:.6f}; entropy {entropy:.4f} of at "
        "most {most:.4f} nats.",
        "**You typed the scores.** At T = {temperature:g} keys {keys} get {weight:.6f} each; entropy "
        "{entropy:.4f} of at most {most:.4f} nats.",
        len(first),
    ).format(temperature=temperature, keys=keys, weight=p.max(), entropy=entropy, most=math.log(len(p)))


def _formula(scores: list[float], p: np.ndarray, temperature: float) -> tuple[str, ...]:
    """LaTeX of softmax on these scores: the input, and the result."""
    if temperature <= COLDEST:
        ties = int((p == p.max()).sum())
        share = r"\text{one-hot at }" if ties == 1 else rf"\tfrac{{1}}{{{ties}}}\text{{ at each of }}"
        return (rf"\lim_{{T\to 0}}\ \mathrm{{softmax}}(x / T) = {share} \arg\max x",)
    n_terms = min(len(scores), 4)
    more = r",\ \ldots" if len(scores) > n_terms else ""
    inside = ", ".join(f"{x:g}" for x in scores[:n_terms]) + more
    result = ",\\ ".join(f"{Rounded(w):.6f}" for w in p[:n_terms]) + more
    over = "" if temperature == 1 else rf"\,/\,{temperature:g}"
    return rf"\mathrm{{softmax}}\left([{inside}]{over}\right)", f"= [{result}]"


def _overflow(scores: list[float]) -> None:
    st.subheader(_("Naive, or with the maximum subtracted"), anchor=False)
    attempts = experiment.format_attempts(scores)
    show.draw_table(
        {
            _("format"): [attempt.dtype for attempt in attempts],
            _("naive"): [_row(attempt.naive) for attempt in attempts],
            _("max subtracted"): [_row(attempt.stable) for attempt in attempts],
            _("error, naive"): [f"{Rounded(attempt.naive_error):.2g}" for attempt in attempts],
            _("error, max subtracted"): [f"{Rounded(attempt.stable_error):.2g}" for attempt in attempts],
            _("exp overflows beyond"): [f"{Rounded(attempt.overflow_at):.2f}" for attempt in attempts],
            _("naive breaks at"): [_shift(attempt.first_broken) for attempt in attempts],
        }
    )
    show.formulas(
        r"\frac{e^{x_i}}{\sum_j e^{x_j}} = \frac{e^{x_i - m}}{\sum_j e^{x_j - m}}", rf"m = \max_j x_j = {max(scores):g}"
    )
    caption = _(
        "exp overflows beyond {limit:.2f} in float16 and {wide:.2f} in float32: the naive way breaks in "
        "float16 when {shift} is added to these scores, in float32 at {wide_shift}."
    ).format(
        limit=attempts[-1].overflow_at,
        wide=attempts[1].overflow_at,
        shift=_shift(attempts[-1].first_broken),
        wide_shift=_shift(attempts[1].first_broken),
    )
    show.figure(
        show.chart_of(
            figures.overflow,
            experiment.SHIFTS,
            [(attempt.dtype, attempt.naive_top, attempt.first_broken) for attempt in attempts],
        ),
        name="softmax-overflow",
        key="s_overflow",
        table={"shift": experiment.SHIFTS, **{f"{attempt.dtype}_naive": attempt.naive_top for attempt in attempts}},
        sentence=join_sentences(caption, _describe_subtraction(attempts)),
    )


def _describe_subtraction(attempts: list[experiment.FormatAttempt]) -> str:
    """Whether the subtraction saves every format, which it cannot where a score itself is too large for one."""
    broken = [attempt.dtype for attempt in attempts if not np.isfinite(attempt.stable).all()]
    if not broken:
        return _("With the maximum subtracted no exp overflows.")
    return _("The maximum cannot help in {formats}: a score itself is too large for that format.").format(
        formats=join_list(broken)
    )


def _shift(broken: float | None) -> str:
    return "—" if broken is None else f"+{broken:g}"


def _row(weights: np.ndarray) -> str:
    if not np.isfinite(weights).all():
        return "NaN"
    return ", ".join(f"{Rounded(w):.6f}" for w in weights[:3]) + (" …" if len(weights) > 3 else "")


def _online(scores: list[float]) -> None:
    st.subheader(_("Block by block, as fused kernels do it"), anchor=False)
    size = scaling_form.page_number_box(choices.BLOCK, _("Scores in a block"), 1)
    values = experiment.half_circle(len(scores))
    steps = list(experiment.online_softmax(scores, values, size))
    first = steps[:MOST_BLOCKS]
    show.draw_table(
        {
            _("scores"): [
                ", ".join(f"{x:g}" for x in step.scores[:4]) + (" …" if len(step.scores) > 4 else "") for step in first
            ],
            _("running max m"): [f"{step.maximum:g}" for step in first],
            _("old × exp(old m − m)"): [f"{step.correction:.6g}" for step in first],
            _("running sum l"): [f"{Rounded(step.total):.6f}" for step in first],
            _("running output"): [f"({Rounded(step.output[0]):.5f}, {Rounded(step.output[1]):.5f})" for step in first],
        }
    )
    if len(steps) > MOST_BLOCKS:
        st.caption(_("The first {shown} of {all} blocks.").format(shown=MOST_BLOCKS, all=len(steps)))
    last = steps[-1]
    result = last.output / last.total
    show.formulas(
        rf"\frac{{o}}{{l}} = \frac{{({Rounded(last.output[0]):.5f},\ {Rounded(last.output[1]):.5f})}}"
        rf"{{{Rounded(last.total):.6f}}}",
        rf"= ({Rounded(result[0]):.5f},\ {Rounded(result[1]):.5f})",
    )
    if len(steps) == 1:
        st.markdown(_("All scores are in one block: choose a smaller one to see the sums run."))
        return
    st.markdown(
        _(
            "After {blocks} blocks the result differs from softmax over all scores at once by {difference:.1g}: no "
            "block ever saw the whole row."
        ).format(blocks=len(steps), difference=float(np.abs(result - experiment.weights(scores) @ values).max()))
    )


def _mixes(scores: list[float], temperature: float) -> None:
    title = _("Why normalise at all")
    st.subheader(title, anchor=False)
    mixed = experiment.compare_mixes(scores, temperature)
    show.figure(
        show.chart_of(figures.mixes, mixed.values, mixed.by_weights, mixed.by_scores, mixed.by_scores_shifted),
        name="softmax-mixes",
        key="s_mixes",
        table={"x": mixed.values[:, 0], "y": mixed.values[:, 1], "score": scores, "weight": mixed.weights},
        sentence=_(
            "The values lie at distance 1 from the centre. Mixed by softmax weights they give a point among them "
            "({near:.2f} from the centre); mixed by raw scores they land {far:.3g} away. Adding 1 to every score "
            "moves the raw mix by {moved:.2f} and the softmax mix by 0."
        ).format(
            near=math.hypot(*mixed.by_weights),
            far=math.hypot(*mixed.by_scores),
            moved=math.hypot(*(mixed.by_scores_shifted - mixed.by_scores)),
        ),
    )
