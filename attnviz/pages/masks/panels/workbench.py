"""The grid to paint on, with the weights that it leaves."""

from contextlib import nullcontext
from functools import lru_cache, partial
from typing import Any, cast

import numpy as np
import streamlit as st

from attnviz.app import guess, show, widgets
from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice
from attnviz.app.text import quote_word
from attnviz.base.words import _, join_list, ngettext, translate_message
from attnviz.canvas.mask import mask_grid
from attnviz.live.matrix_figures import MaskFigure
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.tokens import token_label
from attnviz.pages.masks import choices
from attnviz.pages.masks.maths import mask_lab, mask_rules

#: The mask and its weights, computed once for all visitors with the same choices.
cached_run = lru_cache(maxsize=64)(mask_lab.run)


def show_grid(config: mask_lab.Config) -> mask_lab.Result:
    """Draw the mask with the weights that it leaves, and the ribbons of one word beside it."""
    result = cached_run(config)
    row = widgets.limit_choice(choices.WORD, len(result.tokens) - 1, usual=result.telling_row)
    layers = (link_state.value(choices.LAYERS), mask_lab.MOST_LAYERS)
    shown: dict[str, Any] = {"scores": result.scores, "scale": mask_lab.SCALE, "word": row, "layers": layers}
    labels = [token_label(word) for word in result.tokens]
    figure = MaskFigure(result.mask, labels, labels, **shown)
    mask_grid(
        "m-grid",
        result.mask,
        labels,
        on_change=partial(store_painting, result.rules_alone),
        label=_("Who may look at whom"),
        on_stand=lambda word, height: link_state.set_many({choices.WORD: word, choices.LAYERS: height}),
        **shown,
    )
    _ask(result, row)
    kept = _("The mask keeps {kept} of {total} {total:pair|pairs}")
    show.footer(
        lambda: SceneFigure((figure,), kept.format(kept=int(result.mask.sum()), total=result.mask.size), figure),
        name="mask",
        key="m-grid-save",
        canvas=show.live_canvas("m-grid"),
        table=lambda: pair_table(
            result,
            mask=result.mask.astype(int),
            before=result.before,
            after=result.after,
            **{"layers (-1 never)": result.hops},
        ),
        sentence=_("Random vectors, seed {seed}: click a cell or a ribbon to close or open it.").format(
            seed=config.seed
        ),
        caption=_("Random vectors, seed {seed}.").format(seed=config.seed),
    )
    if config.paint:
        n = len(config.paint.cells(len(result.tokens)))
        st.button(
            ngettext("Remove the paint: {n} cell", "Remove the paint: {n} cells", n).format(n=n),
            key="m-unpaint",
            icon=":material/ink_eraser:",
            on_click=link_state.set_and_push,
            args=(choices.PAINT, mask_lab.Painted()),
            type="tertiary",
        )
    if result.empty:
        _warn_of_empty_rows(result)
    return result


def _ask(result: mask_lab.Result, row: int) -> None:
    """Ask what becomes of a word's largest weight when its cell is closed; the answer closes it.

    Not where two answers are right: where all other words have alike, in proportion is alike.
    """
    about = guess.asked_about(choices.GUESS)
    asked = about.removeprefix(f"{row}.")
    is_about_row = asked != about and asked.isdecimal() and int(asked) < len(result.tokens)
    key = int(asked) if is_about_row else int(result.after[row].argmax())
    weights = mask_lab.close_cell(result, row, key)
    fate = mask_lab.find_fate(weights)
    if fate is None or (row in result.empty and not is_about_row):
        return
    before, after = weights.tolist()
    other = max((word for word in range(len(before)) if word != key), key=after.__getitem__, default=key)
    named = {"query": quote_word(result.tokens[row]), "key": quote_word(result.tokens[key])}
    if fate == "lost":
        because = _("With {key} closed, {query} has nothing left to look at.").format(**named)
    else:
        because = _(
            "With {key} closed, each open word of {query} has {times:.2f} times as much: {other} goes from "
            "{before:.0%} to {after:.0%}."
        ).format(
            times=after[other] / before[other],
            other=quote_word(result.tokens[other]),
            before=before[other],
            after=after[other],
            **named,
        )

    def paint(answered: bool) -> dict[Choice[Any], Any]:
        mask = result.mask.copy()
        mask[row, key] = not answered
        return {
            choices.PAINT: mask_lab.find_paint(result.rules_alone, mask) or mask_lab.Painted(),
            choices.WORD: row,
        }

    guess.ask(
        choices.GUESS,
        _("Close {key} for {query}: what becomes of its {share:.0%}?").format(share=before[key], **named),
        {"lost": _("It is lost"), "alike": _("Open words share it evenly"), "share": _("Each gets in proportion")},
        lambda: (fate, because),
        about=f"{row}.{key}",
        shows=paint,
    )


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
