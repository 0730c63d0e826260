"""The page's controls: numbers that live in the link, that a canvas may set too, and that every panel can read."""

from __future__ import annotations

import math
from dataclasses import dataclass

import streamlit as st

from attnviz.experiments.scaling import alternatives, draws
from attnviz.ui.scaling.names import alternative_names, distribution_names
from attnviz.ui.shared import choice, plain
from attnviz.words import _

NumberValue = int | float


@dataclass(frozen=True)
class Number:
    """A number in the link: what it is when nobody chose, and its range. Whole numbers have a whole default."""

    default: NumberValue
    low: NumberValue
    high: NumberValue


NUMBERS = {
    "s_dk": Number(64, 1, 4096),
    "s_seed": Number(0, 0, 999_999),
    "s_pairs": Number(100_000, 1, 1_000_000),
    "s_correlation": Number(0.5, -1.0, 1.0),
    "s_mean": Number(0.5, -2.0, 2.0),
    "s_keys": Number(16, 1, 4096),
    "s_steps": Number(300, 10, 2000),
    "s_seeds": Number(4, 1, 8),
    "s_rate": Number(1.0, 0.001, 10.0),
    "s_block": Number(2, 1, 4096),
    "s_layer": Number(0, 0, 999),
    "s_head": Number(0, 0, 999),
    "s_factor": Number(2.0, 0.0, 1000.0),
    "s_T": Number(1.0, 0.0, 1_000_000.0),
    **{
        f"s_{one.id}": Number(one.default, one.low, one.high)
        for one in alternatives.ALTERNATIVES.values()
        if one.parameter
    },
}
#: The control that says how far an assumption is broken.
STRENGTHS = {"correlated": "s_correlation", "shifted": "s_mean"}
#: Where the d_k slider stops; the box beside it takes any whole number.
STOPS = sorted({round(2 ** (i / 4)) for i in range(49)})


BOX = 150  #: pixels: two boxes stand beside each other on a phone


def value(key: str) -> NumberValue:
    """The number under `key`, whether or not its control is on the page now."""
    _follow_link(key)
    kept: NumberValue = st.session_state[key]
    return kept


def whole(key: str) -> int:
    """`value` of a whole number."""
    return int(value(key))


def put(key: str, number: NumberValue) -> None:
    """Set a number from a callback, and write it into the link."""
    st.session_state[key] = _fitting(key, number)
    _write_link(key)


def number(label: str, key: str, step: NumberValue | None = None, help: str | None = None) -> NumberValue:
    """A box for the number under `key`."""
    _follow_link(key)
    spec = NUMBERS[key]
    picked = st.number_input(
        label,
        min_value=spec.low,
        max_value=spec.high,
        step=step,
        key=key,
        help=help,
        format=None if isinstance(spec.default, int) else "%g",
        on_change=_write_link,
        args=(key,),
        persist_state="session",
        width=BOX,
    )
    return spec.default if picked is None else picked


def width() -> int:
    """d_k: a slider with even steps on a log scale, and a box for any whole number."""
    _follow_link("s_dk")
    now = int(st.session_state["s_dk"])
    stops = sorted({*STOPS, now})
    st.session_state["s_dk_slider"] = now
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.select_slider(
            _("d_k, the width of a query"),
            stops,
            key="s_dk_slider",
            on_change=lambda: put("s_dk", st.session_state["s_dk_slider"]),
        )
        return int(number("d_k", "s_dk", 1))


def alternative() -> tuple[str, float]:
    """The alternative beside raw and scaled, and its parameter (1 where it has none)."""
    picked = choice(
        _("Alternative"),
        {name: alternative_names()[name] for name in alternatives.CHOICES},
        "s_alternative",
        style="select",
    )
    return picked, parameter(picked)


def chosen_alternative() -> tuple[str, float]:
    """The same without drawing the control."""
    picked = str(
        st.session_state.get("s_alternative") or st.query_params.get("s_alternative") or alternatives.CHOICES[0]
    )
    picked = picked if picked in alternatives.CHOICES else alternatives.CHOICES[0]
    return picked, parameter(picked)


def parameter(name: str) -> float:
    """The parameter of an alternative, as it was last set."""
    return float(value(f"s_{name}")) if alternatives.ALTERNATIVES[name].parameter else 1.0


def distribution() -> tuple[str, float]:
    """Where components come from, and the correlation or mean where an assumption is broken."""
    picked = choice(_("Components of q and k"), distribution_names(), "s_components", style="select")
    return picked, strength(picked)


def strength(name: str) -> float:
    """The correlation or the mean of a distribution that breaks an assumption; 0 for others."""
    return float(value(STRENGTHS[name])) if name in draws.BROKEN else 0.0


def chosen_distribution() -> tuple[str, float]:
    """The same without drawing the control."""
    picked = str(st.session_state.get("s_components") or st.query_params.get("s_components") or "normal")
    picked = picked if picked in draws.DISTRIBUTIONS else "normal"
    return picked, strength(picked)


def _fitting(key: str, number: NumberValue) -> NumberValue:
    spec = NUMBERS[key]
    inside = min(max(number, spec.low), spec.high)
    return round(inside) if isinstance(spec.default, int) else float(inside)


def _read(key: str, text: str) -> NumberValue | None:
    """The number that the link asks for, or None where it is none or out of range."""
    spec = NUMBERS[key]
    try:
        asked: NumberValue = int(text) if isinstance(spec.default, int) else float(text)
    except ValueError:
        return None
    return asked if math.isfinite(asked) and spec.low <= asked <= spec.high else None


def _follow_link(key: str) -> None:
    """Take the number from the link when the link changed by another hand than ours."""
    asked, seen = st.query_params.get(key), f"_seen_{key}"
    if key in st.session_state and st.session_state.get(seen) == asked:
        return
    st.session_state[seen] = asked
    wanted = None if asked is None else _read(key, asked)
    if asked is not None and wanted is None:
        spec = NUMBERS[key]
        st.caption(
            _("The link asks for {name} = {asked}; it lies between {low} and {high}.").format(
                name=plain(key.removeprefix("s_")), asked=plain(asked[:30]), low=spec.low, high=spec.high
            )
        )
    st.session_state[key] = NUMBERS[key].default if wanted is None else wanted


def _write_link(key: str) -> None:
    now = st.session_state[key]
    if now == NUMBERS[key].default or now is None:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = f"{now:g}" if isinstance(now, float) else str(now)
    st.session_state[f"_seen_{key}"] = st.query_params.get(key)
