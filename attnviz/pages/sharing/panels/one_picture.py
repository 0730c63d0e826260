"""The picture that the page opens with: a model of the visitor's choice, from MHA over every GQA to MQA."""

from functools import cache, lru_cache

import streamlit as st

from attnviz.analysis import head_sharing
from attnviz.analysis.head_sharing import Config, Result
from attnviz.analysis.model_run import ModelRun
from attnviz.app import page_parts, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.base import units
from attnviz.base.words import _, current_language, ngettext
from attnviz.canvas.sharing_columns import SharingColumn, SharingFigure, sharing_columns
from attnviz.core.heads import sharing_kind
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.architecture import (
    Architecture,
    LayerSpec,
    all_presets,
    has_heads,
    kv_head_divisors,
    with_kv_heads,
)
from attnviz.pages.sharing import choices


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
    """Draw the controls, the picture, the menu that saves it, and the exact integers."""
    picture_slot = page_parts.main_picture()
    with page_parts.paired_columns("h-three"):
        name = widgets.select_one(choices.COLUMNS, _("Cache of"), _models(), style="select")
        tokens = widgets.number_box(choices.CONTEXT, _("Tokens"), step=1024)
        batch = widgets.number_box(choices.BATCH, _("Batch"), step=1)
    arch = Architecture.preset(name)
    trained = sharing_figure(arch, tokens, batch)
    usual, stops = trained.at, trained.columns
    with picture_slot:
        shared = widgets.one_of_numbers(choices.SHARED, [stop.kv_heads for stop in stops], stops[usual].kv_heads)
    figure = sharing_figure(arch, tokens, batch, shared)
    exact = exact_integers(arch, tokens, batch)
    column = stops[figure.at]
    sentence = _(
        "With {g} K/V {g:head|heads}, {model} keeps **{kept}** for {tokens:,} {tokens:token|tokens}, a batch of "
        "{batch:,} and 16-bit numbers. That is {share:.3g}% of the {most} that MHA would keep, drawn in grey behind."
    ).format(
        g=column.kv_heads,
        model=name,
        kept=units.binary(column.cache_bytes),
        tokens=tokens,
        batch=batch,
        share=100 * column.share,
        most=units.binary(stops[0].cache_bytes),
    )
    with picture_slot:
        sharing_columns(
            "canvas-of-h-three",
            figure,
            on_stop=lambda at: link_state.set_and_push(choices.SHARED, None if at == usual else stops[at].kv_heads),
        )
        show.footer(
            lambda: SceneFigure((figure,), film=figure),
            name=f"mha-gqa-mqa-{name}",
            key="h-three",
            canvas=show.live_canvas("canvas-of-h-three"),
            sentence=sentence,
            caption=sentence,
            table=exact,
        )
    with st.expander(_("Exact integers")):
        show.draw_table(exact)


def sharing_figure(arch: Architecture, tokens: int, batch: int = 1, kv_heads: int | None = None) -> SharingFigure:
    """The model with every number of K/V heads that it could have, standing at `kv_heads`.

    None, and a number that does not divide its heads: as trained, of MHA at the GQA with 8 or fewest K/V heads.
    """
    columns = _columns(arch, tokens, batch, current_language())
    counts, trained = [column.kv_heads for column in columns], _layers(arch)[0].n_kv_heads
    if kv_heads not in counts:
        usual = trained if trained < counts[0] else 8 if 8 in counts[1:] else counts[max(len(counts) - 2, 0)]
        return SharingFigure(columns, counts.index(usual))
    return SharingFigure(columns, counts.index(kv_heads))


def exact_integers(arch: Architecture, tokens: int, batch: int) -> show.ColumnTable:
    """Parameters and bytes of each way of sharing, exact, with headings in the visitor's language."""
    layers = _layers(arch)
    return show.to_columns(
        [
            {
                _("sharing"): column.name,
                _("K/V heads"): column.kv_heads,
                _("layers"): len(layers),
                _("K, and V, of a layer"): f"{batch} × {column.kv_heads} × {tokens} × {layers[0].d_head}",
                _("attention parameters"): with_kv_heads(arch, column.kv_heads).attention_parameters(),
                _("bytes of the cache"): column.cache_bytes,
            }
            for column in sharing_figure(arch, tokens, batch).columns
        ]
    )


def _layers(arch: Architecture) -> list[LayerSpec]:
    return [layer for layer in arch.layers if has_heads(layer)]


@lru_cache(maxsize=64)
def _columns(arch: Architecture, tokens: int, batch: int, _language: str) -> tuple[SharingColumn, ...]:
    layers = _layers(arch)
    n_heads, trained = layers[0].n_heads, layers[0].n_kv_heads
    counts = kv_head_divisors(layers)[::-1]
    cache_bytes = [with_kv_heads(arch, g).kv_cache_bytes(tokens, batch) for g in counts]
    kinds = [sharing_kind(n_heads, g) for g in counts]
    return tuple(
        SharingColumn(
            _("{kind}, as trained").format(kind=kind) if g == trained else kind, n_heads, g, size, size / cache_bytes[0]
        )
        for kind, g, size in zip(kinds, counts, cache_bytes, strict=True)
    )


def describe_pooling(result: Result) -> str:
    """A sentence on how the chosen K/V heads are derived. The weights have those of one number only."""
    g, trained, heads = result.config.n_kv_heads, result.trained_kv_heads, result.n_heads
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
