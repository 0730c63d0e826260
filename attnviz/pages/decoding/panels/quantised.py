"""Section 3: the cache in int8, int4 and int2, and what the rounding does to the logits."""

from __future__ import annotations

import streamlit as st

from attnviz.app import live_run, show
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.code_snippet import snippet
from attnviz.app.text import spoken
from attnviz.base import units
from attnviz.base.words import _, sentences
from attnviz.pages.decoding import figures
from attnviz.pages.decoding.maths import decoding_snippets, quantised_cache
from attnviz.pages.decoding.panels import decoder_form

LESS = 0.9  #: of a change: what is nearer to it would read as the same


def panel() -> None:
    name, text = decoder_form.choose_with_text()
    config = quantised_cache.Config(text)
    decoder = decoder_form.decoder_of(name)
    live = live_run.advance(
        "numbers",
        (decoder_form.identity(name), config),
        lambda: quantised_cache.run(decoder, config),
        lambda result: result.done,
    )
    result = live.result
    for notice in result.notices:
        st.info(spoken(notice))
    all_formats = len(quantised_cache.FORMATS)
    said = _("format {n} of {all}").format(n=len(result.formats), all=all_formats)
    live_run.controls("numbers", live, len(result.formats) / all_formats, said)
    _moved(result)
    live_run.again(live)
    _table(result)
    _errors(result)
    about = _("Paste this code into a notebook: it prints the table, and the errors of keys and values.")
    snippet(decoding_snippets.quantised(name, text, result), "decoding-numbers", about=about)


def _name(made: quantised_cache.RoundedCache) -> str:
    if made.axis == "channel":
        return _("int{bits}, keys by channel").format(bits=made.bits)
    return _("int{bits}").format(bits=made.bits)


def _moved(result: quantised_cache.Result) -> None:
    shares = [made.nbytes / result.half_bytes for made in result.formats]
    kl = [float(made.moved.kl.mean()) for made in result.formats]
    show.figure(
        chart_of(figures.for_bytes, [_name(made) for made in result.formats], shares, kl),
        name="quantised-cache",
        key="d_numbers",
        words=_words(result),
        table={
            "format": [f"int{made.bits}" for made in result.formats],
            "keys share a scale along": [made.axis for made in result.formats],
            "numbers per scale": [made.group for made in result.formats],
            "bytes": [made.nbytes for made in result.formats],
            "bytes at 16 bits": [result.half_bytes for _made in result.formats],
            "largest difference of a logit": [float(made.moved.largest.max()) for made in result.formats],
            "mean KL": kl,
            "same likeliest token": [float(made.moved.same.mean()) for made in result.formats],
        },
    )


def _words(result: quantised_cache.Result) -> str:
    first = result.formats[0]
    said = _(
        "The cache of {tokens} tokens takes {half} at 16 bits and **{small}** in int8, scales included; no logit of "
        "the {rows} predictions moves by more than **{gap:.2g}** (the largest logit is {largest:.1f})."
    ).format(
        tokens=len(result.labels),
        half=units.binary(result.half_bytes),
        small=units.binary(first.nbytes),
        rows=len(first.moved.kl),
        gap=first.moved.largest.max(),
        largest=result.largest_logit,
    )
    fours = {made.axis: made for made in result.formats if made.bits == 4}
    if len(fours) < len(("token", "channel")):
        return said
    token, channel = (float(fours[axis].moved.largest.max()) for axis in ("token", "channel"))
    four = _(
        "In int4 a logit moves by up to **{token:.2g}** where each key has its own scale, and by **{channel:.2g}** "
        "where each channel has one for {group} tokens."
    ).format(token=token, channel=channel, group=fours["channel"].group)
    why = _(
        "In the keys of one head the largest channel is on average {times:.1f} times as large as the median one, and "
        "sets the step for all others where they share a scale."
    ).format(times=result.channel_spread)
    return sentences(said, four, why if channel < LESS * token else "")


def _table(result: quantised_cache.Result) -> None:
    st.dataframe(
        [
            {
                _("format"): _name(made),
                _("numbers per scale"): made.group,
                _("bytes"): units.binary(made.nbytes),
                _("of 16 bits"): f"{made.nbytes / result.half_bytes:.0%}",
                _("largest difference of a logit"): float(f"{made.moved.largest.max():.3g}"),
                _("mean KL, nats"): float(f"{made.moved.kl.mean():.3g}"),
                _("same likeliest token"): f"{made.moved.same.mean():.0%}",
                _("loss, nats"): round(made.moved.loss, 3),
            }
            for made in result.formats
        ],
        hide_index=True,
    )


def _errors(result: quantised_cache.Result) -> None:
    chosen = [made for made in result.formats if made.bits == 4]
    worst = max(range(len(chosen[0].k_error)), key=lambda layer: chosen[0].k_error[layer])
    show.figure(
        chart_of(figures.errors, {_name(made): (made.k_error.tolist(), made.v_error.tolist()) for made in chosen}),
        name="quantised-errors",
        key="d_errors",
        words=_(
            "In int4 the keys are off by {k:.1%} of their size and the values by {v:.1%}, layers averaged; worst are "
            "the keys of layer {worst}, by {most:.1%}."
        ).format(
            k=chosen[0].k_error.mean(),
            v=chosen[0].v_error.mean(),
            worst=worst,
            most=chosen[0].k_error[worst],
        ),
        table={
            "layer": list(range(len(chosen[0].k_error))),
            **{f"K {made.axis}": made.k_error.tolist() for made in chosen},
            **{f"V {made.axis}": made.v_error.tolist() for made in chosen},
        },
    )
