"""Sections 2 and 3: bytes moved and FLOPs, up to a million tokens; time and memory as measured, on a GPU and here."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, cast

import streamlit as st

from attnviz.app import live_run, page_parts, show, widgets
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.base import units
from attnviz.base.words import _, join_list, join_sentences
from attnviz.core.precision import stored_bytes
from attnviz.figures import cost_charts
from attnviz.figures.cost_charts import RoofPoints, draw_roofline
from attnviz.figures.theme import SERIES, Figure
from attnviz.models.architecture import Gpu, gpus
from attnviz.models.settings import current_settings
from attnviz.pages.fast import choices, figures
from attnviz.pages.fast.maths import cost, measured


def panel() -> None:
    """Draw the section: the bytes first, then what they depend on."""
    container = page_parts.main_picture()
    config, gpu = _draw_controls()
    result = cost.run(config)
    with container:
        _draw_bytes_moved(result)
    page_parts.draw_columns(lambda: _draw_bytes_by_block(result), lambda: _draw_memory(result, gpu))
    _draw_gpu_roofline(config, gpu)
    show.program(cost.program(config), "fast-cost")


def _draw_controls() -> tuple[cost.Config, Gpu]:
    with page_parts.paired_columns("fast-cost"):
        tokens = widgets.number_box(choices.TOKENS, _("Tokens"), step=1)
        heads = widgets.number_box(choices.HEADS, _("Query heads"), step=1)
        kv_heads = widgets.number_box(choices.KV_HEADS, _("K/V heads"), step=1)
        d_head = widgets.number_box(choices.D_HEAD, _("Head width"), step=1)
    with st.container(horizontal=True, vertical_alignment="center"):
        causal = widgets.toggle(choices.CAUSAL, _("Causal mask"))
        names = {name: gpu.name for name, gpu in gpus().items()}
        chosen = widgets.select_one(choices.GPU, _("GPU"), names, style="select", width=280)
        with page_parts.more_menu():
            usual = _("Usual: {kib} KiB, as in each of the 108 multiprocessors of an A100. Source: {source}.").format(
                kib=cost.FAST_KIB, source=cost.FAST_SOURCE
            )
            fast = widgets.number_box(
                choices.FAST_KIB, _("Fast memory of a worker, KiB"), step=1, help=escape_markdown(usual)
            )
            widths = {"bfloat16": _("16 bits"), "float32": _("32 bits")}
            dtype = widgets.select_one(choices.DTYPE, _("Numbers of"), widths)
    return cost.Config(tokens, heads, kv_heads, d_head, fast, causal, dtype), gpus()[chosen]


def _way_names() -> tuple[str, str]:
    return _("whole matrix"), _("in tiles")


def _bytes_by_tensor(result: cost.Result) -> dict[str, tuple[int, int]]:
    """Bytes moved by tensor name: (whole matrix, in tiles)."""
    whole_matrix, tiles = result.whole_matrix.bytes_moved, result.tiles.bytes_moved
    return {
        field.name: (getattr(whole_matrix, field.name), getattr(tiles, field.name)) for field in fields(whole_matrix)
    }


def draw_bars(result: cost.Result) -> Figure:
    """Draw the bytes that both ways move, as bars."""
    return show.chart_of(figures.bytes_moved, _way_names(), _bytes_by_tensor(result))


def _draw_bytes_moved(result: cost.Result) -> None:
    whole_matrix, tiles = result.whole_matrix.bytes_moved, result.tiles.bytes_moved
    parts, flops = _bytes_by_tensor(result), [units.flop(way.flops) for way in (result.whole_matrix, result.tiles)]
    if tiles.total < whole_matrix.total:
        comparison = _(
            "In tiles of {block:,} queries, {keys} keys at a time, it moves {tiles}: {times:.3g} times fewer."
        )
    else:
        comparison = _(
            "In tiles of {block:,} queries, {keys} keys at a time, it moves {tiles}: {more:.3g} times as many."
        )
    show.figure(
        draw_bars(result),
        name=f"bytes-moved-{result.config.tokens}-tokens",
        key="fast-moved",
        sentence=join_sentences(
            _(
                "With the whole matrix, attention over {tokens:,} tokens moves **{whole}** between slow and fast "
                "memory; {matrix:.1%} of it are scores and weights, stored and loaded again."
            ).format(
                tokens=result.config.tokens,
                whole=units.binary(whole_matrix.total),
                matrix=(whole_matrix.scores + whole_matrix.weights) / whole_matrix.total,
            ),
            comparison.format(
                block=result.block,
                keys=cost.KEYS,
                tiles=f"**{units.binary(tiles.total)}**",
                times=whole_matrix.total / tiles.total,
                more=tiles.total / whole_matrix.total,
            ),
            (
                _("The FLOPs are the same: {flops}.")
                if result.whole_matrix.flops == result.tiles.flops
                else _("FLOPs: {whole} whole, {tiles} in tiles: those that the mask hides whole are left out.")
            ).format(flops=flops[0], whole=flops[0], tiles=flops[1]),
        ),
        table={"part": list(parts), "whole": [a for a, _b in parts.values()], "tiles": [b for _a, b in parts.values()]},
    )


def _draw_bytes_by_block(result: cost.Result) -> None:
    """Draw the bytes moved by rows of a tile, with the break-even point."""
    whole_matrix_bytes, name = result.whole_matrix.bytes_moved.total, _way_names()
    if result.break_even_rows is None:
        caption = _("With {tokens:,} tokens no tile moves fewer bytes than the whole matrix.")
    else:
        loads = (
            _("Each row of tiles loads the keys and values up to its own end again.")
            if result.config.causal
            else _("Each row of tiles loads all keys and values again.")
        )
        fewest = (
            _(
                "So tiles must not be small: with fewer than **{crossing}** rows they move no less than the whole "
                "matrix."
            )
            if result.break_even_rows > 1
            else _("Even tiles of one row move less than the whole matrix.")
        )
        fits = _("{fast} KiB of fast memory hold tiles of {block:,} rows, {work} at work.")
        caption = join_sentences(loads, fewest, fits)
    show.figure(
        show.chart_of(
            cost_charts.draw_byte_curves,
            cost.BLOCKS,
            {name[0]: [whole_matrix_bytes] * len(cost.BLOCKS), name[1]: result.bytes_by_block},
            _("rows of a tile"),
            _("bytes moved"),
            here=result.block,
            text=units.binary,
            ticks=cost_charts.FINE_BYTES,
        ),
        name=f"bytes-moved-by-tile-{result.config.tokens}-tokens",
        key="fast-by-block",
        sentence=caption.format(
            tokens=result.config.tokens,
            crossing=result.break_even_rows,
            fast=f"{result.config.fast_kib:,}",
            block=result.block,
            work=units.binary(result.tile_bytes),
        ),
        table={
            "rows": list(cost.BLOCKS),
            "whole": [whole_matrix_bytes] * len(cost.BLOCKS),
            "tiles": list(result.bytes_by_block),
        },
    )


def _draw_memory(result: cost.Result, gpu: Gpu) -> None:
    lines = {
        _("scores of all heads"): result.score_bytes,
        _("q, k, v and output"): result.qkv_output_bytes,
        _("one tile at work"): [result.tile_bytes] * len(cost.LENGTHS),
    }
    show.figure(
        show.chart_of(
            cost_charts.draw_byte_curves,
            cost.LENGTHS,
            lines,
            _("tokens"),
            _("bytes held"),
            here=result.config.tokens,
            limits={gpu.name: gpu.machine.memory},
            text=units.binary,
            ticks=cost_charts.FINE_BYTES,
        ),
        name="memory-of-scores-to-a-million-tokens",
        key="fast-memory",
        sentence=_(
            "At {most:,} tokens the scores of one layer would take **{scores}**. Tiles hold q, k, v and the output, "
            "{held}, and each worker {work} at a time."
        ).format(
            most=cost.LENGTHS[-1],
            scores=units.binary(result.score_bytes[-1]),
            held=units.binary(result.qkv_output_bytes[-1]),
            work=units.binary(result.tile_bytes),
        ),
        table={"tokens": list(cost.LENGTHS), **{name: list(values) for name, values in lines.items()}},
    )


def layer_roofline(result: cost.Result, gpu: Gpu) -> Figure:
    """Draw the roofline of a GPU with both ways."""
    looks = (("bottom right", "circle", SERIES[0]), ("top center", "diamond", SERIES[1]))
    points = []
    for name, way, look in zip(_way_names(), (result.whole_matrix, result.tiles), looks, strict=True):
        seconds = way.roofline_step(gpu.machine).seconds
        label = units.duration(seconds)
        points.append(RoofPoints(name, *look, (way.intensity,), (way.flops / seconds,), (label,)))
    machine = gpu.machine
    return show.chart_of(draw_roofline, machine.peak, machine.bandwidth, points, _("FLOPs for each byte moved"))


def _draw_gpu_roofline(config: cost.Config, gpu: Gpu) -> None:
    """Draw the roofline section at 16 bits, for which makers state the peak."""
    st.subheader(_("At best on {gpu}").format(gpu=gpu.name), anchor=False)
    result = cost.run(replace(config, dtype="bfloat16"))
    ways = dict(zip(_way_names(), (result.whole_matrix, result.tiles), strict=True))
    steps = {name: way.roofline_step(gpu.machine) for name, way in ways.items()}
    limits = {"compute": _("computing"), "memory": _("moving bytes")}
    (_whole_name, first), (_tiles_name, second) = steps.items()
    times = first.seconds / second.seconds
    show.figure(
        layer_roofline(result, gpu),
        name=f"roofline-{gpu.id}-{config.tokens}-tokens",
        key="fast-roofline",
        sentence=_(
            "Whole: {low:.3g} FLOPs a byte, bound by {whole_bound}, {whole} at best. In tiles: {high:.3g}, bound by "
            "{tiles_bound}, **{tiles}**, {compared}. Above {ridge:.3g} FLOPs a byte this GPU computes longer than "
            "it moves."
        ).format(
            low=result.whole_matrix.intensity,
            whole_bound=limits[cast(str, first.bound)],
            whole=units.duration(first.seconds),
            high=result.tiles.intensity,
            tiles_bound=limits[cast(str, second.bound)],
            tiles=units.duration(second.seconds),
            compared=_("{times:.1f} times as fast").format(times=times)
            if round(times, 1) != 1
            else _("as fast as whole"),
            ridge=gpu.machine.peak / gpu.machine.bandwidth,
        ),
        table={
            "way": list(ways),
            "FLOPs": [way.flops for way in ways.values()],
            "bytes": [way.bytes_moved.total for way in ways.values()],
            "seconds": [step.seconds for step in steps.values()],
        },
    )
    st.caption(
        _(
            "By formula at 16 bits, from the maker’s numbers: {bandwidth} GB/s, {peak} TFLOP/s. No kernel was run on "
            "it, and no cache is counted. Source: {source}."
        ).format(
            bandwidth=f"{gpu.gigabytes_per_second:,g}", peak=f"{gpu.teraflops:,g}", source=escape_markdown(gpu.source)
        )
    )


SECTION = "fast-measured"
STARTED_AT = "fast_measuring"  #: the session's wish to measure, as the time at which it was said


def measured_panel() -> None:
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
