"""The picture that the page opens with: a model of the visitor's choice as MHA, GQA and MQA, and a head under each."""

from collections.abc import Sequence
from functools import cache, lru_cache

import streamlit as st

from attnviz.analysis import head_sharing
from attnviz.analysis.head_sharing import Config, Result
from attnviz.analysis.model_run import ModelRun
from attnviz.app import page_parts, presenting, show, widgets
from attnviz.app.cache import model_cache
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, current_language, join_sentences, ngettext
from attnviz.canvas.sharing_columns import WIRES, SharingColumn, SharingFigure, sharing_columns
from attnviz.core.heads import sharing_kind
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.architecture import (
    Architecture,
    LayerSpec,
    all_presets,
    has_heads,
    kv_head_divisors,
    scheme_name,
    with_kv_heads,
)
from attnviz.pages.sharing import choices

LONG_WIRES = 190  #: pixels, where the columns fill a presented room


@cache
def _models() -> dict[str, str]:
    """The published models that keep keys and values of their own heads while they write."""
    layers = {name: [la for la in Architecture.preset(name).layers if has_heads(la)] for name in all_presets()}
    return {
        name: f"{name} · {preset.attention}"
        for name, preset in all_presets().items()
        if layers[name] and not any(layer.compressed or layer.stack == "encoder" for layer in layers[name])
    }


def sharing_result(run: ModelRun, config: Config) -> Result:
    """The layer of this config with its keys and values shared, computed once for all visitors."""
    layer, model = run.stacks[0].layers[config.layer], model_cache.model_of_run(run).model
    return model_cache.cached_result(
        run, ("sharing", config), lambda: head_sharing.run(head_sharing.add_output_projection(layer, model), config)
    )


def draw_picture() -> None:
    """Draw the controls, the columns and the menu that saves them."""
    picture_slot = page_parts.main_picture()
    with page_parts.paired_columns("h-three"):
        name = widgets.select_one(choices.COLUMNS, _("Cache of"), _models(), style="select")
        tokens = widgets.number_box(choices.CONTEXT, _("Tokens"), step=1024)
        batch = widgets.number_box(choices.BATCH, _("Batch"), step=1)
    columns = sharing_columns_of(Architecture.preset(name), tokens, batch)
    with picture_slot:
        draw(columns, "h-three", LONG_WIRES if presenting.is_presenting() else WIRES)
    about = ngettext(
        "The model is {model}, with {tokens} token, a batch of {batch} and 16-bit numbers.",
        "The model is {model}, with {tokens} tokens, a batch of {batch} and 16-bit numbers.",
        tokens,
    ).format(model=name, tokens=f"{tokens:,}", batch=batch)
    less = [
        _("{kind} keeps {share:.3g}% of what MHA keeps.").format(
            kind=sharing_kind(column.heads, column.kv_heads), share=100 * column.share
        )
        for column in columns[1:]
    ]
    with picture_slot:
        show.footer(
            lambda: SceneFigure((SharingFigure(columns),), join_sentences(*less).rstrip(".。")),
            name=f"mha-gqa-mqa-{name}",
            key="h-three",
            canvas=show.live_canvas("canvas-of-h-three"),
            sentence=join_sentences(about, *less),
            caption=about,
            table={
                "kind": [column.name for column in columns],
                "query heads": [column.heads for column in columns],
                "K/V heads": [column.kv_heads for column in columns],
                "cache": [column.kept for column in columns],
                "share of MHA's cache": [column.share for column in columns],
            },
        )


# MHA, GQA and MQA side by side: query heads over K/V heads, shapes, parameters, the bytes of a cache.
def draw(columns: Sequence[SharingColumn], key: str, wires: int = WIRES) -> None:
    """Draw the columns. Next and previous of a presentation stop here."""
    sharing_columns(f"canvas-of-{key}", columns, wires)


def sharing_columns_of(arch: Architecture, tokens: int, batch: int = 1) -> tuple[SharingColumn, ...]:
    """Columns of the model as MHA, GQA and MQA, with the cache of each for so many tokens."""
    return _columns(arch, tokens, batch, current_language())


@lru_cache(maxsize=64)
def _columns(arch: Architecture, tokens: int, batch: int, _language: str) -> tuple[SharingColumn, ...]:
    layers = [layer for layer in arch.layers if has_heads(layer)]
    n_heads, trained_kv_heads = layers[0].n_heads, layers[0].n_kv_heads
    ways = {g: with_kv_heads(arch, g) for g in kv_head_counts(layers)}
    most = ways[n_heads].kv_cache_bytes(tokens, batch)
    columns = []
    for g, way in ways.items():
        kind, cache_size = sharing_kind(n_heads, g), way.kv_cache_bytes(tokens, batch)
        shape = " × ".join(f"{n:,}" for n in (*([batch] if batch > 1 else []), g, tokens, layers[0].d_head))
        columns.append(
            SharingColumn(
                _("{kind}, as trained").format(kind=kind) if g == trained_kv_heads else kind,
                n_heads,
                g,
                (
                    _("K and V: {shape} each, in {layers} layers").format(shape=shape, layers=len(layers)),
                    _("attention’s parameters: {n}").format(n=units.format_count(way.attention_parameters())),
                ),
                in_words := units.binary(cache_size),
                cache_size / most,
                cache=_("cache: {bytes}").format(bytes=in_words),
            )
        )
    return tuple(columns)


def kv_head_counts(layers: Sequence[LayerSpec]) -> tuple[int, ...]:
    """Numbers of K/V heads of MHA, of one GQA (the model's own, else the smallest there is), and of MQA."""
    heads, trained_kv_heads = layers[0].n_heads, layers[0].n_kv_heads
    between = set(kv_head_divisors(layers)) - {1, heads}
    shared = trained_kv_heads if trained_kv_heads in between else 8 if 8 in between else min(between, default=1)
    return tuple(dict.fromkeys((heads, shared, 1)))


# MHA, GQA and MQA side by side on one trained layer: how each is wired, what it is made of, what it costs.
def draw_wirings(run: ModelRun, result: Result) -> None:
    """Draw the wirings, what each of them is, and a table of what they cost."""
    compared, chosen = result.side_by_side, result.config.n_kv_heads
    columns = [
        SharingColumn(
            _title(result, g),
            result.n_heads,
            g,
            (_describe_wiring(result, g),),
            cache_text := units.decimal_and_binary(result.at(g).cache_bytes),
            result.at(g).cache_bytes / result.at(compared[0]).cache_bytes,  # MHA comes first, and keeps most
            cache=_("K and V: {bytes}").format(bytes=cache_text),  # an encoder keeps no cache
        )
        for g in compared
    ]
    draw(columns, "h-wiring")
    show.footer(
        lambda: SceneFigure((SharingFigure(columns),)),
        name=f"wiring-{result.n_heads}-{chosen}",
        key="h-wiring",
        canvas=show.live_canvas("canvas-of-h-wiring"),
        sentence=ngettext(
            "**{kind}**: {h} query heads on {g} K/V head; K/V heads as trained: {t}.",
            "**{kind}**: {h} query heads on {g} K/V heads; as trained: {t}.",
            chosen,
        ).format(kind=sharing_kind(result.n_heads, chosen), h=result.n_heads, g=chosen, t=result.trained_kv_heads),
        caption=_("This is layer {layer} of {model}.").format(model=run.name, layer=result.config.layer),
        table={"query head": range(result.n_heads)}
        | {f"K/V head of {scheme_name(result.n_heads, g)}": result.kv_of(g) for g in compared},
    )
    st.markdown(_wiring_table(result, compared))


def _title(result: Result, g: int) -> str:
    name = scheme_name(result.n_heads, g)
    if g == result.config.n_kv_heads == result.trained_kv_heads:
        return _("{kind}, trained, and chosen here").format(kind=name)
    if g == result.trained_kv_heads:
        return _("{kind}, trained").format(kind=name)
    return (_("{kind}, compared below") if g == result.config.n_kv_heads else "{kind}").format(kind=name)


def _describe_wiring(result: Result, g: int) -> str:
    """A sentence on how the K/V heads of this wiring are derived. The weights have those of one wiring only."""
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
    template = {
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
    return template.format(n=trained // g, seed=result.config.seed)


def _wiring_table(result: Result, compared: tuple[int, ...]) -> str:
    points = [result.at(g) for g in compared]
    k, v = (" × ".join(("{g}", *map(str, shape[1:]))) for shape in (result.k_shape, result.v_shape))
    rows = (
        (_("this layer"), *(scheme_name(result.n_heads, g) for g in compared)),
        (":--", *("--:" for _g in compared)),
        (_("K shape (G, K, D)"), *(k.format(g=g) for g in compared)),
        (_("V shape"), *(v.format(g=g) for g in compared)),
        (_("numbers in $W_K$ and $W_V$"), *(f"{point.parameters:,}" for point in points)),
        (_("K/V of this sentence, 16 bit"), *(units.decimal_and_binary(point.cache_bytes) for point in points)),
        (_("change of the layer’s output"), *(f"{Rounded(point.output_change):.0%}" for point in points)),
    )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
