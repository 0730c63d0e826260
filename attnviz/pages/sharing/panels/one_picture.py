"""The picture that the page opens with: a model of the visitor's choice as MHA, GQA and MQA, and a head under each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import show
from attnviz.app.widgets import number, one_of, two_in_a_row
from attnviz.base.message import Problem
from attnviz.base.words import _, sentences
from attnviz.models.architecture import Architecture, all_presets, has_heads
from attnviz.pages.sharing import choices
from attnviz.pages.sharing.figures.svg_three_ways import SharingColumn, ThreeWaysPicture
from attnviz.pages.sharing.panels import three_ways
from attnviz.pages.sharing.panels.three_ways import SharedHead
from attnviz.pages.sharing.panels.variants import kind_of, named
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
    shown = three_ways.columns_of(Architecture.preset(name), tokens, batch, heads)
    three_ways.draw(shown, "h-three")
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
