"""Section 5: a cache in blocks as requests come, share a prefix and end, beside one reserved piece for each."""

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.base.words import _, join_sentences
from attnviz.pages.fast import choices, figures
from attnviz.pages.fast.maths import paged

cached_run = shared(paged.run)


def panel() -> None:
    """Draw the section: memory over time and the table of one step, then what is lost."""
    container = page_parts.main_picture()
    slider = st.container()
    result = cached_run(_draw_controls())
    usual = int(result.reserved.argmax())
    with slider:
        step = widgets.slider(choices.STEP, _("Step"), high=result.steps - 1, usual=usual)
    names = [_("request {n}").format(n=n + 1) for n in range(len(result.requests))]
    with container:
        page_parts.draw_columns(
            lambda: _draw_memory(result, step, names), lambda: _draw_block_table(result, step, names), widths=(3, 2)
        )
    _draw_lost_memory(result, step)
    show.program(paged.program(result.config), "fast-paged")


def _draw_controls() -> paged.Config:
    with page_parts.paired_columns("fast-paged"):
        block, shared, count, answer = [
            widgets.number_box(choices.PAGED[name], label, step=1)
            for name, label in (
                ("block", _("Tokens of a block")),
                ("shared", _("Tokens of the shared prefix")),
                ("requests", _("Requests")),
                ("answer", _("Longest answer, tokens")),
            )
        ]
    with page_parts.more_menu():
        seed = widgets.number_box(choices.SEED, _("Seed of lengths and times"), step=1)
    return paged.Config(block, shared, count, answer, seed)


def _draw_memory(result: paged.Result, step: int, names: list[str]) -> None:
    several = int((result.holders[step] > 1).sum())
    steps, blocks = np.nonzero(result.holders)
    show.figure(
        show.chart_of(figures.memory_blocks, result.owner, result.holders, names, step),
        name=f"paged-cache-step-{step}",
        key="fast-blocks",
        sentence=join_sentences(
            _("Blocks held after step {step}: **{blocks}**; held by several requests: {several}.").format(
                step=step, blocks=int((result.holders[step] > 0).sum()), several=several
            ),
            _("Whole blocks that requests share lie in memory once.") if several else "",
            _("Blocks copied so far, since a request wrote into one that others held too: {n}.").format(
                n=sum(when <= step for when, _at in result.copies)
            ),
        ),
        table={
            "step": steps.tolist(),
            "block": blocks.tolist(),
            "first holder": (result.owner[steps, blocks] + 1).tolist(),
            "holders": result.holders[steps, blocks].tolist(),
        },
    )


def _draw_block_table(result: paged.Result, step: int, names: list[str]) -> None:
    table = result.tables[step]
    rows = [(at, col, number) for at, blocks in table.items() for col, number in enumerate(blocks)]
    caption = _("Nobody is here after this step.")
    if table:
        at, blocks = max(table.items(), key=lambda row: len(row[1]))
        caption = _(
            "The block table: what {request} holds from its token {first} on lies in block **{block}**. Attention over "
            "the blocks, found by the table, differs from attention over one piece by at most {apart:.1g}."
        ).format(
            first=(len(blocks) - 1) * result.config.block + 1,
            request=names[at],
            block=blocks[-1],
            apart=result.max_difference,
        )
    show.figure(
        show.chart_of(figures.block_table, table, result.holders[step], names),
        name=f"block-table-step-{step}",
        key="fast-block-table",
        sentence=caption,
        table={
            "request": [at + 1 for at, _col, _number in rows],
            "which": [col for _at, col, _number in rows],
            "block": [number for _at, _col, number in rows],
        },
    )


def _draw_lost_memory(result: paged.Result, step: int) -> None:
    lines = {
        _("reserved, a piece for each"): result.reserved,
        _("tokens in these pieces"): result.used,
        _("held in blocks"): result.block_capacity,
        _("tokens in these blocks"): result.written,
    }
    reserved, used, block_capacity, written = (int(values[step]) for values in lines.values())
    show.figure(
        show.chart_of(figures.tokens_over_steps, lines, step),
        name=f"paged-and-contiguous-step-{step}",
        key="fast-lost",
        sentence=_(
            "After step {step} one piece for each reserves **{reserved}** tokens for {used} that are there: {lost:.0%} "
            "is lost, and {gaps} more lie in gaps. Blocks hold **{held}** for {written}: {less:.0%} is lost, in last "
            "blocks, and sharing saves {saved}."
        ).format(
            step=step,
            reserved=reserved,
            used=used,
            lost=1 - used / reserved if reserved else 0.0,
            gaps=int(result.gaps[step]),
            held=block_capacity,
            written=written,
            less=1 - written / block_capacity if block_capacity else 0.0,
            saved=used - written,
        ),
        table={"step": list(range(result.steps)), **{name: values.tolist() for name, values in lines.items()}},
    )
