"""Section 6: a trained head whose rotation is removed or gets another base."""

import math
from dataclasses import replace

import numpy as np
import streamlit as st

from attnviz.analysis import changed_rope as experiment
from attnviz.analysis.model_run import ModelRun, Stack
from attnviz.app import page_parts, sentence_input, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown
from attnviz.base.largest import find_largest
from attnviz.base.words import _, join_sentences
from attnviz.engine import Rerun
from attnviz.figures import attention_figures, heatmap
from attnviz.pages.positions import choices
from attnviz.pages.positions.figures import rotation as figures

LEAST_MOVED = 5e-4  #: of a row: what is less would read as 0.0%


def panel() -> None:
    main_picture = page_parts.main_picture()
    run = sentence_input.sentence_run(choices.MODEL, choices.SENTENCE, model_first=True, kinds=("decoder", None))
    config = _choose_config(run.stacks[0])
    rotary = model_cache.rerun_cached(run, Rerun(experiment.rotation))
    result: experiment.Result = model_cache.rerun_cached(
        run, Rerun(experiment.run, (config, rotary)), ("changed_rope", config)
    )
    st.latex(_formula(result))
    st.markdown(f"**{_describe_change(run, result)}**")
    with main_picture:
        _draw_heatmaps(run, result)
    page_parts.draw_columns(lambda: _draw_distance(result), lambda: _draw_next_token(run, result))
    model_config = replace(config, layer=run.stacks[0].layers[config.layer].index)  # which counts in its own way
    show.program(
        program(run.request.model, run.request.text, model_config),
        "p-head",
        about=_(
            "Paste this code into a notebook: it prints how much weight moves, the row that changes most, and what "
            "comes next."
        ),
    )


def _choose_config(stack: Stack) -> experiment.Config:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = widgets.number_box(choices.LAYER, _("Layer, from 0"), step=1, high=len(stack.layers) - 1, width=140)
        heads = stack.layers[layer].n_heads
        head = widgets.number_box(choices.HEAD, _("Head, from 0"), step=1, high=heads - 1, width=140)
        change = widgets.select_one(
            choices.CHANGE, _("Change"), {"removed": _("take RoPE out"), "base": _("another base")}
        )
        if change == "base":
            widgets.number_box(choices.NEW_BASE, _("New base"), step=1000.0, width=150)
        where = widgets.select_one(
            choices.WHERE, _("Where"), {"head": _("this head"), "layer": _("its whole layer"), "all": _("every layer")}
        )
    return experiment.Config(layer, head, change, link_state.value(choices.NEW_BASE), where)


def _formula(result: experiment.Result) -> str:
    rotary = result.rotary
    if result.config.change == "removed":
        new = r"q_m\cdot k_n = q\cdot k"
    else:
        power = rf"{result.config.base:g}^{{-2i/{rotary.width}}}"
        new = rf"q_m\cdot k_n = q^\top R_{{(n-m)\,\theta'}}\,k,\quad \theta_i' = {power}"
    was = rf"q_m\cdot k_n = q^\top R_{{(n-m)\,\theta}}\,k,\quad \theta_i = {rotary.base:g}^{{-2i/{rotary.width}}}"
    return rf"\begin{{gathered}}{was}\\ \longrightarrow\quad {new}\end{{gathered}}"


def _describe_change(run: ModelRun, result: experiment.Result) -> str:
    config = result.config
    most = int(result.row_shifts.argmax())
    head_name = _("Trained: {model}, layer {layer}, head {head}.").format(
        model=escape_markdown(run.name), layer=config.layer, head=config.head
    )
    if result.row_shifts[most] < LEAST_MOVED:
        return join_sentences(head_name, _("No row changes by as much as 0.05% of its weight."))
    verdict = join_sentences(
        head_name,
        _("{moved:.1%} of the head’s weight goes to other tokens, most in the row of “{token}”: {share:.1%}.").format(
            moved=result.weight_shift,
            token=escape_markdown(run.stacks[0].queries.labels[most]),
            share=result.row_shifts[most],
        ),
    )
    before, after = result.previous
    if math.isnan(before):
        return verdict
    neighbours = _(
        "On the token just before: {before:.1%} as trained, {after:.1%} changed; on the first: {first:.1%} and "
        "{now:.1%}."
    ).format(before=before, after=after, first=result.first[0], now=result.first[1])
    return join_sentences(verdict, neighbours)


def _draw_heatmaps(run: ModelRun, result: experiment.Result) -> None:
    stack, most = run.stacks[0], int(result.row_shifts.argmax())
    matrices = (("before", _("As trained"), result.before), ("after", _("Changed"), result.after))
    for column, (name, title, weights) in zip(st.columns(2, gap="medium"), matrices, strict=True):
        with column:
            st.markdown(f"**{title}**")
            show.figure(
                show.chart_of(
                    heatmap.matrix,
                    weights,
                    stack.queries.labels,
                    stack.keys.labels,
                    masked=~result.allowed,
                    height=400,
                    numbers=False,
                ),
                name=f"rope-{name}",
                key=f"p_rope_{name}",
                sentence=_("“{query}” gives {share:.1%} to “{token}”.").format(
                    query=escape_markdown(stack.queries.labels[most]),
                    share=float(weights[most].max()),
                    token=escape_markdown(stack.keys.labels[int(weights[most].argmax())]),
                ),
            )


def _draw_distance(result: experiment.Result) -> None:
    before, after = result.distance_before, result.distance_after
    largest = find_largest(np.abs(after - before))
    most = largest.index
    if largest.value < LEAST_MOVED:
        caption = _(
            "Mean weight on the token so many back, over the queries that have one. None changes by as much as 0.05%; "
            "the token itself gets {own:.1%}."
        )
    else:
        caption = _(
            "Mean weight on the token so many back, over the queries that have one. It changes most {back} back, from "
            "{was:.1%} to {now:.1%}; the token itself gets {own:.1%} and {own_now:.1%}."
        )
    caption = caption.format(back=most, was=before[most], now=after[most], own=before[0], own_now=after[0])
    if len(before) > 1:
        caption = join_sentences(
            caption,
            _(
                "Only the last query can look {last} back, at the first token: the last bar is that query’s alone."
            ).format(last=len(before) - 1),
        )
    show.figure(
        show.chart_of(figures.tokens_back, before, after),
        name="rope-distance",
        key="p_rope_distance",
        table={"tokens_back": np.arange(len(before)), "as_trained": before, "changed": after},
        sentence=caption,
    )


def _draw_next_token(run: ModelRun, result: experiment.Result) -> None:
    if not result.tokens:
        st.info(_("{model} was not trained to guess the next token.").format(model=escape_markdown(run.name)))
        return
    labels = [token.label for token in result.tokens]
    before, after = [token.before for token in result.tokens], [token.after for token in result.tokens]
    was, now = result.tokens[0], max(result.tokens, key=lambda token: token.after)
    show.figure(
        show.chart_of(attention_figures.bars, labels, before, after, labels=(_("as trained"), _("changed"))),
        name="rope-next-token",
        key="p_rope_next",
        table={"token": labels, "as_trained": before, "changed": after},
        sentence=_(
            "Next token: {moved:.1%} of the probability moves; the likeliest was “{was}” ({before:.1%}) and is "
            "“{now}” ({after:.1%})."
        ).format(
            moved=result.probability_shift,
            was=escape_markdown(was.label),
            before=was.before,
            now=escape_markdown(now.label),
            after=now.after,
        ),
    )


def program(model: str, text: str, config: experiment.Config) -> str:
    """Program that prints the moved weight, the row that changes most and the next token."""
    heads = config.head if config.where == "head" else '"all"'
    layers = "rotary.layers" if config.where == "all" else f"{config.layer}"
    base = "None" if config.change == "removed" else repr(config.base)
    return f"""\
import attnviz as av
from attnviz.models.capture import find_rotary
from attnviz.models.tokens import encode

loaded = av.load({model!r})
tokens = encode(loaded, {text!r})
rotary = find_rotary(loaded.model)  # its pairs turn by rotary.turns radians per position
edit = av.Edit({layers}, {heads}, change=rotary.changed({base}))  # undone, and turned anew if there is a base

before = av.capture(loaded.model, **tokens.inputs)
after = av.intervene(loaded.model, edit, **tokens.inputs)
weights = [trace.layers[{config.layer}].weights({config.head})[0, 0] for trace in (before, after)]
moved = (weights[0] - weights[1]).abs().sum(-1) / 2  # of each row
row = moved.argmax().item()
print(f"{{moved.mean():.1%}} of the weight goes to other tokens, most of {{tokens.labels[row]!r}}: {{moved[row]:.1%}}")
for name, w in zip(("as trained", "changed"), weights):
    print(f"{{name}}: {{w.diagonal(-1).mean():.1%}} on the token just before, {{w[:, 0].mean():.1%}} on the first")
for token, one, other in zip(tokens.labels, *(w[row].tolist() for w in weights)):
    print(f"{{token:>12}} {{one:.4f}} {{other:.4f}}")
if before.logits is not None:
    chances = [trace.logits[0].double().softmax(-1) for trace in (before, after)]
    print(f"next token: {{(chances[0] - chances[1]).abs().sum() / 2:.1%}} of the probability moves")
    print([(loaded.tokenizer.decode(each.argmax()), round(each.max().item(), 4)) for each in chances])
"""
