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


def draw_controls() -> tuple[form.TokenRequest, two_prompts.TwoPrompts]:
    """Draw the controls of both sections; the second prompt is in the link only once the visitor has typed one."""
    request = form.draw_form()
    text = request.run.request.text
    example = find_contrast(text)
    second_prompt = widgets.text_box(
        choices.SECOND_PROMPT,
        _("Second prompt"),
        usual=example.second_prompt if example else None,
        help=_("As many tokens as the sentence, with another answer: change one word."),
    )
    if not second_prompt.strip():
        raise Problem("Type a second prompt: the sentence with one word changed, so that another token comes next")
    return request, two_prompts.TwoPrompts(text, second_prompt, request.parts.ids, request.parts.masked)


def circuit_panel() -> None:
    """Draw the few heads that keep the answer, and the share that they keep."""
    container = page_parts.main_picture()
    request, prompts = draw_controls()
    with_mlps = widgets.toggle(
        choices.MLPS, _("Leave out MLPs, too"), help=_("Otherwise every MLP stays, and only heads are exchanged.")
    )
    size = widgets.slider(choices.SIZE, _("Parts in the circuit"), step=1)
    with container:
        live = live_run.advance(
            CIRCUIT,
            (request.run.request, prompts, with_mlps),
            lambda: two_prompts.measure_circuit(request.run, request.loaded, prompts, with_mlps),
            lambda circuit: circuit.is_done,
        )
        size = min(size, len(live.result.parts))
        left, right = st.columns([1.7, 1], gap="small")
        with left:
            _draw_graph(request, live.result, size)
        with right:
            _draw_curve(request, live.result, size)
        done, of = len(live.result.faithfulness), len(live.result.sizes)
        live_run.draw_progress(CIRCUIT, live, done / of, _("{n} of {all} sizes measured").format(n=done, all=of))
    live_run.rerun_if_running(live)


def _component_name(component: two_prompts.CircuitPart) -> str:
    return (
        _("MLP {layer}").format(layer=component.layer)
        if component.head is None
        else f"{component.layer}.{component.head}"
    )


def _draw_graph(request: form.TokenRequest, circuit: two_prompts.MeasuredCircuit, size: int) -> None:
    tokens, chosen = request.run.stacks[0].queries.labels, circuit.parts[:size]
    nodes = [
        figures.Node(
            _component_name(component),
            component.position,
            component.layer,
            component.score,
            component.reads,
            component.head is None,
        )
        for component in chosen
    ]
    show.figure(
        show.chart_of(
            figures.draw_circuit, nodes, tokens, request.parts.targets[0].label, form.sentence_title(request)
        ),
        name=f"circuit-{request.run.request.model}-{size}",
        key="why-circuit",
        sentence=_circuit_caption(request, circuit, size),
        table=lambda: {
            "part": [_component_name(component) for component in chosen],
            "layer": [component.layer for component in chosen],
            "head": [component.head for component in chosen],
            "score": [component.score for component in chosen],
            "position": [component.position for component in chosen],
            "token": [tokens[component.position] for component in chosen],
        },
    )


def _circuit_caption(request: form.TokenRequest, circuit: two_prompts.MeasuredCircuit, size: int) -> str:
    """Caption of the circuit: the share of the logit difference that it keeps."""
    if size >= len(circuit.faithfulness):
        return _("How much these parts keep is being measured.")
    template = (
        _(
            "With {parts} alone, and every MLP, **{kept:.0%}** of the difference stays; all other heads do what they "
            "do for “{other}”."
        )
        if not circuit.with_mlps
        else _(
            "With {parts} alone, **{kept:.0%}** of the difference stays; all other heads and MLPs do what they do for "
            "“{other}”."
        )
    )
    return template.format(
        parts=join_list(map(_component_name, circuit.parts[:size])),
        kept=circuit.faithfulness[size],
        other=escape_markdown(circuit.prompts.second_prompt),
    )


def _draw_curve(request: form.TokenRequest, circuit: two_prompts.MeasuredCircuit, size: int) -> None:
    n_measured = max(len(circuit.faithfulness), 1)
    show.figure(
        show.chart_of(figures.faithfulness_curve, circuit.sizes, circuit.faithfulness, size),
        name=f"circuit-kept-{request.run.request.model}",
        key="why-kept",
        sentence=_(
            "At 100% the logit difference is {after:+.2f}, where no head is exchanged; at 0% {before:+.2f}."
        ).format(before=circuit.ablated_logit_diff, after=circuit.logit_diff),
        table={"parts": list(circuit.sizes[:n_measured]), "kept": list(circuit.faithfulness[:n_measured])}
        if circuit.faithfulness
        else None,
    )


def patches_panel() -> None:
    """Draw the map of patches: the share of the difference that each layer and position restores."""
    container = page_parts.main_picture()
    request, prompts = draw_controls()
    with container:
        live = live_run.advance(
            PATCHES,
            (request.run.request, prompts),
            lambda: two_prompts.patch_prompts(request.loaded, prompts),
            lambda patches: patches.n_done >= patches.n_exact,
        )
        _draw_map(request, live.result)
        done, of = live.result.n_done, live.result.n_exact
        live_run.draw_progress(PATCHES, live, done / of, _("{n} of {all} cells computed anew").format(n=done, all=of))
    live_run.rerun_if_running(live)


def _draw_map(request: form.TokenRequest, patches: two_prompts.PatchMap) -> None:
    clean, corrupted = patches.tokens
    names = [
        clean_token if clean_token == corrupted_token else f"{clean_token} / {corrupted_token}"
        for clean_token, corrupted_token in zip(clean, corrupted, strict=True)
    ]
    shares = patches.shares
    below = min(1, len(shares) - 1)  # what enters the first layer gives all back, which tells nothing
    layer, at = (int(n) for n in np.unravel_index(int(np.nanargmax(shares[below:])), shares[below:].shape))
    layer += below
    main_sentence = _(
        "Put into the run of “{other}” at layer {layer}, the stream of “{token}” gives back {share:.0%} of the "
        "difference, from {before:+.2f} to {after:+.2f}."
    ).format(
        other=escape_markdown(patches.prompts.second_prompt),
        layer=layer,
        token=escape_markdown(names[at]),
        share=shares[layer, at],
        before=patches.before,
        after=patches.after,
    )
    correlation = patches.correlation
    exact = (
        ""
        if correlation is None
        else _("Exact and linearised cells correlate with {r:.2f}.").format(r=correlation)
        if correlation >= TRUSTED
        else _("Exact and linearised cells correlate with {r:.2f} only: trust those with a dot.").format(r=correlation)
    )
    show.figure(
        show.chart_of(figures.patch_map, shares, patches.exact, patches.linear, names),
        name=f"patches-{request.run.request.model}",
        key="why-patches",
        sentence=join_sentences(
            main_sentence,
            _("A dot marks a cell that was computed anew; the others are linearised, or can change nothing."),
            exact,
        ),
        table=lambda: _patch_table(patches, names),
    )


def _patch_table(patches: two_prompts.PatchMap, names: list[str]) -> dict[str, list[Any]]:
    layer, at = np.indices(patches.linear.shape)
    return {
        "layer": layer.ravel().tolist(),
        "position": at.ravel().tolist(),
        "token": [names[n] for n in at.ravel()],
        "linearised": patches.linear.ravel().tolist(),
        "exact": ["" if np.isnan(n) else float(n) for n in patches.exact.ravel()],
    }
