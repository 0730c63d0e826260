"""The strip of up to three rules, each with its parameters."""

from __future__ import annotations

from typing import cast

import streamlit as st

from attnviz.experiments.masks import mask_rules
from attnviz.ui.masks import mask_choices
from attnviz.ui.masks.mask_choices import OFF
from attnviz.ui.shared import link_state, widgets
from attnviz.words import _, say


def strip() -> tuple[mask_rules.Rule, ...]:
    """Draw the rules in one row and their parameters below; return the rules in order."""
    chosen: list[tuple[str, mask_rules.Join]] = []
    for place, column in enumerate(st.columns(mask_choices.MOST_RULES, gap="medium"), start=1):
        with column:
            kind, join = _kind(place) if len(chosen) == place - 1 else (OFF, "and")
            if kind != OFF:
                chosen.append((kind, cast(mask_rules.Join, join)))
    st.caption(
        "  ·  ".join(say(mask_rules.KINDS[kind].lesson) for kind in dict.fromkeys(kind for kind, _join in chosen))
    )
    named = sum(bool(mask_rules.KINDS[kind].parameters) for kind, _join in chosen) > 1
    return tuple(_with_values(place, kind, join, named) for place, (kind, join) in enumerate(chosen, start=1))


def _kind(place: int) -> tuple[str, str]:
    """The kind of mask at this place, or "off", and how it is joined to those before it."""
    kinds = {kind.id: say(kind.title) for kind in mask_rules.KINDS.values()}
    rule = mask_choices.RULES[place - 1]
    if place == 1:
        label = _("The mask, painted over") if link_state.value(mask_choices.PAINT) else _("The mask")
        return widgets.one_of(rule, label, kinds, style="select"), "and"
    options = {OFF: _("nothing more"), **kinds}
    joins = {"and": _("and"), "or": _("or")}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        label = _("Joined with") if place == 2 else _("And then with")
        kind = widgets.one_of(rule, label, options, style="select")
        if link_state.value(rule) == OFF:
            return kind, "and"
        return kind, widgets.one_of(mask_choices.JOINS[place], _("How"), joins, label_visibility="collapsed")


def _with_values(place: int, kind: str, join: mask_rules.Join, named: bool) -> mask_rules.Rule:
    parameters = mask_rules.KINDS[kind].parameters
    if not parameters:
        return mask_rules.Rule.of(kind, join)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"m-values-{place}"):
        if named:
            st.markdown(f"**{say(mask_rules.KINDS[kind].title)}**", width=150)
        values = {parameter.name: _value(place, kind, parameter) for parameter in parameters}
    return mask_rules.Rule.of(kind, join, **values)


def _value(place: int, kind: str, parameter: mask_rules.RuleParameter) -> mask_rules.RuleValue:
    label, choice = say(parameter.label), mask_choices.OF_RULE[place, kind, parameter.name]
    if choice.kind == "flag":
        return widgets.toggle(choice, label)
    if choice.kind == "whole":
        return widgets.number(choice, label, step=1, width=160)
    if choice.kind == "id":
        sides = {"right": _("right"), "left": _("left")}
        return widgets.one_of(choice, label, {name: sides[name] for name in parameter.options})
    return widgets.text(choice, label, width=300) or str(parameter.default)
