"""The grid to paint on, and the weights before and after."""

from contextlib import nullcontext
from functools import lru_cache, partial
from typing import Any, cast

import numpy as np
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.links import link_state
from attnviz.app.text import quote_word
from attnviz.base.head_record import HeadData, HeadView
from attnviz.base.largest import find_largest
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_list, join_sentences, ngettext, translate_message
from attnviz.canvas.head.attention_view import head_picture, head_view
from attnviz.canvas.mask import mask_grid
from attnviz.live.matrix_figures import MaskFigure
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.masks import choices
from attnviz.pages.masks.maths import mask_lab, mask_rules

GROUP = "m-weights"
LONG = 32  #: words; a longer sentence gets a larger grid, and a square-root colour scale


#: The mask and its weights, computed once for all visitors with the same choices.
cached_run = lru_cache(maxsize=64)(mask_lab.run)


def show_grid(config: mask_lab.Config) -> mask_lab.Result:
    """Draw three squares side by side: the mask, attention without it, and attention with it."""
    result = cached_run(config)
    if len(result.tokens) <= LONG:
        grid, before, after = st.columns(3, gap="medium")
    else:  # a wide one, so that its cells can still be clicked
        grid, beside = st.columns([5, 3], gap="medium")
        before, after = beside.container(), beside.container()
    with grid:
        st.markdown("**" + _("The mask: click or drag to change it") + "**")
        mask_grid(
            "m-grid",
            result.mask,
            result.tokens,
            on_change=partial(store_painting, result.rules_alone),
            label=_("Who may look at whom"),
            compact=len(result.tokens) <= LONG,
        )
        show.footer(
            lambda: SceneFigure((MaskFigure(result.mask, result.tokens, result.tokens),)),
            name="mask",
            key="m-grid-save",
            canvas=show.live_canvas("m-grid"),
            table=lambda: pair_table(result, mask=result.mask.astype(int)),
            sentence=_kept_caption(config.paint, result),
        )
        if config.paint:
            st.button(
                _("Remove the paint"),
                key="m-unpaint",
                icon=":material/ink_eraser:",
                on_click=link_state.set_and_push,
                args=(choices.PAINT, mask_lab.Painted()),
                type="tertiary",
            )
    with before:
        title = _("Attention with nothing hidden")
        unmasked = HeadData.of_values(result.before, result.tokens)
        _draw_weights("m-before", result, unmasked, _("before"), title, _before_caption(result, config.seed))
    with after:
        title = _("Attention, mask off: nothing is hidden") if result.mask.all() else _("Attention under the mask")
        masked = HeadData.of_values(result.after, result.tokens, hidden=~result.mask)
        _draw_weights("m-after", result, masked, _("after"), title, _after_caption(result))
    if result.empty:
        _warn_of_empty_rows(result)
    return result


def _kept_caption(paint: mask_lab.Painted, result: mask_lab.Result) -> str:
    share_sentence = ngettext(
        "The mask keeps **{share}** of the full square: {pairs} of {all} score.",
        "The mask keeps **{share}** of the full square: {pairs} of {all} scores.",
        result.square,
    ).format(share=f"{Rounded(result.pairs / result.square):.0%}", pairs=f"{result.pairs:,}", all=f"{result.square:,}")
    n = len(paint.cells(len(result.tokens)))
    return join_sentences(
        share_sentence, ngettext("{n} cell is painted.", "{n} cells are painted.", n).format(n=n) if paint else ""
    )


def _draw_weights(key: str, result: mask_lab.Result, data: HeadData, name: str, title: str, caption: str) -> None:
    st.markdown(f"**{title}**")
    view = HeadView(compact=True, root=len(result.tokens) > LONG, called=title)
    pins = head_view(key, data, view, group=GROUP)
    show.footer(
        lambda: head_picture(data, view, pins, ""),
        name=f"weights-{name}",
        key=f"{key}-save",
        canvas=show.live_canvas(key),
        table=lambda: pair_table(result, before=result.before, after=result.after, mask=result.mask.astype(int)),
        sentence=caption,
    )


def _before_caption(result: mask_lab.Result, seed: int) -> str:
    q, k = np.unravel_index(int(result.before.argmax()), result.before.shape)
    return _("Random vectors (seed {seed}), nothing hidden: {token} gives {share} to {key}.").format(
        seed=seed,
        token=quote_word(result.tokens[q]),
        share=f"{Rounded(result.before[q, k]):.0%}",
        key=quote_word(result.tokens[k]),
    )


def _after_caption(result: mask_lab.Result) -> str:
    if result.mask.all():
        return _("Nothing is hidden, so attention is the same with and without the mask.")
    if not result.mask.any():
        return _("No word may look at anything: every row is zero.")
    keys_left = result.mask.sum(-1)
    moved_weight = np.where((keys_left > 0) & (keys_left < len(result.tokens)), result.moved_weight, -1)
    most = find_largest(moved_weight)
    row = most.index
    if moved_weight[row] < 0:
        return _("Every word that may look at something may look at everything: its row is as before.")
    left = int(keys_left[row])
    if not most.alone:
        text = _(
            "{token} changes: {share} of its attention was on words that are now hidden, and goes to the {n} "
            "{n:word that is|words that are} left."
        )
    elif result.empty:
        text = _(
            "Of the rows that are not empty, that of {token} changes most: {share} of its attention was on words that "
            "are now hidden, and goes to the {n} {n:word that is|words that are} left."
        )
    else:
        text = _(
            "{token} changes most: {share} of its attention was on words that are now hidden, and goes to the {n} "
            "{n:word that is|words that are} left."
        )
    return text.format(token=quote_word(result.tokens[row]), share=f"{Rounded(moved_weight[row]):.0%}", n=left)


def _warn_of_empty_rows(result: mask_lab.Result) -> None:
    """Draw a warning that names the words that may look at nothing."""
    named = [quote_word(result.tokens[q]) for q in result.empty[:6]]
    st.warning(
        ngettext(
            "{names} may look at nothing. Its row is zero here; a plain softmax would make it NaN.",
            "{names} may look at nothing. Their rows are zero here; a plain softmax would make them NaN.",
            len(result.empty),
        ).format(names=join_list(named if len(result.empty) <= 6 else [*named, "…"])),
        icon=":material/visibility_off:",
    )


def pair_table(result: mask_lab.Result, **matrices: np.ndarray) -> dict[str, list[Any]]:
    """One line per pair: positions, words, and the value in each matrix."""
    n = len(result.tokens)
    columns: dict[str, list[Any]] = {
        "query": [q for q in range(n) for _k in range(n)],
        "key": list(range(n)) * n,
        "query word": [word for word in result.tokens for _k in range(n)],
        "key word": list(result.tokens) * n,
    }
    return columns | {name: values.ravel().tolist() for name, values in matrices.items()}


# The strip of up to three rules, each with its parameters.
def draw_rules() -> tuple[mask_rules.Rule, ...]:
    """Draw the rules in one row and their parameters below; return the rules in order."""
    chosen: list[tuple[str, mask_rules.Join]] = []
    with st.container(key="m-rules"):
        for position in range(1, choices.MOST_RULES + 1):
            kind, join = _select_kind(position) if len(chosen) == position - 1 else (choices.OFF, "and")
            if kind != choices.OFF:
                chosen.append((kind, cast(mask_rules.Join, join)))
    st.caption(
        "  ·  ".join(
            translate_message(mask_rules.KINDS[kind].lesson) for kind in dict.fromkeys(kind for kind, _join in chosen)
        )
    )
    named = sum(bool(mask_rules.KINDS[kind].parameters) for kind, _join in chosen) > 1
    return tuple(_draw_parameters(position, kind, join, named) for position, (kind, join) in enumerate(chosen, start=1))


def _select_kind(position: int) -> tuple[str, str]:
    """Draw the choice of one rule. Returns its kind, or "off", and how it joins the rules before it."""
    kinds = {kind.id: translate_message(kind.title) for kind in mask_rules.KINDS.values()}
    rule = choices.RULES[position - 1]
    if position == 1:
        label = _("The mask, painted over") if link_state.value(choices.PAINT) else _("The mask")
        return widgets.select_one(rule, label, kinds, style="select"), "and"
    joined = link_state.value(rule) != choices.OFF
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small") if joined else nullcontext():
        label = _("Joined with") if position == 2 else _("And then with")
        kind = widgets.select_one(rule, label, {choices.OFF: _("nothing more"), **kinds}, style="select")
        if not joined:
            return kind, "and"
        return kind, widgets.select_one(
            choices.JOINS[position], _("How"), {"and": _("and"), "or": _("or")}, label_visibility="collapsed"
        )


def _draw_parameters(position: int, kind: str, join: mask_rules.Join, named: bool) -> mask_rules.Rule:
    if not mask_rules.KINDS[kind].parameters:
        return mask_rules.Rule.of(kind, join)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"m-values-{position}"):
        if named:
            st.markdown(f"**{translate_message(mask_rules.KINDS[kind].title)}**", width=150)
        values = {
            parameter.name: _draw_parameter(position, kind, parameter)
            for parameter in mask_rules.KINDS[kind].parameters
        }
    return mask_rules.Rule.of(kind, join, **values)


def _draw_parameter(position: int, kind: str, parameter: mask_rules.RuleParameter) -> mask_rules.RuleValue:
    label, choice = translate_message(parameter.label), choices.RULE_PARAMETERS[position, kind, parameter.name]
    if choice.kind == "flag":
        return widgets.toggle(choice, label)
    if choice.kind == "whole":
        return widgets.number_box(choice, label, step=1, width=160)
    if choice.kind == "id":
        sides = {"right": _("right"), "left": _("left")}
        return widgets.select_one(choice, label, {name: sides[name] for name in parameter.options})
    return widgets.text_box(choice, label, width=300) or str(parameter.default)


def store_painting(base: np.ndarray, wanted: np.ndarray) -> None:
    """Store what the visitor painted over `base`. A callback."""
    link_state.set_and_push(choices.PAINT, mask_lab.find_paint(base, wanted) or mask_lab.Painted())
