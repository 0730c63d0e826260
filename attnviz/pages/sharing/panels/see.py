"""The view “See it”: the visitor's sentence in one trained layer whose keys and values are shared by more heads."""

from __future__ import annotations

from typing import cast

import streamlit as st

from attnviz.app import sentence_input, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.cache.kept_charts import chart_of
from attnviz.app.fragment import fragment
from attnviz.app.guarding import guard
from attnviz.app.text import plain
from attnviz.base.words import _, sentences
from attnviz.engine import Rerun
from attnviz.models.capture import RecordedLayer
from attnviz.pages.sharing import choices as sharing_choices
from attnviz.pages.sharing.figures import sharing as figures
from attnviz.pages.sharing.panels import one_picture, sharing_programs
from attnviz.pages.sharing.panels.bytes import named, saved
from attnviz.runs import head_sharing
from attnviz.runs.head_sharing import Config, Method, Result
from attnviz.runs.model_run import ModelRun

TOKENS_SHOWN = 48
HEADS_SHOWN = 12
SIDE = 150  #: pixels of a head's picture: Streamlit draws no chart narrower, and cuts off what does not fit


def panel() -> None:
    run = sentence_input.sentence_run(sharing_choices.MODEL, sharing_choices.SENTENCE, kinds=("decoder", "encoder"))
    if run is None:
        one_picture.picture(None, None, None)
        return
    _fragment(run)


@fragment
def _fragment(run: ModelRun) -> None:
    with guard():
        _shared(run)


def _shared(run: ModelRun) -> None:
    top = st.container(key="h-top")
    top.empty()  # with something in it, it has its place before what is drawn into it is known
    st.subheader(_("One trained layer, shared further"), anchor=False)
    config = _ask(run.stacks[0].layers)
    result = _result(run, config)
    with top:
        one_picture.picture(run, lambda one: _result(run, one), config)
    one_picture.wirings(run, result)
    _group(run, result)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(_("What it saves, what it breaks"), anchor=False)
        _sweep(result, model_cache.model(run.request.model).entry.kind == "encoder")
    with right:
        st.subheader(_("The next token, before and after"), anchor=False)
        found = _downstream(run, config)
    with st.expander(_("Head by head")):
        _heads(result)
    sharing_programs.sharing(run, result, found)


def _result(run: ModelRun, config: Config) -> Result:
    loaded = model_cache.model_of(run)
    layer = run.stacks[0].layers[config.layer]
    return model_cache.cached(
        run, ("sharing", config), lambda: head_sharing.run(head_sharing.complete(layer, loaded.model), config)
    )


def _rerun(run: ModelRun, config: Config, scope: head_sharing.Scope) -> head_sharing.Downstream:
    found: head_sharing.Downstream = model_cache.cached_rerun(run, Rerun(head_sharing.downstream, (config, scope)))
    return found


def _ask(layers: tuple[RecordedLayer, ...]) -> Config:
    where, which, how = st.columns([0.7, 1.6, 1.7], vertical_alignment="bottom")
    with where:
        layer = widgets.one_of(
            sharing_choices.LAYER, _("Layer"), {str(i): str(i) for i in range(len(layers))}, style="select"
        )
    options = head_sharing.choices(layers[int(layer)])
    heads, trained = layers[int(layer)].n_heads, layers[int(layer)].n_kv_heads
    names = {
        str(g): _("{kind} (trained)").format(kind=named(heads, g)) if g == trained else named(heads, g) for g in options
    }
    with which:
        kept = widgets.one_of(
            sharing_choices.KEPT,
            _("K/V heads"),
            names,
            usual=str(options[min(options.index(trained) + 1, len(options) - 1)]),
            help=_("{h} query heads share this many key and value heads.").format(h=heads),
        )
    methods = {"mean": _("their mean"), "first": _("the first of them"), "random": _("random (seed 0)")}
    with how:
        method = widgets.one_of(
            sharing_choices.METHOD, _("How the heads of a group become one"), methods,
            help=_("The GQA paper found the mean to be best, before further training heals it."),
        )  # fmt: skip
    return Config(int(layer), int(kept), cast(Method, method))


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
            group = int(widgets.one_of(sharing_choices.GROUP, _("Heads that share"), names, style="select"))
    heads = list(range(group * per, (group + 1) * per))[:HEADS_SHOWN]
    tokens = run.stacks[0].queries.labels[:TOKENS_SHOWN]
    n = len(tokens)
    before, after, hidden = result.before[heads][:, :n, :n], result.after[heads][:, :n, :n], result.hidden[:n, :n]
    most = max(heads, key=lambda head: float(result.weights_moved[head]))
    st.caption(
        _(
            "Weights of each head, as trained above and sharing below; dark is 0, bright is 1, grey is hidden by the "
            "mask."
        )
    )
    with st.container(horizontal=True, gap="small"):
        for i, head in enumerate(heads):
            fig = chart_of(figures.pair, before[i], after[i], head, tokens, hidden, SIDE)
            show.chart(fig, width=SIDE, key=f"h-pair-{i}", words=_("head {n}").format(n=head))
    show.under(
        lambda: figures.groups(before, after, heads, tokens, hidden),
        name=f"sharing-layer-{result.config.layer}-group-{group}",
        key="h-groups",
        words=sentences(
            _changed(most, len(heads), float(result.weights_moved[most])),
            *_left_out(per, len(run.stacks[0].queries.labels)),
        ),
        caption=_("{model}, layer {layer}: {text}").format(
            model=run.name, layer=result.config.layer, text=run.request.text
        ),
        table=lambda: _cells(result, heads, tokens),
    )


def _changed(head: int, heads: int, share: float) -> str:
    """How much sharing changes the head that it changes most."""
    if heads == 1:
        return _("Once its keys are shared, {share:.0%} of head {head}’s attention goes elsewhere.").format(
            head=head, share=share
        )
    return _("Of these, head {head} changes most: {share:.0%} of its attention goes elsewhere.").format(
        head=head, share=share
    )


def _left_out(heads: int, tokens: int) -> list[str]:
    """A sentence for each of the two that has more than is drawn."""
    said = []
    if heads > HEADS_SHOWN:
        said.append(_("The first {n} of the group’s {all} heads are drawn.").format(n=HEADS_SHOWN, all=heads))
    if tokens > TOKENS_SHOWN:
        said.append(_("The first {n} tokens are drawn.").format(n=TOKENS_SHOWN))
    return said


def _cells(result: Result, heads: list[int], tokens: tuple[str, ...]) -> dict[str, list[object]]:
    cells = [
        (h, q, k) for h in heads for q in range(len(tokens)) for k in range(len(tokens)) if not result.hidden[q, k]
    ]
    return {
        "head": [h for h, _q, _k in cells],
        "query": [tokens[q] for _h, q, _k in cells],
        "key": [tokens[k] for _h, _q, k in cells],
        "trained": [float(result.before[c]) for c in cells],
        "shared": [float(result.after[c]) for c in cells],
    }


def _sweep(result: Result, encoder: bool) -> None:
    counts = [point.n_kv_heads for point in result.sweep]
    point = result.point
    show.figure(
        chart_of(
            figures.sweep,
            counts,
            [p.moved for p in result.sweep],
            [p.cache_bytes for p in result.sweep],
            point.n_kv_heads,
            [named(result.n_heads, g) for g in counts],
        ),
        name=f"sharing-sweep-layer-{result.config.layer}",
        key="h-sweep",
        words=saved(result, encoder),
        table={
            "K/V heads": counts,
            "change of output": [p.moved for p in result.sweep],
            "K/V bytes": [p.cache_bytes for p in result.sweep],
            "parameters of W_K and W_V": [p.parameters for p in result.sweep],
        },
    )


def _downstream(run: ModelRun, config: Config) -> head_sharing.Downstream:
    scopes = {"layer": _("share in this layer"), "all": _("share in every layer")}
    scope = cast(
        head_sharing.Scope, widgets.one_of(sharing_choices.SCOPE, _("Where"), scopes, label_visibility="collapsed")
    )
    found = _rerun(run, config, scope)
    if not found.guesses:
        st.markdown(
            _(
                "{model} predicts no next token. The attention output of its last layer changes by **{moved:.0%}** "
                "of its length."
            ).format(model=plain(run.name), moved=found.last_moved)
        )
        return found
    best, now = found.guesses[0], max(found.guesses, key=lambda guess: guess.after)
    show.figure(
        chart_of(
            figures.guesses,
            [g.label for g in found.guesses],
            [g.before for g in found.guesses],
            [g.after for g in found.guesses],
        ),
        name=f"next-token-shared-{scope}",
        called=_("The next token, before and after"),
        key="h-next",
        words=_(
            "As trained, “{token}” is the likeliest next token, with {before:.1%}; with shared heads it is "
            "“{other}”, with {after:.1%}. KL(trained‖shared), which is 0 where both guess alike, is {kl:.3g} nats."
        ).format(
            token=plain(best.label),
            before=best.before,
            other=plain(now.label),
            after=now.after,
            kl=found.divergence,
        ),
        table={
            "token": [g.label for g in found.guesses],
            "trained": [g.before for g in found.guesses],
            "shared": [g.after for g in found.guesses],
        },
    )
    return found


def _heads(result: Result) -> None:
    worst = int(result.weights_moved.argmax())
    show.figure(
        chart_of(figures.moved, result.weights_moved, result.outputs_moved, result.kv_of),
        name=f"sharing-heads-layer-{result.config.layer}",
        key="h-heads",
        words=_(
            "Head {head} changes most: {share:.0%} of its attention goes elsewhere. Dotted lines separate the groups."
        ).format(head=worst, share=float(result.weights_moved[worst])),
        table={
            "head": range(result.n_heads),
            "K/V head": result.kv_of,
            "attention that moved": result.weights_moved.tolist(),
            "change of output": result.outputs_moved.tolist(),
        },
    )
