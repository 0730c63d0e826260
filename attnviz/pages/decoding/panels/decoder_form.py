"""Controls that the sections share: the choice of the decoder, its text, and the walk through steps."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial

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


def decoder_names() -> dict[str, str]:
    """Decoders on this machine, and the small one of the core: id -> name."""
    here = [model for model in availabilities() if model.on_this_machine and model.entry.kind == "decoder"]
    trained = {model.entry.id: model.entry.name_from(model.source) for model in here}
    return trained | {decoders.CORE: _("a small one of this app’s core, random weights")}


def choose() -> str:
    """Draw the choice of the decoder, and return its id."""
    return widgets.select_one(choices.MODEL, _("Decoder"), decoder_names(), style="select")


def choose_with_text() -> tuple[str, str]:
    """Draw the choice of the decoder and its text, and return its id and the text."""
    decoder_column, text_column = st.columns([1.2, 3])
    with decoder_column:
        name = choose()
    with text_column:
        text = widgets.text_box(choices.TEXT, _("Text: the first half is the prompt"), height=96)
    return name, text


def get_decoder(name: str) -> decoders.Decoder:
    """The decoder with that id. A model that is not in memory is loaded, with progress on the page."""
    return core_decoder(0) if name == decoders.CORE else decoders.ModelDecoder(model_cache.get_model(name))


core_decoder = lru_cache(4)(decoders.CoreDecoder)


def decoder_architecture(name: str) -> Architecture:
    """The architecture of the decoder with that id."""
    decoder = get_decoder(name)
    if isinstance(decoder, decoders.ModelDecoder):
        return Architecture.from_config(decoder.loaded.model.config, decoder.name)
    layout = decoders.CORE_LAYOUT
    shape = CustomShape(
        decoders.CORE_LAYERS, layout.d_model, layout.n_heads, layout.kv_heads, layout.qk_width, d_ff=3 * layout.d_model
    )
    return shape.architecture(decoder.name)


def decoder_key(name: str) -> tuple[str, str]:
    """Cache key of a decoder: its id, and the version of its files."""
    return name, "" if name == decoders.CORE else version(name)


# A run token by token as the step player takes it: each step, and the tensors of one head.
def step_figure(result: token_by_token.Result, layer: int, head: int, at: int) -> step_player.StepFigure:
    """The player of a head at step `at`."""
    labels, prompt = result.labels, len(result.prompt.labels)
    film = head_film(result, layer, head)
    return step_player.StepFigure(labels, prompt, played_steps(result), film, at, result.total_steps)


def played_steps(result: token_by_token.Result) -> list[step_player.PlayedStep]:
    """What each step processed, cost and could have written."""
    return [
        step_player.PlayedStep(
            step.context,
            (step.cached.tokens, step.uncached.tokens),
            (step.cached.flops, step.uncached.flops),
            (step.cached.seconds, step.uncached.seconds),
            step.difference,
            tuple(map(sum, step.layer_bytes)),
            step.alternatives,
        )
        for step in result.steps
    ]


def head_film(result: token_by_token.Result, layer: int, head: int) -> step_player.HeadFilm:
    """Queries, output and weights of a query head, with the keys and values that it reads."""
    tensors = result.layers[layer]
    kv = tensors.find_kv_head(head)
    return step_player.HeadFilm(
        tensors.q[head], tensors.k[kv], tensors.v[kv], tensors.output(head), tensors.weights[head]
    )


def walk(views: Mapping[str, str]) -> presenting.Walk:
    """A walk through the views by their names, and in the first one through the steps of the decoder."""
    sections = presenting.walk_choice(choices.VIEW, views)
    step_walk = replace(sections, before=True, go=partial(_go_by_steps, sections))
    if link_state.value(choices.VIEW) != "steps":
        return step_walk
    at, last = _current_step()
    step_label = _("Step {number} of {count}").format(number=at + 1, count=last + 1)
    return replace(step_walk, position=step_label, before=at > 0, steps=last - at)


def _current_step() -> tuple[int, int]:
    """The step on show, from 0, and the last one, which is on show while none is chosen."""
    last = max(0, link_state.value(choices.STEPS) - 1)
    picked = link_state.value(choices.AT)
    return last if picked is None else min(picked, last), last


def _go_by_steps(sections: presenting.Walk, by: int) -> None:
    """Go on step by step: among the decoder's while there are any on this side, else to the next view."""
    for _repeat in range(abs(by)):
        at, last = _current_step()
        step = at + (1 if by > 0 else -1)
        if link_state.value(choices.VIEW) != "steps" or step > last:
            sections.go(1 if by > 0 else -1)
        elif step >= 0:
            link_state.set_and_push(choices.AT, None if step == last else step)
