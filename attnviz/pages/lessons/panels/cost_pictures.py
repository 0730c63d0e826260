"""Pictures that no sentence changes, and a decoder that writes on: softmax over d_k, caches, MHA beside GQA and MQA."""

from __future__ import annotations

import streamlit as st

from attnviz.app import units
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.text import plain
from attnviz.base.words import _, listed
from attnviz.canvas import cache_growth, softmax_slider, step_player
from attnviz.figures.theme import SERIES
from attnviz.models.architecture import Architecture
from attnviz.pages.decoding.maths import decoders, growing_bytes, token_by_token
from attnviz.pages.decoding.panels import decoder_form
from attnviz.pages.home import maths as landing
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths import cache_facts
from attnviz.pages.lessons.maths.subject import HEAD, Subject
from attnviz.pages.lessons.panels.lesson_form import PictureSettings
from attnviz.pages.scaling.maths import growing_width
from attnviz.pages.scaling.panels import saturation, scaling_form
from attnviz.pages.sharing.panels import one_picture

WRITTEN = 8  #: tokens that the decoder writes in the lesson
PROMPT = 10  #: bytes of the sentence that the small decoder reads
GOES_ON, ROWS = 4, 24  #: tokens that the trained model adds to a sentence of at most so many
CORE = decoders.CORE


def bars(_subject: Subject, set_to: PictureSettings, key: str) -> None:
    """Weights of one query over 16 keys, raw and scaled, over d_k."""
    usual = int(set_to.get("d_k", "64"))
    asked = link_state.value(choices.WIDTH)
    config = growing_width.Config(d_k=usual if asked is None else asked)
    film = scaling_form.film(config.n_keys, config.seed, config.d_k)
    shown = ("raw", "sqrt", *(["inverse"] if set_to.get("also") == "inverse" else []))
    softmax_slider.softmax_slider(
        key,
        film.d_k,
        film.scores,
        scaling_form.panels_of(shown),
        at=config.d_k,
        parameter=softmax_slider.SliderParameter("a", 1.0, 0.1, 64.0) if "inverse" in shown else None,
        about=shown[-1],
        on_pick=lambda pick: link_state.put(choices.WIDTH, None if pick.d_k == usual else pick.d_k),
    )
    st.caption(_("Random vectors with a seed: one query, {n} keys.").format(n=config.n_keys))


def curves(_subject: Subject, set_to: PictureSettings, _key: str) -> None:
    """What softmax lets through, over d_k, raw and scaled."""
    config = growing_width.Config(d_k=int(set_to.get("d_k", "512")), alternative="sqrt")
    saturation.draw_one(config, "jacobian")


def player(subject: Subject, set_to: PictureSettings, key: str) -> None:
    """A decoder writes a few tokens, with its cache growing: the trained one goes on with the whole sentence.

    A sentence of more tokens than a film has rows for, or no trained model: then the small one of the core.
    """
    trained = set_to.get("decoder") == "trained" and subject.run is not None and len(subject.tokens) <= ROWS
    name, text, steps = (landing.MODEL, subject.text, GOES_ON) if trained else (CORE, subject.text[:PROMPT], WRITTEN)
    result = _written(decoder_form.identity(name), text, steps)
    layer, head = HEAD if trained else (0, 0)
    last = len(result.steps) - 1
    asked = link_state.value(choices.PLACE)
    if trained and subject.run is not None:
        said = _("{model} goes on with your sentence; layer {layer}, head {head} is shown.")
        st.caption(said.format(model=plain(subject.run.name), layer=layer, head=head))
    else:
        st.caption(
            _(
                "A small decoder of this app with random weights, letter by letter: it writes nonsense, and caches "
                "like all."
            )
        )
    step_player.step_player(
        key,
        result.labels,
        len(result.prompt.labels),
        decoder_form.steps_of(result),
        decoder_form.film_of(result, layer, head),
        at=0 if asked is None else min(asked, last),
        total=result.total_steps,
        on_step=lambda step: link_state.put(choices.PLACE, step or None),
    )


@st.cache_resource(max_entries=16, show_spinner=False)
def _written(of: tuple[str, str], text: str, steps: int) -> token_by_token.Result:
    """The last of the partial results of this decoder, once for all visitors."""
    decoder = decoder_form.decoder_of(of[0])
    with model_cache.part_of_long_work():
        *_partial, last = token_by_token.run(decoder, token_by_token.Config(text, steps=steps))
    return last


def growth(_subject: Subject, _set_to: PictureSettings, key: str) -> None:
    """The cache of Llama-3.1-8B under each way of sharing, as the text grows."""
    result = _grown()
    last, asked = len(result.tokens) - 1, link_state.value(choices.PLACE)
    model = result.models[-1]
    bars_of = [
        cache_growth.GrowingBar(scheme.name, _heads(scheme), SERIES[n], scheme.bytes)
        for n, scheme in enumerate(model.schemes)
        if scheme.kv_heads
    ]
    at = last if asked is None else min(asked, last)
    cache_growth.cache_growth(
        key,
        result.tokens,
        [cache_growth.GrowingGroup(model.name, bars_of)],
        at=at,
        on_tokens=lambda place: link_state.put(choices.PLACE, None if place == last else place),
    )
    said = listed(f"{s.name} {units.binary(s.bytes[at])}" for s in model.schemes if s.kv_heads)
    st.caption(_("At {tokens} tokens: {said}.").format(tokens=f"{result.tokens[at]:,}", said=said))


def _heads(scheme: growing_bytes.GrowingScheme) -> str:
    return _("{n} K/V heads").format(n=scheme.kv_heads)


@st.cache_resource(max_entries=2, show_spinner=False)
def _grown() -> growing_bytes.Result:
    return growing_bytes.run(decoder_form.architecture_of(decoders.CORE), growing_bytes.Config(cache_facts.TOKENS))


def sharing(_subject: Subject, _set_to: PictureSettings, key: str) -> None:
    """MHA, GQA and MQA of Llama-3.1-8B side by side."""
    one_picture.columns(Architecture.preset(cache_facts.MODEL), cache_facts.TOKENS, key=key)
