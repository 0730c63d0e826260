"""MHA, GQA and MQA side by side on one trained layer: how each is wired, what it is made of, what it costs."""

from __future__ import annotations

import streamlit as st

from attnviz.app import show
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.units import both
from attnviz.base.words import _, ngettext
from attnviz.pages.sharing.figures import sharing as figures
from attnviz.pages.sharing.panels.variants import kind_of, named
from attnviz.runs.head_sharing import Result
from attnviz.runs.model_run import ModelRun


def wirings(run: ModelRun, result: Result) -> None:
    """Draw the wirings, what each of them is, and a table of what they cost."""
    shown = result.side_by_side
    for column, g in zip(st.columns(len(shown), gap="small"), shown, strict=True):
        with column, st.container(border=True, gap="xxsmall", height="stretch"):
            st.markdown(_title(result, g))
            drawn = chart_of(figures.wiring, result.kv_of_with(g), g)
            show.chart(drawn, key=f"h-wiring-{g}", words=_title(result, g))
            st.caption(_what(result, g))
    chosen = result.config.n_kv_heads
    show.under(
        lambda: figures.wirings({named(result.n_heads, g): (result.kv_of_with(g), g) for g in shown}),
        name=f"wiring-{result.n_heads}-{chosen}",
        key="h-wiring",
        words=ngettext(
            "**{kind}**: {h} query heads on {g} K/V head; K/V heads as trained: {t}.",
            "**{kind}**: {h} query heads on {g} K/V heads; as trained: {t}.",
            chosen,
        ).format(kind=kind_of(result.n_heads, chosen), h=result.n_heads, g=chosen, t=result.trained_kv_heads),
        caption=_("{model}, layer {layer}").format(model=run.name, layer=result.config.layer),
        table={"query head": range(result.n_heads)}
        | {f"K/V head of {named(result.n_heads, g)}": result.kv_of_with(g) for g in shown},
    )
    st.markdown(_table(result, shown))


def _title(result: Result, g: int) -> str:
    name = named(result.n_heads, g)
    if g == result.config.n_kv_heads == result.trained_kv_heads:
        return _("**{kind}**, trained, and chosen here").format(kind=name)
    if g == result.trained_kv_heads:
        return _("**{kind}**, trained").format(kind=name)
    return (_("**{kind}**, compared below") if g == result.config.n_kv_heads else "**{kind}**").format(kind=name)


def _what(result: Result, g: int) -> str:
    """What the K/V heads of this wiring are made of, since the weights hold those of one wiring only."""
    trained, heads = result.trained_kv_heads, result.n_heads
    if g == trained:
        return ngettext(
            "As in the weights: each K/V head is read by {n} query head.",
            "As in the weights: each K/V head is read by {n} query heads.",
            heads // g,
        ).format(n=heads // g)
    if g > trained:
        return _(
            "Not in the weights: each trained K/V head stands here {times} times. Every query head reads what it read "
            "before, so the function is the same and the cache {times} times as large."
        ).format(times=g // trained)
    said = {
        "mean": _(
            "Not in the weights: each K/V head is the mean of {n} trained ones, as the GQA paper pools them; nothing "
            "was trained afterwards."
        ),
        "first": _(
            "Not in the weights: each K/V head is the first of {n} trained ones; nothing was trained afterwards."
        ),
        "random": _(
            "Not in the weights: each K/V head is drawn at random (seed {seed}) in the place of {n} trained ones."
        ),
    }[result.config.method]
    return said.format(n=trained // g, seed=result.config.seed)


def _table(result: Result, shown: tuple[int, ...]) -> str:
    points = [result.at(g) for g in shown]
    rows = (
        (_("this layer"), *(named(result.n_heads, g) for g in shown)),
        (":--", *("--:" for _g in shown)),
        (_("K shape (G, K, D)"), *(_shape(g, result.k_shape) for g in shown)),
        (_("V shape"), *(_shape(g, result.v_shape) for g in shown)),
        (_("numbers in $W_K$ and $W_V$"), *(f"{point.parameters:,}" for point in points)),
        (_("K/V of this sentence, 16 bit"), *(both(point.cache_bytes) for point in points)),
        (_("change of the layer’s output"), *(f"{point.moved:.0%}" for point in points)),
    )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _shape(kv_heads: int, shape: tuple[int, ...]) -> str:
    return " × ".join(str(n) for n in (kv_heads, *shape[1:]))
