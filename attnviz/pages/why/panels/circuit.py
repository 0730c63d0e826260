"""Section 2: the few heads that keep the answer, as a graph, with the share that they keep."""

import streamlit as st

from attnviz.app import live_run, page_parts, show, widgets
from attnviz.app.text import plain
from attnviz.base.words import _, listed
from attnviz.pages.why import choices, figures
from attnviz.pages.why.maths import circuit
from attnviz.pages.why.panels import form

SECTION = "why-circuit"


def panel() -> None:
    """Draw the section."""
    place = page_parts.main_picture()
    asked = form.ask()
    other = form.second_prompt(asked.run.request.text)
    with_mlps = widgets.toggle(
        choices.MLPS, _("Leave out MLPs, too"), help=_("Otherwise every MLP stays, and only heads are exchanged.")
    )
    size = widgets.slider(choices.SIZE, _("Parts in the circuit"), step=1)
    config = circuit.Config(asked.run.request.text, other, asked.parts.ids, with_mlps, asked.parts.masked)
    with place:
        live = live_run.advance(
            SECTION,
            (asked.run.request, config),
            lambda: circuit.run(asked.run, asked.loaded, config),
            lambda made: made.done,
        )
        size = min(size, len(live.result.parts))
        left, right = st.columns([1.7, 1], gap="small")
        with left:
            _graph(asked, live.result, size)
        with right:
            _curve(asked, live.result, size)
        done, of = len(live.result.kept), len(live.result.sizes)
        live_run.controls(SECTION, live, done / of, _("{n} of {all} sizes measured").format(n=done, all=of))
    live_run.again(live)


def _name(part: circuit.CircuitPart) -> str:
    return _("MLP {layer}").format(layer=part.layer) if part.head is None else f"{part.layer}.{part.head}"


def _graph(asked: form.Asked, made: circuit.MeasuredCircuit, size: int) -> None:
    tokens, chosen = asked.run.stacks[0].queries.labels, made.parts[:size]
    nodes = [
        figures.Node(_name(part), part.position, part.layer, part.score, part.reads, part.head is None)
        for part in chosen
    ]
    show.figure(
        show.chart_of(figures.graph, nodes, tokens, asked.parts.asked[0].label, form.title(asked)),
        name=f"circuit-{asked.run.request.model}-{size}",
        key="why-circuit",
        words=_said(asked, made, size),
        table=lambda: {
            "part": [_name(part) for part in chosen],
            "layer": [part.layer for part in chosen],
            "head": [part.head for part in chosen],
            "score": [part.score for part in chosen],
            "position": [part.position for part in chosen],
            "token": [tokens[part.position] for part in chosen],
        },
    )


def _said(asked: form.Asked, made: circuit.MeasuredCircuit, size: int) -> str:
    """The honest number under the picture."""
    if size >= len(made.kept):
        return _("How much these parts keep is being measured.")
    template = (
        _(
            "With {parts} alone, and every MLP, **{kept:.0%}** of the difference stays; all other heads do what they "
            "do for “{other}”."
        )
        if not made.config.with_mlps
        else _(
            "With {parts} alone, **{kept:.0%}** of the difference stays; all other heads and MLPs do what they do for "
            "“{other}”."
        )
    )
    return template.format(
        parts=listed(map(_name, made.parts[:size])), kept=made.kept[size], other=plain(made.config.other)
    )


def _curve(asked: form.Asked, made: circuit.MeasuredCircuit, size: int) -> None:
    shown = max(len(made.kept), 1)
    show.figure(
        show.chart_of(figures.curve, made.sizes, made.kept, size),
        name=f"circuit-kept-{asked.run.request.model}",
        key="why-kept",
        words=_("100% is the difference between {before:+.2f}, all exchanged, and {after:+.2f}, none.").format(
            before=made.ablated, after=made.whole
        ),
        table={"parts": list(made.sizes[:shown]), "kept": list(made.kept[:shown])} if made.kept else None,
    )
