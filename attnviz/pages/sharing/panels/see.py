"""The view “See it”: a model from MHA to MQA in one picture; the visitor's sentence in a layer shared further."""

from functools import cache, lru_cache
from typing import cast

import streamlit as st

from attnviz.analysis import head_sharing
from attnviz.analysis.head_sharing import Config, Method, Result
from attnviz.analysis.model_run import ModelRun
from attnviz.app import page_parts, presenting, sentence_input, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.panel import fragment, show_problems
from attnviz.app.text import escape_markdown
from attnviz.base import units
from attnviz.base.words import _, current_language, join_list, join_sentences, ngettext
from attnviz.canvas.sharing_columns import SharingColumn, SharingFigure, sharing_columns
from attnviz.core.heads import sharing_kind
from attnviz.engine import Rerun
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
from attnviz.models.capture import RecordedLayer
from attnviz.pages.sharing import choices, figures
from attnviz.pages.sharing.panels import sharing_programs

TOKENS_SHOWN = 48
LEAST = 0.005  # of a head’s attention: less reads as 0%
HEADS_SHOWN = 12
SIDE = 150  #: pixels of a head's picture


def panel() -> None:
    draw_picture()
    _draw_fragment(sentence_input.sentence_run(choices.MODEL, choices.SENTENCE, kinds=("decoder", "encoder")))


@fragment
def _draw_fragment(run: ModelRun) -> None:
    with show_problems():
        _draw_shared_layer(run)


def _draw_shared_layer(run: ModelRun) -> None:
    st.subheader(_("One trained layer, shared further"), anchor=False)
    config = _draw_controls(run.stacks[0].layers)
    result = sharing_result(run, config)
    st.caption(describe_pooling(result))
    _group(run, result)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(_("What it saves, what it breaks"), anchor=False)
        _sweep(result, model_cache.get_model(run.request.model).entry.kind == "encoder")
    with right:
        st.subheader(_("The next token, before and after"), anchor=False)
        downstream = _downstream(run, config)
    if presenting.embedded_figure() == "h-heads":  # an embed code that was copied before the box was in the link
        link_state.set_value(choices.HEADS, True)
    box = widgets.expander(choices.HEADS, _("Head by head"))
    if box.open:
        with box:
            _heads(result)
    about = (
        _(
            "Paste this code into a notebook: it prints how much of each head’s attention goes elsewhere, the bytes of "
            "K and V, the change of the layer’s output, and what comes next."
        )
        if downstream.guesses
        else _(
            "Paste this code into a notebook: it prints how much of each head’s attention goes elsewhere, the bytes of "
            "K and V, and the change of this layer’s output and of the last one’s."
        )
    )
    show.program(
        sharing_programs.sharing_program(run, result, downstream.scope, bool(downstream.guesses)), "h-see", about=about
    )


def _draw_controls(layers: tuple[RecordedLayer, ...]) -> Config:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        numbers = {str(i): str(i) for i in range(len(layers))}
        layer = widgets.select_one(choices.LAYER, _("Layer"), numbers, style="select", width=110)
        chosen = layers[int(layer)]
        options, heads, trained = head_sharing.kv_head_choices(chosen), chosen.n_heads, chosen.n_kv_heads
        kv_heads = widgets.select_one(
            choices.KV_HEADS,
            _("K/V heads"),
            {
                str(g): _("{kind} (trained)").format(kind=scheme_name(heads, g))
                if g == trained
                else scheme_name(heads, g)
                for g in options
            },
            usual=str(options[min(options.index(trained) + 1, len(options) - 1)]),
            help=_("{h} query heads share this many key and value heads.").format(h=heads),
            width="content",
        )
        method = widgets.select_one(
            choices.METHOD,
            _("How the heads of a group become one"),
            {"mean": _("their mean"), "first": _("the first of them"), "random": _("random (seed 0)")},
            help=_(
                "In the GQA paper the mean was best once the model had been trained further. Here nothing is trained, "
                "and another can be nearer to the model as it was."
            ),
            width="content",
        )
    return Config(int(layer), int(kv_heads), cast(Method, method))


def _group(run: ModelRun, result: Result) -> None:
    """Draw the heads that share one K/V head, side by side."""
    per = result.n_heads // result.config.n_kv_heads
    names = {
        str(g): _("heads {first}–{last}").format(first=g * per, last=g * per + per - 1)
        for g in range(result.config.n_kv_heads)
    }
    group = 0
    if len(names) > 1:
        with st.columns([1, 3])[0]:
            group = int(widgets.select_one(choices.GROUP, _("Heads that share"), names, style="select"))
    heads = list(range(group * per, (group + 1) * per))[:HEADS_SHOWN]
    tokens = run.stacks[0].queries.labels[:TOKENS_SHOWN]
    n = len(tokens)
    before, after, hidden = result.before[heads][:, :n, :n], result.after[heads][:, :n, :n], result.hidden[:n, :n]
    most = max(heads, key=lambda head: float(result.weight_shifts[head]))
    figure = show.chart_of(figures.heads_before_and_after, before, after, heads, tokens, hidden, SIDE)
    head_names = join_list(_("head {n}").format(n=head) for head in heads)
    show.chart(figure, width=figure.to_dict()["layout"]["width"], key="h-pairs", alt=head_names)
    show.footer(
        figure,
        name=f"sharing-layer-{result.config.layer}-group-{group}",
        key="h-groups",
        sentence=join_sentences(
            _describe_group(most, float(result.weight_shifts[most]), per, len(run.stacks[0].queries.labels)),
            _("Each head as trained, and shared below it. Dark is weight 0, bright is 1, grey is hidden by the mask."),
        ),
        caption=_("Layer {layer} of {model} reads “{text}”.").format(
            model=run.name, layer=result.config.layer, text=run.request.text
        ),
        table=lambda: _cells(result, heads, tokens),
    )


def _describe_group(head: int, share: float, heads: int, tokens: int) -> str:
    """A sentence on the largest change of a head, and on heads and tokens that are not drawn."""
    changed = (
        _("No attention here changes by as much as half a percent.")
        if share < LEAST
        else _("Once its keys are shared, {share:.0%} of head {head}’s attention goes elsewhere, mean over all rows.")
        if heads == 1
        else _("Of these, head {head} changes most: {share:.0%} of its attention goes elsewhere, mean over all rows.")
    )
    of_heads, of_tokens = _("The first {n} of the group’s {all} heads are drawn."), _("The first {n} tokens are drawn.")
    return join_sentences(
        changed.format(head=head, share=share),
        of_heads.format(n=HEADS_SHOWN, all=heads) if heads > HEADS_SHOWN else "",
        of_tokens.format(n=TOKENS_SHOWN) if tokens > TOKENS_SHOWN else "",
    )


def _cells(result: Result, heads: list[int], tokens: tuple[str, ...]) -> dict[str, list[object]]:
    cells = [
        (h, q, k) for h in heads for q in range(len(tokens)) for k in range(len(tokens)) if not result.hidden[q, k]
    ]
    return {
        "head": [h for h, _q, _k in cells],
        "query_position": [q for _h, q, _k in cells],
        "query": [tokens[q] for _h, q, _k in cells],
        "key_position": [k for _h, _q, k in cells],
        "key": [tokens[k] for _h, _q, k in cells],
        "trained": [float(result.before[c]) for c in cells],
        "shared": [float(result.after[c]) for c in cells],
    }


def _sweep(result: Result, encoder: bool) -> None:
    counts = [point.n_kv_heads for point in result.sweep]
    change, cache = [point.output_change for point in result.sweep], [point.cache_bytes for point in result.sweep]
    show.figure(
        show.chart_of(
            figures.change_over_cache,
            counts,
            change,
            cache,
            result.config.n_kv_heads,
            [scheme_name(result.n_heads, g) for g in counts],
        ),
        name=f"sharing-sweep-layer-{result.config.layer}",
        key="h-sweep",
        sentence=_describe_savings(result, encoder),
        table={
            "K/V heads": counts,
            "change of output": change,
            "K/V bytes": cache,
            "parameters of W_K and W_V": [p.parameters for p in result.sweep],
        },
    )


def _describe_savings(result: Result, encoder: bool) -> str:
    """A sentence on the chosen number of K/V heads. An encoder keeps no keys and values."""
    point, g = result.point, result.config.n_kv_heads
    if g > result.trained_kv_heads:
        text = _(
            "With {g} K/V heads, each trained one copied {times} times, keys and values take {times} times the bytes "
            "({bytes} for this sentence) and the layer’s output changes by {moved:.0%}: every query head reads what it "
            "read before."
        )
    elif encoder:
        text = ngettext(
            "With {g} K/V head the keys and values of this sentence take {kept:.0%} of the bytes they took ({bytes}) "
            "while the layer runs, for an encoder keeps no cache; its output changes by {moved:.0%} of its length, "
            "before any further training.",
            "With {g} K/V heads the keys and values of this sentence take {kept:.0%} of the bytes they took ({bytes}) "
            "while the layer runs, for an encoder keeps no cache; its output changes by {moved:.0%} of its length, "
            "before any further training.",
            g,
        )
    else:
        text = ngettext(
            "With {g} K/V head the layer keeps {kept:.0%} of its cache ({bytes} for this sentence) and its output "
            "changes by {moved:.0%} of its length, before any further training.",
            "With {g} K/V heads the layer keeps {kept:.0%} of its cache ({bytes} for this sentence) and its output "
            "changes by {moved:.0%} of its length, before any further training.",
            g,
        )
    return text.format(
        g=g,
        times=g // result.trained_kv_heads,
        kept=point.cache_bytes / result.trained.cache_bytes,
        bytes=units.decimal_and_binary(point.cache_bytes),
        moved=point.output_change,
    )


def _downstream(run: ModelRun, config: Config) -> head_sharing.Downstream:
    scopes = {"layer": _("share in this layer"), "all": _("share in every layer")}
    scope = cast(
        head_sharing.Scope, widgets.select_one(choices.SCOPE, _("Where"), scopes, label_visibility="collapsed")
    )
    result: head_sharing.Downstream = model_cache.rerun_cached(
        run, Rerun(head_sharing.rerun_with_sharing, (config, scope))
    )
    if not result.guesses:
        st.markdown(
            _(
                "{model} predicts no next token. The attention output of its last layer changes by **{moved:.0%}** "
                "of its length."
            ).format(model=escape_markdown(run.name), moved=result.last_output_change)
        )
        return result
    best, now = result.guesses[0], max(result.guesses, key=lambda guess: guess.after)
    labels = [guess.label for guess in result.guesses]
    before, after = [guess.before for guess in result.guesses], [guess.after for guess in result.guesses]
    show.figure(
        show.chart_of(figures.token_bars, labels, before, after),
        name=f"next-token-shared-{scope}",
        key="h-next",
        sentence=_(
            "As trained, “{token}” is the likeliest next token, with {before:.1%}; with shared heads it is "
            "“{other}”, with {after:.1%}. KL(trained‖shared), which is 0 where both guess alike, is {kl:.3g} nats."
        ).format(
            token=escape_markdown(best.label),
            before=best.before,
            other=escape_markdown(now.label),
            after=now.after,
            kl=result.divergence,
        ),
        table={"token": labels, "trained": before, "shared": after},
    )
    return result


def _heads(result: Result) -> None:
    worst = int(result.weight_shifts.argmax())
    show.figure(
        show.chart_of(figures.weight_moved_bars, result.weight_shifts, result.output_changes, result.kv_of()),
        name=f"sharing-heads-layer-{result.config.layer}",
        key="h-heads",
        sentence=join_sentences(
            (
                _("No head’s attention changes by as much as half a percent.")
                if result.weight_shifts[worst] < LEAST
                else _("Head {head} changes most: {share:.0%} of its attention goes elsewhere, mean over all rows.")
            ).format(head=worst, share=float(result.weight_shifts[worst])),
            _("Dotted lines separate the groups.") if len(set(result.kv_of())) > 1 else "",
        ),
        table={
            "head": range(result.n_heads),
            "K/V head": result.kv_of(),
            "attention that moved": result.weight_shifts.tolist(),
            "change of output": result.output_changes.tolist(),
        },
    )


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
