"""Section 1: a decoder generates step by step with a cache, beside the same without one."""

from itertools import accumulate
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app import live_run, page_parts, show, widgets
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences, ngettext
from attnviz.canvas import step_player
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.decoding import choices, figures
from attnviz.pages.decoding.maths import decoding_snippets, token_by_token
from attnviz.pages.decoding.maths.prefill_and_decode import Work
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
    with main_picture, st.container(key="canvas-of-steps"):
        step_player.step_player(
            "d_player",
            decoder_form.step_figure(result, layer, head, at),
            on_step=lambda step: link_state.set_and_push(choices.AT, None if step == result.total_steps - 1 else step),
        )
    with main_picture:
        _draw_footer(result, decoder.name, decoder.weights_are, (layer, head), at)
    live_run.rerun_if_running(live)
    _draw_agreement(result)
    _draw_costs(result, at)
    _draw_layers(result, at)
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


def _draw_agreement(result: token_by_token.Result) -> None:
    """Draw the largest difference of a logit at any step, beside the largest |logit|."""
    worst = max(result.steps, key=lambda step: step.difference)
    cached, uncached = (sum(work.flops for work in works) for works in _works_by_step(result))
    with st.container(horizontal=True):
        st.metric(_("Largest difference of a logit"), f"{Rounded(worst.difference):.2g}")
        st.metric(_("Largest |logit| at that step"), f"{Rounded(worst.largest_logit):.1f}")
        st.metric(
            _("Work saved"),
            f"{Rounded(1 - cached / uncached):.0%}",
            help=_("FLOPs of all steps with the cache, beside those without."),
        )
    if not worst.difference:
        st.caption(_("Their logits agree in every digit."))
        return
    st.caption(
        ngettext(
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
    )


def _works_by_step(result: token_by_token.Result) -> tuple[list[Work], list[Work]]:
    """What each step took, with the cache and without."""
    return [step.cached for step in result.steps], [step.uncached for step in result.steps]


def _flops_caption(cached: float, uncached: float) -> str:
    if cached == uncached:
        return _("By formula: **{flops}** with the cache and without: no step has reused it yet.").format(
            flops=units.flop(cached)
        )
    caption = _("By formula: **{with_}** with the cache, **{without}** without, **{times:.1f}** times as many.")
    return caption.format(with_=units.flop(cached), without=units.flop(uncached), times=uncached / cached)


def _draw_costs(result: token_by_token.Result, at: int) -> None:
    flops, clock = st.columns(2, gap="medium")
    with flops:
        cached, uncached = (list(accumulate(work.flops / 1e9 for work in works)) for works in _works_by_step(result))
        show.figure(
            show.chart_of(figures.running_totals, cached, uncached, _("GFLOP so far"), at),
            name="decoding-flops",
            key="d_flops",
            sentence=_flops_caption(cached[-1] * 1e9, uncached[-1] * 1e9),
            table={"step": list(range(1, len(cached) + 1)), "with a cache": cached, "without": uncached},
        )
    with clock:
        cached, uncached = (list(accumulate(work.seconds * 1e3 for work in works)) for works in _works_by_step(result))
        show.figure(
            show.chart_of(figures.running_totals, cached, uncached, _("ms so far"), at),
            name="decoding-time",
            key="d_time",
            sentence=_(
                "By the clock of this server, once, while it also served others: **{with_}** with the cache, "
                "**{without}** without; the ratio is **{times:.1f}**."
            ).format(
                with_=units.duration(cached[-1] / 1e3),
                without=units.duration(uncached[-1] / 1e3),
                times=uncached[-1] / cached[-1],
            ),
            table={"step": list(range(1, len(cached) + 1)), "with a cache": cached, "without": uncached},
        )


def _draw_layers(result: token_by_token.Result, at: int) -> None:
    step = result.steps[at]
    keys, values = ([pair[n] for pair in step.layer_bytes] for n in (0, 1))
    first = result.layers[0]
    show.figure(
        show.chart_of(figures.bytes_by_layer, keys, values),
        name="decoding-cache-bytes",
        key="d_layers",
        sentence=_(
            "After step {step}, tokens × K/V heads × numbers × bytes in layer 0: {tokens} × {groups} × ({k} + {v}) × "
            "{size} = **{layer} B**. The whole cache ({layers} such) holds **{total}**, {token} for each token."
        ).format(
            step=at + 1,
            tokens=step.context,
            groups=len(first.k),
            k=first.k.shape[2],
            v=first.v.shape[2],
            size=result.number_bytes,
            layer=f"{keys[0] + values[0]:,}",
            layers=len(keys),
            total=units.decimal_and_binary(step.cache_bytes),
            token=units.binary(step.cache_bytes / step.context),
        ),
        table={"layer": list(range(len(keys))), "key bytes": keys, "value bytes": values},
    )
