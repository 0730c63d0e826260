"""Controls that several sections draw; each returns the value that it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from attnviz.app import widgets
from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice
from attnviz.base.words import _
from attnviz.pages.scaling import choices
from attnviz.pages.scaling.maths import alternatives, draws, growing_width
from attnviz.pages.scaling.panels.results import alternative_names, distribution_names

N = TypeVar("N", int, float)

#: Where the d_k slider stops; the box beside it takes any whole number.
STOPS = sorted({round(2 ** (i / 4)) for i in range(49)})
SLIDER = "s_dk_slider"
BOX = 150  #: pixels, so that two boxes fit beside each other on a phone


def number(choice: Choice[N], label: str, step: N | None = None, help: str | None = None, high: N | None = None) -> N:
    """A number box in the width that all boxes of this page have."""
    return widgets.number(choice, label, step=step, high=high, help=help, width=BOX)


def width() -> int:
    """Draw a slider for d_k, even on a log scale, and a box for any whole number; returns d_k."""
    now = link_state.value(choices.D_K)
    widgets.set_before_drawn(SLIDER, now)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.select_slider(
            _("d_k, the width of a query"),
            sorted({*STOPS, now}),
            key=SLIDER,
            on_change=_slid,
        )
        return number(choices.D_K, "d_k", 1)


def _slid() -> None:
    if not widgets.is_late(SLIDER):
        link_state.put(choices.D_K, st.session_state[SLIDER])


def alternative() -> tuple[str, float]:
    """Draw the choice of an alternative; returns its id and its parameter, 1 for one that has none."""
    names = {name: alternative_names()[name] for name in alternatives.CHOICES}
    picked = widgets.one_of(choices.ALTERNATIVE, _("Alternative"), names, style="select")
    return picked, parameter(picked)


def beside() -> tuple[str, float]:
    """Draw the choice of what stands beside raw and scaled: nothing, or an alternative.

    Returns an id and its parameter; nothing is told by "sqrt", which stands there already.
    """
    nothing = choices.NOTHING_BESIDE
    names = {nothing: _("nothing more"), **{name: alternative_names()[name] for name in alternatives.CHOICES}}
    picked = widgets.one_of(
        choices.BESIDE, _("Show beside raw and scaled"), names, usual=_usually_beside(), style="select"
    )
    return ("sqrt", 1.0) if picked == nothing else (picked, parameter(picked))


def _usually_beside() -> str:
    """The alternative that was chosen or given a number where they are the subject, as in links of earlier versions."""
    picked = link_state.value(choices.ALTERNATIVE)
    number_of = choices.PARAMETERS.get(picked)
    touched = number_of is not None and link_state.value(number_of) != number_of.default
    chosen = touched or picked != choices.ALTERNATIVE.default
    return picked if chosen else choices.NOTHING_BESIDE


def one_query(third: Callable[[], tuple[str, float]] = alternative) -> growing_width.Config:
    """Draw what the weights of one query depend on: `third` draws what stands beside raw and scaled."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        picked, its_number = third()
        d_k = number(choices.D_K, "d_k", 1)
        n_keys = number(choices.KEYS, _("Keys, n"), 1)
        seed = number(choices.SEED, _("Seed"), 1)
    return growing_width.Config(d_k, n_keys, seed, picked, its_number)


def chosen_alternative() -> tuple[str, float]:
    """The chosen alternative and its parameter, without drawing the control."""
    picked = link_state.value(choices.ALTERNATIVE)
    return picked, parameter(picked)


def parameter(name: str) -> float:
    """The parameter that was last set for an alternative."""
    return link_state.value(choices.PARAMETERS[name]) if name in choices.PARAMETERS else 1.0


def distribution() -> tuple[str, float]:
    """Draw the distribution of the components; returns its id, and the correlation or mean that it has."""
    picked = widgets.one_of(choices.COMPONENTS, _("Components of q and k"), distribution_names(), style="select")
    labels: dict[str, Any] = {
        "correlated": (_("Correlation"), _("of each q_i with its k_i")),
        "shifted": (_("Mean"), _("of every component of q and of k")),
    }
    if picked not in draws.BROKEN:
        return picked, 0.0
    label, help = labels[picked]
    return picked, number(choices.STRENGTHS[picked], label, 0.1, help=help)
