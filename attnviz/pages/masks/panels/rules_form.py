"""The strip of up to three rules, each with its parameters."""

from __future__ import annotations

from typing import cast

import numpy as np
import streamlit as st

from attnviz.app import widgets
from attnviz.app.links import link_state
from attnviz.base.message import Problem
from attnviz.base.word_boundaries import split
from attnviz.base.words import _, say
from attnviz.pages.masks import choices
from attnviz.pages.masks.choices import OFF
from attnviz.pages.masks.maths import mask_lab, mask_rules
from attnviz.runs.word_vectors import LONGEST


def strip() -> tuple[mask_rules.Rule, ...]:
    """Draw the rules in one row and their parameters below; return the rules in order."""
    chosen: list[tuple[str, mask_rules.Join]] = []
    for place, column in enumerate(st.columns(choices.MOST_RULES, gap="medium"), start=1):
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
    rule = choices.RULES[place - 1]
    if place == 1:
        label = _("The mask, painted over") if link_state.value(choices.PAINT) else _("The mask")
        return widgets.one_of(rule, label, kinds, style="select"), "and"
    options = {OFF: _("nothing more"), **kinds}
    joins = {"and": _("and"), "or": _("or")}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        label = _("Joined with") if place == 2 else _("And then with")
        kind = widgets.one_of(rule, label, options, style="select")
        if link_state.value(rule) == OFF:
            return kind, "and"
        return kind, widgets.one_of(choices.JOINS[place], _("How"), joins, label_visibility="collapsed")


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
    label, choice = say(parameter.label), choices.OF_RULE[place, kind, parameter.name]
    if choice.kind == "flag":
        return widgets.toggle(choice, label)
    if choice.kind == "whole":
        return widgets.number(choice, label, step=1, width=160)
    if choice.kind == "id":
        sides = {"right": _("right"), "left": _("left")}
        return widgets.one_of(choice, label, {name: sides[name] for name in parameter.options})
    return widgets.text(choice, label, width=300) or str(parameter.default)


def repaint(base: np.ndarray, wanted: np.ndarray) -> None:
    """Keep what the visitor painted over `base`. A callback."""
    link_state.put(choices.PAINT, mask_lab.painted(base, wanted) or mask_lab.Painted())


def unpaint() -> None:
    """Remove all paint. A callback."""
    link_state.put(choices.PAINT, mask_lab.Painted())


def words(text: str) -> tuple[str, ...]:
    """A sentence as words; Problem when there is none or too many."""
    found = split(text)
    if not found:
        raise Problem("There is no word in the sentence: type at least one.")
    if len(found) > LONGEST:
        raise Problem("The sentence has {n} words; this page takes at most {limit}.", n=len(found), limit=LONGEST)
    return found
