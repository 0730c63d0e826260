"""The controls that the sections share: which decoder writes, a trained one or the core's small one."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from attnviz.app import presenting, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.base.words import _
from attnviz.canvas import step_player
from attnviz.models.architecture import Architecture, CustomShape
from attnviz.models.loading import availabilities, version
from attnviz.pages.decoding import choices
from attnviz.pages.decoding.maths import decoders, token_by_token


def names() -> dict[str, str]:
    """Decoders on this machine, and the small one that is always there."""
    here = {
        s.entry.id: s.entry.name_from(s.source)
        for s in availabilities()
        if s.on_this_machine and s.entry.kind == "decoder"
    }
    return here | {decoders.CORE: _("a small one of this app’s core, random weights")}


def choose() -> str:
    """Draw the choice; returns the id of the decoder."""
    return widgets.one_of(choices.MODEL, _("Decoder"), names(), style="select")


def choose_with_text() -> tuple[str, str]:
    """Draw the choice and the text that the decoder reads; returns its id and the text."""
    which, words = st.columns([1.2, 3])
    with which:
        name = choose()
    with words:
        text = widgets.text_area(choices.TEXT, _("Text: the first half is the prompt"), height=96)
    return name, text


def decoder_of(name: str) -> decoders.Decoder:
    """The decoder of that id; a model that is not in memory is loaded while the visitor watches."""
    if name == decoders.CORE:
        return core_decoder(0)
    return decoders.ModelDecoder(model_cache.model(name))


core_decoder = st.cache_resource(max_entries=4, show_spinner=False)(decoders.CoreDecoder)


def architecture_of(name: str) -> Architecture:
    """The shape of the decoder of that id."""
    decoder = decoder_of(name)
    if isinstance(decoder, decoders.ModelDecoder):
        return decoder.architecture()
    layout = decoders.CORE_LAYOUT
    shape = CustomShape(
        decoders.CORE_LAYERS, layout.d_model, layout.n_heads, layout.kv_heads, layout.qk_width, d_ff=3 * layout.d_model
    )
    return shape.architecture(decoder.name)


def identity(name: str) -> tuple[str, str]:
    """What a decoder is known by in caches: its id, and the state of its files."""
    return name, "" if name == decoders.CORE else version(name)


# A run token by token as the step player takes it: each step, and the tensors of one head.
def steps_of(result: token_by_token.Result) -> list[step_player.PlayedStep]:
    """What each step processed, cost and could have written."""
    return [
        step_player.PlayedStep(
            step.context,
            (step.cached.tokens, step.anew.tokens),
            (step.cached.flops, step.anew.flops),
            (step.cached.seconds, step.anew.seconds),
            step.difference,
            tuple(map(sum, step.layer_bytes)),
            [(each.label, each.probability, each.chosen) for each in step.alternatives],
        )
        for step in result.steps
    ]


def film_of(result: token_by_token.Result, layer: int, head: int) -> step_player.HeadFilm:
    """Queries, output and weights of a query head, with the keys and values that it reads."""
    held = result.layers[layer]
    shared = held.kv_head_of(head)
    return step_player.HeadFilm(held.q[head], held.k[shared], held.v[shared], held.output(head), held.weights[head])


def walk(views: Mapping[str, str]) -> presenting.Walk:
    """The walk, with the views' names."""
    sections = presenting.through(choices.VIEW, views)
    if link_state.value(choices.VIEW) != "steps":
        return presenting.Walk(sections.title, sections.place, True, sections.after, _go(sections))
    at = _at()
    place = _("Step {number} of {count}").format(number=at + 1, count=max(1, link_state.value(choices.STEPS)))
    return presenting.Walk(sections.title, place, at > 0, sections.after, _go(sections))


def _at() -> int:
    """The step on show, from 0; while none is chosen, the last."""
    last = max(0, link_state.value(choices.STEPS) - 1)
    asked = link_state.value(choices.AT)
    return last if asked is None else min(asked, last)


def _go(sections: presenting.Walk) -> presenting.Go:
    def go(by: int) -> None:
        for _each in range(abs(by)):
            _one(1 if by > 0 else -1, sections)

    return go


def _one(by: int, sections: presenting.Walk) -> None:
    """One step on: among the decoder's while there are any on this side, else to the next view."""
    last = max(0, link_state.value(choices.STEPS) - 1)
    step = _at() + by
    if link_state.value(choices.VIEW) != "steps" or step > last:
        sections.go(by)
    elif step >= 0:
        link_state.put(choices.AT, None if step == last else step)
