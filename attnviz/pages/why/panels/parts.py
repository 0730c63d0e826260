"""Section 1: what every part adds, where the answer first appears, and one head of it."""

import math
from collections.abc import Sequence
from itertools import groupby

import numpy as np
import streamlit as st

from attnviz.app import head_drawing, page_parts, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.links.choices import parse_head
from attnviz.app.panel import show_problems
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_list, join_sentences, translate_message
from attnviz.engine import Rerun
from attnviz.pages.why import choices, figures
from attnviz.pages.why.maths import parts
from attnviz.pages.why.panels import form

EVEN = 0.005  #: a lead in logits that is written as 0.00


def panel() -> None:
    """Draw the section."""
    container = page_parts.main_picture()
    request = form.draw_form()
    heads, strongest = request.parts.by_head, "{}.{}".format(*request.parts.strongest)
    # for those who cannot click a bar
    at = parse_head(
        widgets.select_one(choices.AT, _("Head (layer.head)"), heads, usual=strongest, style="select", width=220)
    )
    left, right = container.columns([1.9, 1], gap="small")
    with left:
        _draw_ladder(request, at)
    with right:
        _draw_lens(request)
    with show_problems():
        _draw_head(request, at)
    box = st.expander(_("All parts, the largest first"), key="why-all", on_change="rerun")
    if box.open:
        rows = request.parts.by_size
        added = [f"{Rounded(component.value):+.4f}" for component in rows]
        box.dataframe(
            {_("part"): [translate_message(component.name) for component in rows], _axis_title(request): added},
            hide_index=True,
        )


def _draw_ladder(request: form.TokenRequest, at: tuple[int, int]) -> None:
    attribution = request.parts
    heads, mlps = float(np.nansum(attribution.heads)), float(attribution.mlps.sum())
    layer, head = attribution.strongest
    template = (
        _(
            "{answer} Heads add {heads:+.2f}, MLPs {mlps:+.2f}, the rest {rest:+.2f}; head {layer}.{head} adds most: "
            "{value:+.2f}."
        )
        if attribution.heads[layer, head] > 0
        else _("{answer} Heads add {heads:+.2f}, MLPs {mlps:+.2f}, the rest {rest:+.2f}; no head adds to it.")
    )
    caption = template.format(
        answer=_describe_answer(request),
        heads=heads,
        mlps=mlps,
        rest=attribution.total - heads - mlps,
        layer=layer,
        head=head,
        value=attribution.heads[layer, head],
    )
    widest = attribution.heads.shape[1]
    show.figure(
        show.chart_of(
            figures.parts_ladder,
            attribution.heads,
            attribution.mlps,
            [(translate_message(component.name), component.value) for component in attribution.outside_layers],
            at,
            title=form.sentence_title(request),
            unit=_axis_title(request),
        ),
        name=f"why-{request.run.request.model}",
        key="why-parts",
        sentence=caption
        if attribution.linearised is None
        else join_sentences(caption, translate_markdown(attribution.linearised)),
        table=lambda: {
            "part": [translate_message(component.name) for component in attribution.by_layer],
            "layer": [component.layer for component in attribution.by_layer],
            "head": [component.head for component in attribution.by_layer],
            "added": [component.value for component in attribution.by_layer],
        },
        on_pick=lambda number: link_state.set_and_push(choices.AT, f"{number // widest}.{number % widest}"),
    )


def _axis_title(request: form.TokenRequest) -> str:
    if request.versus is None:
        return _("added to the logit of “{token}”").format(token=request.parts.targets[0].label)
    token, versus = (target.label for target in request.parts.targets)
    return _("added to the lead of “{token}” over “{versus}”").format(token=token, versus=versus)


def _describe_answer(request: form.TokenRequest) -> str:
    """The answer in one sentence."""
    total, first = request.parts.total, request.parts.targets[0]
    if request.versus is None:
        return _("The logit of **{token}** is {total:.2f}, its probability {share:.1%}.").format(
            token=request.token, total=total, share=first.probability
        )
    if abs(total) < EVEN:
        return _("**{token}** and **{versus}** have the same logit: they are equally likely.").format(
            token=request.token, versus=request.versus
        )
    template = (
        _("**{token}** leads **{versus}** by {lead:.2f} in logits: it is {times:,.3g} times as likely.")
        if total > 0
        else _("**{token}** trails **{versus}** by {lead:.2f} in logits: it is {times:,.3g} times less likely.")
    )
    times = math.exp(min(abs(total), 700.0))
    return template.format(token=request.token, versus=request.versus, lead=abs(total), times=times)


def _draw_lens(request: form.TokenRequest) -> None:
    attribution = request.parts
    names = [target.label for target in attribution.targets]
    show.figure(
        show.chart_of(
            figures.lens_curves,
            attribution.ranks,
            attribution.lens,
            names,
            attribution.likeliest,
            len(attribution.outside_layers),
            title=_("What it would say if it ended at a layer"),
        ),
        name=f"logit-lens-{request.run.request.model}",
        key="why-lens",
        sentence=lens_caption(attribution, request.token),
        table={"layer": list(range(len(attribution.ranks)))}
        | {f"place of {name}": attribution.ranks[:, n].tolist() for n, name in enumerate(names)}
        | {f"probability of {name}": attribution.lens[:, n].tolist() for n, name in enumerate(names)}
        | {"likeliest": list(attribution.likeliest)},
    )


def lens_caption(attribution: parts.Parts, token: str) -> str:
    """Name the layer from which the token stays in first place, and earlier layers where it was first."""
    stable_layer = attribution.first_stable_layer
    lost_layers = [at for at in attribution.layers_ranked_first if stable_layer is None or at < stable_layer]
    if stable_layer is None:
        template = (
            _("“{token}” ends in place {place:,}, though it comes first at the input of layer {lost}.")
            if lost_layers
            else _("“{token}” comes first at no layer: it ends in place {place:,}.")
        )
    elif stable_layer < len(attribution.ranks) - 1:
        template = (
            _(
                "If the model ended there, “{token}” would come next from the input of layer {layer} on, and at that "
                "of layer {lost}, where it is lost again."
            )
            if lost_layers
            else _("If the model ended there, “{token}” would come next from the input of layer {layer} on.")
        )
    else:
        template = (
            _(
                "After the last layer “{token}” comes first; one layer earlier it is number {before:,}. It came first "
                "at the input of layer {lost}, too, and lost it."
            )
            if lost_layers
            else _("Only after the last layer does “{token}” come first; one layer earlier it is number {before:,}.")
        )
    rank, rank_before = (int(attribution.ranks[at, 0]) for at in (-1, -2))
    return template.format(
        token=token, layer=stable_layer, lost=join_list(_format_ranges(lost_layers)), place=rank, before=rank_before
    )


def _format_ranges(numbers: Sequence[int]) -> list[str]:
    """Rising numbers as "3" and "5–8"."""
    runs = [[n for _at, n in run] for _key, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return [f"{run[0]}–{run[-1]}" if run[0] < run[-1] else str(run[0]) for run in runs]


def _draw_head(request: form.TokenRequest, at: tuple[int, int]) -> None:
    """The head that is chosen: where it looks, which tokens its part came from, and the answer without it."""
    left, right = st.columns(2, gap="medium")
    with left:
        head_drawing.draw(request.run, at, ("why-head", "why-head-out"), "why", row=request.parts.position)
    with right:
        _draw_sources(request, *at)
        _draw_ablation(request, *at)
        if st.button(_("Open this head in the explorer"), icon=":material/arrow_forward:", key="why-explore"):
            page_parts.open_explorer(request.run.request.model, request.run.request.text, at)


def _draw_sources(request: form.TokenRequest, layer: int, head: int) -> None:
    attribution, tokens = request.parts, request.run.stacks[0].keys.labels
    values = attribution.sources[layer, head]
    most = int(np.abs(values).argmax())
    contribution, value = float(attribution.heads[layer, head]), float(values[most])
    template = (
        _("Head {layer}.{head} adds {part:+.2f}: {value:+.2f} comes from “{token}”, {rest:+.2f} from all other tokens.")
        if len(tokens) > 1
        else _("Head {layer}.{head} adds {part:+.2f}, all of it from “{token}”, the only token.")
    )
    caption = template.format(
        layer=layer,
        head=head,
        part=contribution,
        value=value,
        rest=contribution - value,
        token=escape_markdown(tokens[most]),
    )
    show.figure(
        show.chart_of(figures.source_bars, tokens, values, _axis_title(request)),
        name=f"why-{request.run.request.model}-{layer}-{head}",
        key="why-sources",
        sentence=caption,
        table={"position": list(range(len(tokens))), "token": list(tokens), "added": values.tolist()},
    )


def _draw_ablation(request: form.TokenRequest, layer: int, head: int) -> None:
    """A switch that runs the model again without the head, and what that changes."""
    if not widgets.toggle(choices.SILENCE, _("Silence it, and run the model again")):
        return
    change = Rerun(parts.ablate_head, (request.parts.ids, request.parts.position, layer, head))
    after = model_cache.rerun_cached(request.run, change)
    changes = [
        _("{token} from {before:.1%} to {after:.1%}").format(
            token=escape_markdown(target.label), before=target.probability, after=share
        )
        for target, share in zip(request.parts.targets, after.shares, strict=True)
    ]
    contribution, total = float(request.parts.heads[layer, head]), request.parts.total
    template = (
        _(
            "Without head {layer}.{head}: {moved}. The logit goes from {before:.2f} to {after:.2f}: the head’s own "
            "{part:+.2f} is gone, and what other parts add changes by {rest:+.2f}."
        )
        if request.versus is None
        else _(
            "Without head {layer}.{head}: {moved}. The lead goes from {before:.2f} to {after:.2f}: the head’s own "
            "{part:+.2f} is gone, and what other parts add changes by {rest:+.2f}."
        )
    )
    st.markdown(
        template.format(
            layer=layer,
            head=head,
            moved=join_list(changes),
            before=total,
            after=after.total,
            part=contribution,
            rest=after.total - (total - contribution),
        )
    )
