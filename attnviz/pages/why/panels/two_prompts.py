"""Sections 2 and 3: the few heads that keep the answer, as a graph; and two prompts, one put into the other."""

from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import live_run, page_parts, show, widgets
from attnviz.app.text import escape_markdown
from attnviz.base.message import Problem
from attnviz.base.words import _, join_list, join_sentences
from attnviz.pages.why import choices, figures
from attnviz.pages.why.maths import two_prompts
from attnviz.pages.why.maths.parts import find_contrast
from attnviz.pages.why.panels import form

CIRCUIT, PATCHES = "why-circuit", "why-patches"  #: what is computed in each section
TRUSTED = 0.7  #: a correlation from which on linearised cells are worth looking at


def ask() -> tuple[form.TokenRequest, two_prompts.TwoPrompts]:
    """Draw the controls of both sections; the second prompt is in the link only once the visitor has typed one."""
    asked = form.draw_form()
    text = asked.run.request.text
    example = find_contrast(text)
    other = widgets.text_box(
        choices.OTHER,
        _("Second prompt"),
        usual=example.other if example else None,
        help=_("As many tokens as the sentence, with another answer: change one word."),
    )
    if not other.strip():
        raise Problem("Type a second prompt: the sentence with one word changed, so that another token comes next")
    return asked, two_prompts.TwoPrompts(text, other, asked.parts.ids, asked.parts.masked)


def circuit_panel() -> None:
    """Draw the few heads that keep the answer, and the share that they keep."""
    place = page_parts.main_picture()
    asked, prompts = ask()
    with_mlps = widgets.toggle(
        choices.MLPS, _("Leave out MLPs, too"), help=_("Otherwise every MLP stays, and only heads are exchanged.")
    )
    size = widgets.slider(choices.SIZE, _("Parts in the circuit"), step=1)
    with place:
        live = live_run.advance(
            CIRCUIT,
            (asked.run.request, prompts, with_mlps),
            lambda: two_prompts.measure_circuit(asked.run, asked.loaded, prompts, with_mlps),
            lambda made: made.done,
        )
        size = min(size, len(live.result.parts))
        left, right = st.columns([1.7, 1], gap="small")
        with left:
            _graph(asked, live.result, size)
        with right:
            _curve(asked, live.result, size)
        done, of = len(live.result.kept), len(live.result.sizes)
        live_run.draw_progress(CIRCUIT, live, done / of, _("{n} of {all} sizes measured").format(n=done, all=of))
    live_run.rerun_if_running(live)


def _name(part: two_prompts.CircuitPart) -> str:
    return _("MLP {layer}").format(layer=part.layer) if part.head is None else f"{part.layer}.{part.head}"


def _graph(asked: form.TokenRequest, made: two_prompts.MeasuredCircuit, size: int) -> None:
    tokens, chosen = asked.run.stacks[0].queries.labels, made.parts[:size]
    nodes = [
        figures.Node(_name(part), part.position, part.layer, part.score, part.reads, part.head is None)
        for part in chosen
    ]
    show.figure(
        show.chart_of(figures.draw_circuit, nodes, tokens, asked.parts.asked[0].label, form.sentence_title(asked)),
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


def _said(asked: form.TokenRequest, made: two_prompts.MeasuredCircuit, size: int) -> str:
    """The honest number under the picture."""
    if size >= len(made.kept):
        return _("How much these parts keep is being measured.")
    template = (
        _(
            "With {parts} alone, and every MLP, **{kept:.0%}** of the difference stays; all other heads do what they "
            "do for “{other}”."
        )
        if not made.with_mlps
        else _(
            "With {parts} alone, **{kept:.0%}** of the difference stays; all other heads and MLPs do what they do for "
            "“{other}”."
        )
    )
    return template.format(
        parts=join_list(map(_name, made.parts[:size])), kept=made.kept[size], other=escape_markdown(made.prompts.other)
    )


def _curve(asked: form.TokenRequest, made: two_prompts.MeasuredCircuit, size: int) -> None:
    shown = max(len(made.kept), 1)
    show.figure(
        show.chart_of(figures.kept_share_curve, made.sizes, made.kept, size),
        name=f"circuit-kept-{asked.run.request.model}",
        key="why-kept",
        words=_("100% is the difference between {before:+.2f}, all exchanged, and {after:+.2f}, none.").format(
            before=made.ablated, after=made.whole
        ),
        table={"parts": list(made.sizes[:shown]), "kept": list(made.kept[:shown])} if made.kept else None,
    )


def patches_panel() -> None:
    """Draw what a layer's stream at a token gives back of the difference."""
    place = page_parts.main_picture()
    asked, prompts = ask()
    with place:
        live = live_run.advance(
            PATCHES,
            (asked.run.request, prompts),
            lambda: two_prompts.patch(asked.loaded, prompts),
            lambda made: made.done >= made.asked,
        )
        _map(asked, live.result)
        done, of = live.result.done, live.result.asked
        live_run.draw_progress(PATCHES, live, done / of, _("{n} of {all} cells computed anew").format(n=done, all=of))
    live_run.rerun_if_running(live)


def _map(asked: form.TokenRequest, made: two_prompts.PatchMap) -> None:
    clean, corrupted = made.tokens
    names = [one if one == two else f"{one} / {two}" for one, two in zip(clean, corrupted, strict=True)]
    shares = made.shares
    below = min(1, len(shares) - 1)  # what enters the first layer gives all back, which tells nothing
    layer, at = (int(n) for n in np.unravel_index(int(np.nanargmax(shares[below:])), shares[below:].shape))
    layer += below
    said = _(
        "Put into the run of “{other}” at layer {layer}, the stream of “{token}” gives back {share:.0%} of the "
        "difference, from {before:+.2f} to {after:+.2f}."
    ).format(
        other=escape_markdown(made.prompts.other),
        layer=layer,
        token=escape_markdown(names[at]),
        share=shares[layer, at],
        before=made.before,
        after=made.after,
    )
    how = made.correlation
    exact = (
        ""
        if how is None
        else _("Exact and linearised cells correlate with {r:.2f}.").format(r=how)
        if how >= TRUSTED
        else _("Exact and linearised cells correlate with {r:.2f} only: trust those with a dot.").format(r=how)
    )
    show.figure(
        show.chart_of(figures.patch_map, shares, made.exact, made.linear, names),
        name=f"patches-{asked.run.request.model}",
        key="why-patches",
        words=join_sentences(
            said,
            _("A dot marks a cell that was computed anew; the others are linearised, or can change nothing."),
            exact,
        ),
        table=lambda: _table(made, names),
    )


def _table(made: two_prompts.PatchMap, names: list[str]) -> dict[str, list[Any]]:
    layer, at = np.indices(made.linear.shape)
    return {
        "layer": layer.ravel().tolist(),
        "position": at.ravel().tolist(),
        "token": [names[n] for n in at.ravel()],
        "linearised": made.linear.ravel().tolist(),
        "exact": ["" if np.isnan(n) else float(n) for n in made.exact.ravel()],
    }
