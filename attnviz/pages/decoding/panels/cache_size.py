"""Sections 2 and 3: cache bytes under each attention variant, and the cache in int8, int4 and int2."""

from typing import cast

import streamlit as st

from attnviz.app import live_run, page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.links import link_state
from attnviz.app.panel import show_notices
from attnviz.app.text import escape_markdown
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences, ngettext
from attnviz.canvas import cache_growth
from attnviz.core.costs import Machine
from attnviz.figures.theme import ROLES
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.architecture import gpus
from attnviz.pages.decoding import choices, figures
from attnviz.pages.decoding.maths import decoding_snippets, growing_bytes, prefill_and_decode, quantised_cache
from attnviz.pages.decoding.panels import decoder_form

LESS = 0.9  #: of a change: what is nearer to it would read as the same

compute_growth = shared(growing_bytes.run)


def draw_growth() -> None:
    """Draw section 2: a shape as MHA, GQA, MQA and MLA, its cache growing, with Llama-3.1-8B beside it."""
    main_picture = page_parts.main_picture()
    which, how_many, kind = st.columns([2, 1, 1], vertical_alignment="bottom")
    with which:
        name = decoder_form.choose()
    with how_many:
        tokens = widgets.number_box(choices.TOKENS, _("Tokens at the end"), step=1024)
    with kind:
        dtype = widgets.select_one(
            choices.DTYPE, _("Numbers"), {option: option for option in choices.DTYPES}, style="select"
        )
    result = compute_growth(decoder_form.decoder_architecture(name), growing_bytes.Config(tokens, dtype))
    last = len(result.tokens) - 1
    at = widgets.limit_choice(choices.GROWN, last, usual=last)
    bars = cache_growth.GrowthFigure(result.tokens, [*map(growing_group, result.models)], at)
    with main_picture:
        cache_growth.cache_growth(
            "d_growth",
            bars,
            on_stop=lambda token_index: link_state.set_and_push(
                choices.GROWN, None if token_index == last else token_index
            ),
        )
        show.footer(
            SceneFigure((bars,), bars.title),
            sentence=join_sentences(*(_growth_caption(model) for model in result.models)),
            name="cache-bytes",
            key="d_growth_save",
            canvas=show.live_canvas("d_growth"),
            table={
                "tokens": list(result.tokens),
                **{f"{group.name} {bar.name}": list(bar.bytes) for group in bars.groups for bar in group.bars},
            },
        )
    show.program(
        decoding_snippets.growing_program(result, at),
        "decoding-bytes",
        about=_("Paste this code into a notebook: it prints the bytes of Llama-3.1-8B at this number of tokens."),
    )
    draw_passes(name)


def growing_group(model: growing_bytes.GrowingModel) -> cache_growth.GrowingGroup:
    """The bars of a model, one for each scheme."""
    bars = (
        cache_growth.GrowingBar(scheme.name, _format_heads(scheme), ROLES[scheme.name], scheme.bytes)
        for scheme in model.schemes
    )
    return cache_growth.GrowingGroup(model.name, [*bars])


def _format_heads(scheme: growing_bytes.GrowingScheme) -> str:
    if not scheme.kv_heads:
        return _("one latent")
    if scheme.is_native:
        return ngettext("{n} K/V head, its own", "{n} K/V heads, its own", scheme.kv_heads).format(n=scheme.kv_heads)
    return ngettext("{n} K/V head", "{n} K/V heads", scheme.kv_heads).format(n=scheme.kv_heads)


def _growth_caption(model: growing_bytes.GrowingModel) -> str:
    native = next((scheme for scheme in model.schemes if scheme.is_native), model.schemes[0])
    return _(
        "**{model}** adds **{token}** a token as it is ({scheme}); its MLA would keep one latent of {latent} numbers "
        "and a rotated key of {rotary} in each layer."
    ).format(
        model=model.name,
        token=units.binary(native.per_token),
        scheme=native.name,
        latent=model.latent,
        rotary=model.rotary,
    )


def draw_rounding() -> None:
    """Draw section 3: the cache in int8, int4 and int2, and what the rounding does to the logits."""
    main_picture = page_parts.main_picture()
    name, text = decoder_form.choose_with_text()
    live = live_run.advance(
        "numbers",
        (decoder_form.decoder_key(name), text),
        lambda: quantised_cache.run(decoder_form.get_decoder(name), text),
        lambda result: result.done,
    )
    result = live.result
    show_notices(result.notices)
    n, every = len(result.formats), len(quantised_cache.FORMATS)
    live_run.draw_progress("numbers", live, n / every, _("format {n} of {all}").format(n=n, all=every))
    with main_picture:
        _draw_divergence(result)
    live_run.rerun_if_running(live)
    _draw_table(result)
    _draw_errors(result)
    show.program(
        decoding_snippets.quantised_program(name, text, result),
        "decoding-numbers",
        about=_("Paste this code into a notebook: it prints the table, and the errors of keys and values."),
    )


def _format_name(cache: quantised_cache.RoundedCache) -> str:
    return (_("int{bits}, keys by channel") if cache.axis == "channel" else _("int{bits}")).format(bits=cache.bits)


def _draw_divergence(result: quantised_cache.Result) -> None:
    kl = [float(cache.shift.kl.mean()) for cache in result.formats]
    show.figure(
        show.chart_of(
            figures.divergence_over_bytes,
            [_format_name(cache) for cache in result.formats],
            [cache.nbytes / result.half_bytes for cache in result.formats],
            kl,
        ),
        name="quantised-cache",
        key="d_numbers",
        sentence=_rounding_caption(result),
        table={
            "format": [f"int{cache.bits}" for cache in result.formats],
            "keys share a scale along": [cache.axis for cache in result.formats],
            "numbers per scale": [cache.group for cache in result.formats],
            "bytes": [cache.nbytes for cache in result.formats],
            "bytes at 16 bits": [result.half_bytes for _cache in result.formats],
            "mean of the largest change of a logit": [_logit_change(cache) for cache in result.formats],
            "mean KL": kl,
            "same likeliest token": [float(cache.shift.same.mean()) for cache in result.formats],
        },
    )


def _logit_change(cache: quantised_cache.RoundedCache) -> float:
    """Largest change of a logit in a prediction, averaged over the predictions.

    The largest of all predictions hangs on single codes, which fall to either side of a boundary with the last bit of
    a number: on four processors it was between 0.25 and 0.36 in int8, and this mean 0.16 to within 0.01.
    """
    return float(cache.shift.largest.mean())


def _format_one_digit(value: float) -> str:
    """The number to one digit, which is the same on every processor."""
    return f"{float(f'{Rounded(value):.1g}'):,g}"


def _rounding_caption(result: quantised_cache.Result) -> str:
    first = result.formats[0]
    low, high = result.logits
    eight = _(
        "The cache of {tokens} tokens takes {half} at 16 bits and **{small}** in int8, scales included. Averaged over "
        "{rows} {rows:prediction|predictions}, the logit that moves most moves by about **{gap}**, where logits lie "
        "between {low:.1f} "
        "and {high:.1f}."
    ).format(
        tokens=len(result.labels),
        half=units.binary(result.half_bytes),
        small=units.binary(first.nbytes),
        rows=len(first.shift.kl),
        gap=_format_one_digit(_logit_change(first)),
        low=low,
        high=high,
    )
    fours = {cache.axis: cache for cache in result.formats if cache.bits == 4}
    if len(fours) < 2:  # these are still to come
        return eight
    token, channel = (_logit_change(fours[axis]) for axis in ("token", "channel"))
    if len(result.labels) <= fours["channel"].group:
        short_text = _(
            "In int4 it moves by about **{token}** where each key has its own scale. A channel’s scale is for {group} "
            "tokens: in a text as short as this all keys still wait for it, as they are."
        )
        return join_sentences(eight, short_text.format(token=_format_one_digit(token), group=fours["channel"].group))
    four = _(
        "In int4 it moves by about **{token}** where each key has its own scale, and by about **{channel}** where each "
        "channel has one for {group} tokens."
    ).format(token=_format_one_digit(token), channel=_format_one_digit(channel), group=fours["channel"].group)
    reason = _(
        "In the keys of one head the largest channel is on average {times:.1f} times as large as the median one, and "
        "sets the step for all others where they share a scale."
    ).format(times=result.channel_spread)
    return join_sentences(eight, four, reason if channel < LESS * token else "")


def _draw_table(result: quantised_cache.Result) -> None:
    show.draw_table(
        show.to_columns(
            [
                {
                    _("format"): _format_name(cache),
                    _("numbers per scale"): cache.group,
                    _("bytes"): units.binary(cache.nbytes),
                    _("of 16 bits"): f"{Rounded(cache.nbytes / result.half_bytes):.0%}",
                    _("a logit moves by up to, mean"): f"{Rounded(_logit_change(cache)):.2g}",
                    _("mean KL, nats"): f"{Rounded(cache.shift.kl.mean()):.2g}",
                    _("same likeliest token"): f"{Rounded(cache.shift.same.mean()):.0%}",
                    _("loss, nats"): f"{Rounded(cache.shift.loss):.2f}",
                }
                for cache in result.formats
            ]
        )
    )
    st.caption(
        _(
            "Computed on this machine. A number near the boundary of two codes falls to its other side elsewhere, so "
            "that the last digits differ."
        )
    )


def _draw_errors(result: quantised_cache.Result) -> None:
    chosen = [cache for cache in result.formats if cache.bits == 4]
    if not chosen:  # these are still to come
        return
    keys, values = chosen[0].k_error, chosen[0].v_error
    show.figure(
        show.chart_of(
            figures.errors_by_layer,
            {_format_name(cache): (cache.k_error.tolist(), cache.v_error.tolist()) for cache in chosen},
        ),
        name="quantised-errors",
        key="d_errors",
        sentence=_(
            "In int4 the keys are off by {k:.0%} of their size and the values by {v:.0%}, layers averaged; the keys of "
            "single layers are off by {least:.0%} to {most:.0%}."
        ).format(k=keys.mean(), v=values.mean(), least=keys.min(), most=keys.max()),
        table={
            "layer": list(range(len(chosen[0].k_error))),
            **{f"K {cache.axis}": cache.k_error.tolist() for cache in chosen},
            **{f"V {cache.axis}": cache.v_error.tolist() for cache in chosen},
        },
    )


def draw_passes(name: str) -> None:
    """Draw prefill and decode of a decoder under the roofline of a machine."""
    st.subheader(_("Prefill and decode"), anchor=False)
    picture = st.container()
    machines = {gpu: machine.name for gpu, machine in gpus().items()}
    chosen = widgets.select_one(choices.MACHINE, _("Machine"), machines, style="select", width=280)
    gpu, points = gpus()[chosen], time_formula(decoder_form.decoder_key(name))
    with picture:
        _draw_roofline(gpu.machine, points, chosen)
    source = _("By formula at 16 bits, from the maker’s numbers: no pass was run on it. Source: {source}.")
    st.caption(source.format(source=escape_markdown(gpu.source)))
    _draw_roofline_table(gpu.machine, points)
    show.program(
        decoding_snippets.roofline_program(gpu.machine, points),
        "decoding-speed",
        about=_("Paste this code into a notebook: it prints the FLOPs a byte of each pass, and its time at best."),
    )


@shared
def time_formula(identity: tuple[str, str]) -> tuple[prefill_and_decode.PassPoint, ...]:
    return prefill_and_decode.ideal_passes(decoder_form.get_decoder(identity[0]), 2)


def _draw_roofline(machine: Machine, points: tuple[prefill_and_decode.PassPoint, ...], where: str) -> None:
    points_by_kind = {}
    for kind in ("prefill", "decode"):
        kind_points = [point for point in points if point.kind == kind]
        points_by_kind[kind] = (
            [point.intensity for point in kind_points],
            [point.flops / point.best_case(machine).seconds for point in kind_points],
            _label_points(kind, kind_points),
        )
    show.figure(
        show.chart_of(figures.roofline, machine.peak, machine.bandwidth, points_by_kind),
        name=f"roofline-{where}",
        key="d_roofline",
        sentence=_roofline_caption(machine, points),
        table={
            "pass": [point.kind for point in points],
            "new tokens": [point.tokens for point in points],
            "context": [point.context for point in points],
            "FLOPs": [point.flops for point in points],
            "bytes": [point.nbytes for point in points],
            "seconds": [point.best_case(machine).seconds for point in points],
        },
    )


def _label_points(kind: str, points: list[prefill_and_decode.PassPoint]) -> list[str]:
    """Labels of the points: tokens of each prompt. Decode's points lie close together and share one."""
    if kind == "prefill":
        return [str(point.tokens) for point in points]
    contexts = [point.context - 1 for point in points]
    return [f"{min(contexts)}…{max(contexts)}", *[""] * (len(points) - 1)]


def _roofline_caption(machine: Machine, points: tuple[prefill_and_decode.PassPoint, ...]) -> str:
    prefill = max((p for p in points if p.kind == "prefill"), key=lambda p: p.tokens)
    decode = min((p for p in points if p.kind == "decode"), key=lambda p: p.context)
    limits = {"compute": _("computing"), "memory": _("reading")}
    return _(
        "A prompt of {tokens:,} tokens reads each weight once for all of them: **{high:,g}** FLOPs a byte, bound by "
        "{first}, {each} a token. One decoded token reads just as many weights for itself: **{low:.2g}**, bound by "
        "{second}, **{alone}**, {times:.1f} times as long. Above {ridge:.3g} FLOPs a byte this machine computes longer "
        "than it reads."
    ).format(
        tokens=prefill.tokens,
        high=_round_to_three_digits(prefill.intensity),
        low=decode.intensity,
        first=limits[cast(str, prefill.best_case(machine).bound)],
        second=limits[cast(str, decode.best_case(machine).bound)],
        each=units.duration(prefill.best_case(machine).seconds / prefill.tokens),
        alone=units.duration(decode.best_case(machine).seconds),
        times=decode.best_case(machine).seconds * prefill.tokens / prefill.best_case(machine).seconds,
        ridge=machine.peak / machine.bandwidth,
    )


def _draw_roofline_table(machine: Machine, points: tuple[prefill_and_decode.PassPoint, ...]) -> None:
    kinds = {"prefill": _("prefill"), "decode": _("decode")}
    limits = {"compute": _("computing"), "memory": _("reading")}
    rows: list[dict[str, object]] = [
        {
            _("pass"): kinds[point.kind],
            _("new tokens"): point.tokens,
            _("in the cache before"): point.context - point.tokens,
            _("work"): units.flop(point.flops),
            _("read"): units.binary(point.nbytes),
            _("FLOPs a byte"): _round_to_three_digits(point.intensity),
            _("at best"): units.duration(point.best_case(machine).seconds),
            _("bound by"): limits[point.best_case(machine).bound],
        }
        for point in points
    ]
    show.draw_table(show.to_columns(rows))


def _round_to_three_digits(value: float) -> float:
    return float(f"{Rounded(value):.3g}".replace(",", ""))
