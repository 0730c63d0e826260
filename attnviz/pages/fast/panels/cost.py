"""Section 2: bytes moved and FLOPs with the whole matrix and in tiles, on a GPU and up to a million tokens."""

from dataclasses import fields, replace
from typing import cast

import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.text import escape_markdown
from attnviz.base import units
from attnviz.base.words import _, join_sentences
from attnviz.figures import cost_charts
from attnviz.figures.cost_charts import RoofPoints, draw_roofline
from attnviz.figures.theme import SERIES, Figure
from attnviz.models.architecture import Gpu, gpus
from attnviz.pages.fast import choices, figures
from attnviz.pages.fast.maths import cost


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
