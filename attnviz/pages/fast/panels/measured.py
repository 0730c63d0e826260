"""Section 3: time and memory of attention's kernels, or of layers, as measured on a machine, and measured here."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import streamlit as st

from attnviz.app import live_run, page_parts, show, widgets
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.base import units
from attnviz.base.words import _, join_list, join_sentences
from attnviz.core.precision import stored_bytes
from attnviz.figures import cost_charts
from attnviz.models.settings import current_settings
from attnviz.pages.fast import choices
from attnviz.pages.fast.maths import measured

SECTION = "fast-measured"
STARTED_AT = "fast_measuring"  #: the session's wish to measure, as the time at which it was said


def panel() -> None:
    """Draw the section."""
    container = page_parts.main_picture()
    titles = {"kernels": _("attention by kernel"), "layers": _("attention beside other layers")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        subject = widgets.select_one(choices.SUBJECT, _("What is measured"), titles)
        live = None if current_settings().hosted else _measure_here(subject)
        result = live.result if live else _select_result(subject)
    with container.container(key="fast-growing") if live else container:
        _draw_pictures(result)
        if live:  # below the pictures, which then change in their place
            text = _("{n} measurements so far").format(n=len(result.timings))
            live_run.draw_progress(SECTION, live, result.share, text)
    _draw_conditions(result)
    show.program(measured.program(result.config), "fast-measured", _("Measure it yourself"))
    if live:
        live_run.rerun_if_running(live)


def _measure_here(subject: str) -> live_run.LiveRun[measured.Result] | None:
    """Draw the button that starts measuring, and advance the measurement. None while nothing is measured."""
    if STARTED_AT not in st.session_state:
        if not st.button(_("Measure on this machine"), icon=":material/timer:", key="fast_measure"):
            return None
        st.session_state[STARTED_AT] = time.monotonic()
    config = measured.SUBJECTS[subject]
    live = live_run.advance(
        SECTION,
        (st.session_state[STARTED_AT], subject),
        lambda: measured.measure(config),
        lambda result: result.is_done,
    )
    if live.result.is_done:
        del st.session_state[STARTED_AT]
        measured.store_result(live.result)
        st.rerun()  # the choice of a machine knows it from now on
    return live


def _select_result(subject: str) -> measured.Result:
    """Draw the choice of a machine, and return its result."""
    results = {name: result for name, result in measured.stored_results().items() if result.subject == subject}
    own_label, shipped_label = _("{machine}, {day}"), _("{machine}, {day}, came with the app")
    labels = {
        name: (shipped_label if name.startswith(measured.SHIPPED_PREFIX) else own_label).format(
            machine=result.machine.processor, day=result.day
        )
        for name, result in results.items()
    }
    return results[widgets.select_one(choices.MACHINE, _("Measured on"), labels, style="select", width=420)]


def kernel_names() -> dict[str, str]:
    """Display name of each way. Kernels keep the names that torch gives them."""
    return {
        "naive": _("naive: three steps"),
        "tiled": _("tiles, written in PyTorch"),
        "math": "SDPA MATH",
        "flash": "SDPA FLASH_ATTENTION",
        "efficient": "SDPA EFFICIENT_ATTENTION",
        "cudnn": "SDPA CUDNN_ATTENTION",
        "flex": "FlexAttention",
        "explicit": _("attention layer, weights built"),
        "fused": _("attention layer, fused"),
        "lstm": "LSTM",
        "gru": "GRU",
        "conv": _("convolution, kernel 3"),
    }


def _draw_pictures(result: measured.Result) -> None:
    """Draw time and memory over the lengths; nothing before the first timing."""
    if not result.timings:
        return
    time, memory = _time_and_memory_captions(result)
    page_parts.draw_columns(
        lambda: _draw_over_lengths(
            result, "seconds", _("seconds of one pass"), units.duration, cost_charts.SECONDS, time
        ),
        lambda: _draw_over_lengths(
            result, "nbytes", _("memory at its peak"), units.binary, cost_charts.FINE_BYTES, memory
        ),
    )


def _draw_over_lengths(
    result: measured.Result,
    field: str,
    title: str,
    text: Callable[[float], str],
    ticks: Mapping[float, str],
    caption: str,
) -> None:
    """Draw one field of the timings over the lengths."""
    lengths, called = sorted({row.n for row in result.timings}), kernel_names()
    lines = {called[way]: [getattr(result.timings_of(way).get(n), field, None) for n in lengths] for way in result.ways}
    look: dict[str, Any] = {"here": None, "text": text, "ticks": ticks, "dots": True, "height": 400}
    show.figure(
        show.chart_of(cost_charts.draw_byte_curves, lengths, lines, _("tokens"), title, **look),
        name=f"attention-{field}-{measured.file_name(result)}",
        key=f"fast-{field}",
        table=show.to_columns([asdict(row) for row in result.timings]),
        sentence=caption,
    )


def _time_and_memory_captions(result: measured.Result) -> tuple[str, str]:
    """Captions on time and memory, with the matrix against without; "" if no length has both."""
    is_layers = result.subject == "layers"
    matrix_way, fused_way = ("explicit", "fused") if is_layers else ("naive", "flash")
    n = result.longest_common_length(matrix_way, fused_way)
    if n is None:
        return "", ""
    matrix, fused = (result.timings_of(way)[n] for way in (matrix_way, fused_way))
    time, memory = (
        (
            _("At {n:,} tokens an attention layer takes {matrix} with its weights built, **{fused}** fused."),
            _("At {n:,} tokens the layer holds {matrix} with its weights built; fused it holds **{fused}**."),
        )
        if is_layers
        else (
            _(
                "At {n:,} tokens naive attention takes {matrix}, the fused kernel **{fused}**: {times:.1f} times as "
                "fast."
            ),
            _(
                "At {n:,} tokens naive attention holds {matrix}, two matrices of {square}; the fused kernel holds "
                "**{fused}**."
            ),
        )
    )
    square = units.binary(stored_bytes(result.config.heads * n * n, result.config.dtype))
    return join_sentences(
        time.format(
            n=n,
            matrix=units.duration(matrix.seconds),
            fused=units.duration(fused.seconds),
            times=matrix.seconds / fused.seconds,
        ),
        _growth(result, "explicit", "lstm") if is_layers else "",
    ), memory.format(n=n, matrix=units.binary(matrix.nbytes), fused=units.binary(fused.nbytes), square=square)


def _growth(result: measured.Result, attention: str, other: str) -> str:
    """How many times as long each of two ways takes at twice as many tokens, as measured; "" where it was not."""
    n = result.longest_common_length(attention, other) or 0
    timings = [result.timings_of(way) for way in (attention, other)]
    if not all(n // 2 in way for way in timings):
        return ""
    growth = [way[n].seconds / way[n // 2].seconds for way in timings]
    return _(
        "From {half:,} tokens to twice as many it took {attention:.1f} times as long with its weights built, an LSTM "
        "{other:.1f} times."
    ).format(half=n // 2, attention=growth[0], other=growth[1])


def _draw_conditions(result: measured.Result) -> None:
    config, called = result.config, kernel_names()
    apart = max(result.apart.values(), default=0.0)
    missing = [called[way] for way in result.refused]
    st.caption(
        join_sentences(
            _("Measured on: {machine}; {day}.").format(
                machine=translate_markdown(result.machine.description), day=result.day
            ),
            _("Batch 1, {heads} heads of width {width}, no mask, the fastest of several rounds.").format(
                heads=config.heads, width=config.d_head
            ),
            _("At {n} tokens all are within {apart:.1e} of the same attention in 64 bits.").format(
                n=measured.CHECKED, apart=apart
            )
            if result.apart
            else _("Measured with the layers’ own weights, which are random."),
            _("Not on this machine: {kernels}.").format(kernels=escape_markdown(join_list(missing))) if missing else "",
            _("A way that takes too long, or whose matrices take more than {most}, is left out at longer ones.").format(
                most=units.binary(measured.MOST_BYTES)
            ),
        )
    )
