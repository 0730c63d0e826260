"""Section 1: a decoder generates step by step with a cache, beside the same without one."""

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app import live_run, page_parts, show, widgets
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown
from attnviz.base import units
from attnviz.base.words import _, join_sentences, ngettext
from attnviz.canvas import cache_growth, step_player
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.decoding import choices
from attnviz.pages.decoding.maths import decoding_snippets, token_by_token
from attnviz.pages.decoding.panels import decoder_form

BOX = 150  #: pixels of the box for the number of steps


def prepare(name: str) -> None:
    """Write the example that the page opens with, if it opens with this decoder: for the first visitor, as he comes."""
    if name != next(iter(decoder_form.decoder_names())):
        return
    config = token_by_token.Config(choices.PROMPT_EXAMPLE, choices.STEPS.default)
    decoder = decoder_form.get_decoder(name)
    live_run.prepare("steps", (decoder_form.decoder_key(name), config), lambda: token_by_token.run(decoder, config))


def panel() -> None:
    main_picture = page_parts.main_picture()
    name, config, more = _choose_config()
    decoder = decoder_form.get_decoder(name)
    live = live_run.advance(
        "steps",
        (decoder_form.decoder_key(name), config),
        lambda: token_by_token.run(decoder, config),
        lambda result: result.done,
    )
    result = live.result
    if not config.steps:
        st.info(_("Zero steps: the prompt is processed, and nothing is written."))
    done = len(result.steps)
    live_run.draw_progress(
        "steps",
        live,
        done / result.total_steps,
        _("step {step} of {steps}").format(step=done, steps=result.total_steps),
    )
    at = min(widgets.limit_choice(choices.AT, max(result.total_steps - 1, 0), usual=done - 1), done - 1)
    with more, page_parts.more_menu():
        widgets.number_box(
            choices.TEMPERATURE, _("Temperature"), step=0.1, help=_("0 always takes the likeliest token.")
        )
        widgets.number_box(choices.SEED, _("Seed of the draw"), step=1)
        layer = widgets.number_box(choices.LAYER, _("Layer, from 0"), step=1, high=len(result.layers) - 1)
        head = widgets.number_box(choices.HEAD, _("Head, from 0"), step=1, high=len(result.layers[layer].q) - 1)

    def store(step: int) -> None:
        link_state.set_and_push(choices.AT, None if step == result.total_steps - 1 else step)

    with main_picture:
        _draw_bricks(result, at, store)
    with st.container(key="picture-of-steps"):
        st.subheader(_("What one head does with it"), anchor=False)
        with st.container(key="canvas-of-steps"):
            step_player.step_player("d_player", decoder_form.step_figure(result, layer, head, at), on_step=store)
        _draw_footer(result, decoder.name, decoder.weights_are, (layer, head), at)
    live_run.rerun_if_running(live)
    st.caption(join_sentences(_describe_agreement(result), _describe_layer(result, at)))
    show.program(
        decoding_snippets.steps_program(name, config, result),
        "decoding-steps",
        about=_(
            "Paste this code into a notebook: it writes these tokens again, and prints how many were processed and the "
            "largest difference of a logit."
        ),
    )


def _choose_config() -> tuple[str, token_by_token.Config, DeltaGenerator]:
    """Draw the choices. Returns the decoder's id, the configuration and the container of the menu.

    The menu is filled later: layers and heads are known once the decoder is.
    """
    decoder_column, prompt_column = st.columns([1.2, 3], vertical_alignment="bottom")
    with decoder_column:
        name = decoder_form.choose()
    with prompt_column, st.container(horizontal=True, vertical_alignment="bottom"):
        text = widgets.text_box(choices.PROMPT, _("Prompt"))
        steps = widgets.number_box(choices.STEPS, _("Steps"), step=1, width=BOX)
        more = st.container(width="content")
    temperature, seed = link_state.value(choices.TEMPERATURE), link_state.value(choices.SEED)
    return name, token_by_token.Config(text, steps, temperature, seed if temperature else 0), more


def _draw_footer(
    result: token_by_token.Result, name: str, weights_are: str, layer_and_head: tuple[int, int], at: int
) -> None:
    (layer, head), tensors = layer_and_head, result.layers[layer_and_head[0]]
    head_caption = _("Layer {layer}, head {head} of {heads}, which reads K/V head {shared} of {groups}.").format(
        layer=layer, head=head, heads=len(tensors.q), shared=tensors.find_kv_head(head), groups=len(tensors.k)
    )
    kinds = {
        "trained": _("{name}: trained weights."),
        "random": _("{name}: random weights (seed 0)."),
        "unknown": _("{name}: weights of unknown origin."),
    }

    def figure() -> SceneFigure:
        player = decoder_form.step_figure(result, layer, head, at)
        return SceneFigure((player,), player.title, player)

    def table() -> dict[str, Any]:
        end = result.steps[at].context
        weights = decoder_form.head_film(result, layer, head).weights[end - 1, :end]
        return {"position": range(end), "token": result.labels[:end], "weight": weights}

    show.footer(
        figure,
        name=f"decoding-layer{layer}-head{head}",
        key="d_player_save",
        canvas=show.live_canvas("d_player"),
        sentence=join_sentences(
            kinds[weights_are].format(name=escape_markdown(name)), head_caption, _step_caption(result, at)
        ),
        caption=join_sentences(head_caption, _("{model} reads “{text}”.").format(model=name, text=result.config.text)),
        table=table,
    )


def _step_caption(result: token_by_token.Result, at: int) -> str:
    """What the step on show processed, and whether both ways agree there; empty where nothing is written."""
    if not result.config.steps:
        return ""
    step, temperature = result.steps[at], result.config.temperature
    others = _("Probabilities are the model’s own; at temperature {temperature:g} the draw is made from others.")
    return join_sentences(
        _("Tokens that step {step} processed: **{one}** with the cache, **{all}** without.").format(
            step=at + 1, one=step.cached.tokens, all=step.uncached.tokens
        ),
        _("Both agree on the likeliest next token.")
        if step.same_choice
        else _("They disagree on the likeliest next token."),
        "" if temperature in (0.0, 1.0) else others.format(temperature=temperature),
    )


def _describe_agreement(result: token_by_token.Result) -> str:
    """How far the logits of the two ways are apart at worst, beside the largest |logit|."""
    worst = max(result.steps, key=lambda step: step.difference)
    if not worst.difference:
        return _("Their logits agree in every digit.")
    return ngettext(
        "Both compute the same sums in a different order, so rounding differs in the last digits of {bits}-bit "
        "numbers, {share:.1g} of the largest |logit|; the likeliest token is the same at {same} of {steps} step.",
        "Both compute the same sums in a different order, so rounding differs in the last digits of {bits}-bit "
        "numbers, {share:.1g} of the largest |logit|; the likeliest token is the same at {same} of {steps} steps.",
        len(result.steps),
    ).format(
        bits=8 * result.number_bytes,
        share=worst.difference / worst.largest_logit,
        same=sum(step.same_choice for step in result.steps),
        steps=len(result.steps),
    )


def _describe_layer(result: token_by_token.Result, at: int) -> str:
    """The bytes of a layer and of the whole cache at this step, as a product."""
    step, first = result.steps[at], result.layers[0]
    return _(
        "After step {step}, tokens × K/V heads × numbers × bytes in layer 0: {tokens} × {groups} × ({k} + {v}) × "
        "{size} = **{layer} B**. The whole cache ({layers} such) holds **{total}**, {token} for each token."
    ).format(
        step=at + 1,
        tokens=step.context,
        groups=len(first.k),
        k=first.k.shape[2],
        v=first.v.shape[2],
        size=result.number_bytes,
        layer=f"{sum(step.layer_bytes[0]):,}",
        layers=len(step.layer_bytes),
        total=units.decimal_and_binary(step.cache_bytes),
        token=units.binary(step.cache_bytes / step.context),
    )


def _draw_bricks(result: token_by_token.Result, at: int, store: Callable[[int], None]) -> None:
    """Draw the tokens computed step by step, with the cache and without, and what their numbers say."""
    steps = result.steps
    bricks = cache_growth.BrickFigure(
        result.labels[: result.context],
        [step.context for step in steps],
        [step.cache_bytes for step in steps],
        result.total_steps,
        at,
    )
    cache_growth.cache_growth("d_bricks", bricks, on_stop=store)
    once, anew = (
        list(accumulate(tokens))
        for tokens in zip(*((step.cached.tokens, step.uncached.tokens) for step in steps), strict=True)
    )
    with_cache = sum(step.cached.flops for step in steps[: at + 1])
    without = sum(step.uncached.flops for step in steps[: at + 1])
    again = _(
        "With the cache the keys and values of {once} {once:token|tokens} are computed, once each. Without it "
        "**{anew}** are, {again} of them again, and the passes take **{times:.1f} times** the FLOPs."
    )
    sentence = (
        again if at else _("The prompt’s {once} {once:token|tokens} are computed once, with a cache and without.")
    ).format(once=once[at], anew=anew[at], again=anew[at] - once[at], times=without / with_cache)
    show.footer(
        lambda: SceneFigure((bricks,), film=bricks),
        name="decoding-bricks",
        key="d_bricks_save",
        canvas=show.live_canvas("d_bricks"),
        sentence=sentence,
        caption=sentence,
        table={
            "step": range(1, len(steps) + 1),
            "tokens computed with a cache": once,
            "tokens computed without": anew,
            "FLOP with a cache": [step.cached.flops for step in steps],
            "FLOP without": [step.uncached.flops for step in steps],
            "bytes of the cache": bricks.kept,
        },
    )
