"""The picture that the page opens with: a model of the visitor's choice as MHA, GQA and MQA, and a head under each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import show
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.widgets import number, one_of, two_in_a_row
from attnviz.base.message import Problem
from attnviz.base.units import binary, both, many
from attnviz.base.words import _, ngettext, sentences
from attnviz.canvas.shared.registration import component
from attnviz.models.architecture import Architecture, all_presets, has_heads, shared_otherwise
from attnviz.pages.sharing import choices
from attnviz.pages.sharing.figures import sharing as figures
from attnviz.pages.sharing.figures.svg_three_ways import SharingColumn, ThreeWaysPicture
from attnviz.pages.sharing.panels.bytes import kind_of, named
from attnviz.runs.head_sharing import Config, Result
from attnviz.runs.model_run import ModelRun

TOKENS_SHOWN = 48


@st.cache_resource(max_entries=1, show_spinner=False)
def _models() -> dict[str, str]:
    """The published models that keep keys and values of their own heads while they write."""
    names = {}
    for name, preset in all_presets().items():
        layers = [layer for layer in Architecture.preset(name).layers if has_heads(layer)]
        if layers and not any(layer.latent or layer.stack == "encoder" for layer in layers):
            names[name] = f"{name} · {preset.attention}"
    return names


def picture(run: ModelRun | None, result_of: Callable[[Config], Result] | None, config: Config | None) -> None:
    """Draw the controls, the columns and the menu that saves them; without a trained model no head is drawn."""
    with two_in_a_row("h-three"):
        sizes = st.columns([1.7, 1, 0.8, 0.9], vertical_alignment="bottom")
    with sizes[0]:
        name = one_of(choices.COLUMNS, _("Cache of"), _models(), style="select")
    with sizes[1]:
        tokens = number(choices.CONTEXT, _("Tokens"), step=1024)
    with sizes[2]:
        batch = number(choices.BATCH, _("Batch"), step=1)
    heads: dict[str, SharedHead] = {}
    if run is not None and config is not None and result_of is not None:
        with sizes[3]:
            heads = _heads(run, config, result_of)
    shown = columns_of(Architecture.preset(name), tokens, batch, heads)
    draw(shown, "h-three")
    said = _("{model}, {tokens} tokens, batch {batch}, 16-bit numbers.").format(
        model=name, tokens=f"{tokens:,}", batch=batch
    )
    show.under(
        lambda: ThreeWaysPicture(shown, _("MHA, GQA and MQA")),
        name=f"mha-gqa-mqa-{name}",
        key="h-three",
        words=sentences(said, _less(shown)),
        caption=said if run is None else sentences(said, _read_by(run, config)),
        table=_table(shown),
    )


def _less(shown: list[SharingColumn]) -> str:
    """What sharing leaves of the cache."""
    said = _("{kind} keeps {share:.3g}% of what MHA keeps.")
    return sentences(
        *(said.format(kind=kind_of(column.heads, column.kv_heads), share=100 * column.share) for column in shown[1:])
    )


def _heads(run: ModelRun, config: Config, result_of: Callable[[Config], Result]) -> dict[str, SharedHead]:
    """One head of the trained layer under each way, by the way's name; the visitor chooses which."""
    layer = run.stacks[0].layers[config.layer]
    try:
        first = result_of(config)
    except Problem:
        return {}
    results = {
        g: first if g == config.n_kv_heads else result_of(replace(config, n_kv_heads=g)) for g in first.side_by_side
    }
    most = int(results[min(results)].weights_moved.argmax())
    names = {str(h): _("head {head}").format(head=h) for h in range(layer.n_heads)}
    head = int(one_of(choices.HEAD, _("Its attention"), names, usual=str(most), style="select"))
    return {kind_of(layer.n_heads, g): _shared(run, one, g, head) for g, one in results.items()}


def _shared(run: ModelRun, result: Result, g: int, head: int) -> SharedHead:
    n = min(TOKENS_SHOWN, result.after.shape[1])
    weights = np.where(result.hidden[:n, :n], np.nan, result.after[head][:n, :n])
    labels = run.stacks[0].queries.labels
    row = np.nan_to_num(weights[n - 1])
    best = int(row.argmax())
    said = _("{model}, layer {layer}, head {head}, {kind}.").format(
        model=run.name, layer=result.config.layer, head=head, kind=named(result.n_heads, g)
    )
    if g == result.trained_kv_heads:
        become = _("As trained.")
    elif g > result.trained_kv_heads:
        become = _("The same as trained: its keys are copies.")
    else:
        become = _("{share:.0%} of its attention goes elsewhere.").format(share=float(result.weights_moved[head]))
    most = _("“{token}” looks most at “{key}”: {weight:.0%}.").format(
        token=labels[n - 1].strip(), key=labels[best].strip(), weight=float(row[best])
    )
    return SharedHead(weights, sentences(said, become, most))


def _read_by(run: ModelRun, config: Config | None) -> str:
    layer = 0 if config is None else config.layer
    return _("Below: {model}, layer {layer}, on “{text}”").format(model=run.name, layer=layer, text=run.request.text)


def _table(shown: list[SharingColumn]) -> dict[str, list[Any]]:
    return {
        "kind": [column.name for column in shown],
        "query heads": [column.heads for column in shown],
        "K/V heads": [column.kv_heads for column in shown],
        "cache": [column.kept for column in shown],
        "share of MHA's cache": [column.share for column in shown],
    }


# MHA, GQA and MQA side by side: query heads over K/V heads, shapes, parameters, the bytes of a cache, one head.
@dataclass(frozen=True)
class SharedHead:
    """What one head of a trained layer becomes when its layer shares keys and values in one of the ways."""

    weights: np.ndarray  #: (Q, K), NaN where masked
    said: str


def columns(arch: Architecture, tokens: int, batch: int = 1, key: str = "h-three") -> None:
    """Draw one model as MHA, as GQA and as MQA, with what each keeps for so many tokens."""
    draw(columns_of(arch, tokens, batch), key)


def draw(shown: list[SharingColumn], key: str) -> None:
    """The columns beside each other; on a phone below each other. Next and previous of a presentation stop here."""
    with st.container(key=f"canvas-of-{key}"):
        for at, (column, one) in enumerate(zip(st.columns(len(shown), gap="small"), shown, strict=True)):
            with column, st.container(border=True, height="stretch"):
                component("picture")(key=f"{key}-{at}", data={"svg": one.on_page()})


def columns_of(
    arch: Architecture, tokens: int, batch: int = 1, heads: dict[str, SharedHead] | None = None
) -> list[SharingColumn]:
    """A column for each way; `heads` is the trained head under each, by the name of the way."""
    layer = next(each for each in arch.layers if has_heads(each))
    own = layer.n_kv_heads
    ways = {g: shared_otherwise(arch, g) for g in counts(arch)}
    most = ways[layer.n_heads].kv_cache_bytes(tokens, batch)
    shown = []
    for g, way in ways.items():
        kind = kind_of(layer.n_heads, g)
        kept = way.kv_cache_bytes(tokens, batch)
        shape = " × ".join(f"{n:,}" for n in (*([batch] if batch > 1 else []), g, tokens, layer.d_head))
        column = SharingColumn(
            _("{kind}, as trained").format(kind=kind) if g == own else kind,
            layer.n_heads,
            g,
            (
                _("K and V: {shape} each, in {layers} layers").format(shape=shape, layers=_layers(arch)),
                _("attention’s parameters: {n}").format(n=many(way.attention_parameters())),
            ),
            _("cache: {bytes}").format(bytes=binary(kept)),
            kept / most,
        )
        head = (heads or {}).get(kind)
        shown.append(column if head is None else replace(column, weights=head.weights, said=head.said))
    return shown


def counts(arch: Architecture) -> tuple[int, ...]:
    """Numbers of K/V heads of MHA, of one GQA (the model's own, else the smallest there is), and of MQA."""
    layers = [each for each in arch.layers if has_heads(each)]
    heads, own = layers[0].n_heads, layers[0].n_kv_heads
    between = [g for g in range(2, heads) if all(layer.n_heads % g == 0 for layer in layers)]
    shared = [own] if own in between else [8] if 8 in between else between[:1]
    return tuple(dict.fromkeys((heads, *shared, 1)))


def _layers(arch: Architecture) -> int:
    """How many layers keep keys and values of their own."""
    return sum(has_heads(layer) for layer in arch.layers)


# MHA, GQA and MQA side by side on one trained layer: how each is wired, what it is made of, what it costs.
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
    st.markdown(_wiring_table(result, shown))


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


def _wiring_table(result: Result, shown: tuple[int, ...]) -> str:
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
