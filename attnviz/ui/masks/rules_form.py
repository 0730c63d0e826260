"""The strip of up to three rules, each with its parameters; every widget is in the link."""

from __future__ import annotations

from typing import cast

import streamlit as st

from attnviz.experiments.masks import mask_rules
from attnviz.ui.shared import choice
from attnviz.words import _, say

MOST = 3
OFF = "off"


def strip() -> tuple[mask_rules.Rule, ...]:
    """Draw the rules in one row and their parameters below; answer them in order."""
    chosen: list[tuple[str, mask_rules.Join]] = []
    for number, column in enumerate(st.columns(MOST, gap="medium"), start=1):
        with column:
            kind, join = _kind(number) if len(chosen) == number - 1 else (OFF, "and")
            if kind != OFF:
                chosen.append((kind, cast(mask_rules.Join, join)))
    st.caption(
        "  ·  ".join(say(mask_rules.KINDS[kind].lesson) for kind in dict.fromkeys(kind for kind, _join in chosen))
    )
    named = sum(bool(mask_rules.KINDS[kind].parameters) for kind, _join in chosen) > 1
    return tuple(_with_values(number, kind, join, named) for number, (kind, join) in enumerate(chosen, start=1))


def _kind(number: int) -> tuple[str, str]:
    """Which mask stands at this place (or "off"), and how it is joined to those before it."""
    kinds = {kind.id: say(kind.title) for kind in mask_rules.KINDS.values()}
    if number == 1:
        return choice(_("The mask"), kinds, "m_rule1", default="causal", style="select"), "and"
    options = {OFF: _("nothing more"), **kinds}
    joins = {"and": _("and"), "or": _("or")}
    on = st.session_state.get(f"m_rule{number}", st.query_params.get(f"m_rule{number}", OFF)) != OFF
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        label = _("Joined with") if number == 2 else _("And then with")
        kind = choice(label, options, f"m_rule{number}", default=OFF, style="select")
        join = choice(_("How"), joins, f"m_join{number}", label_visibility="collapsed") if on else "and"
    return kind, join


def _with_values(number: int, kind: str, join: mask_rules.Join, named: bool) -> mask_rules.Rule:
    parameters = mask_rules.KINDS[kind].parameters
    if not parameters:
        return mask_rules.Rule.of(kind, join)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"m-values-{number}"):
        if named:
            st.markdown(f"**{say(mask_rules.KINDS[kind].title)}**", width=150)
        values = {p.name: _value(p, f"m{number}_{kind}_{p.name}") for p in parameters}
    return mask_rules.Rule.of(kind, join, **values)


def _value(parameter: mask_rules.RuleParameter, key: str) -> mask_rules.RuleValue:
    label = say(parameter.label)
    if isinstance(parameter.default, bool):
        return st.toggle(label, value=parameter.default, key=key, bind="query-params", persist_state="session")
    if isinstance(parameter.default, int):
        picked = st.number_input(
            label,
            min_value=parameter.least,
            max_value=parameter.most,
            value=parameter.default,
            step=1,
            key=key,
            bind="query-params",
            persist_state="session",
            width=160,
        )
        return parameter.default if picked is None else int(picked)
    if parameter.options:
        sides = {"right": _("right"), "left": _("left")}
        return choice(label, {name: sides[name] for name in parameter.options}, key)
    typed = st.text_input(
        label, value=parameter.default, key=key, bind="query-params", persist_state="session", width=300
    )
    return typed or parameter.default
