"""Section 1: what every part adds, one head of it, and where the answer first appears."""

import math
from collections.abc import Sequence
from itertools import groupby

import numpy as np
import streamlit as st

from attnviz.app import guess, head_drawing, page_parts, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.links.choices import head_name, parse_head
from attnviz.app.panel import show_problems
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.base.message import Message
from attnviz.base.words import _, join_list, join_sentences, translate_message
from attnviz.canvas.logit_flows import Flow, LogitFlowsFigure, logit_flows
from attnviz.engine import Rerun
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.why import choices, figures
from attnviz.pages.why.maths import parts
from attnviz.pages.why.panels import form

N_NAMED = 12  #: parts that have a flow of their own
EVEN = 0.005  #: a lead in logits that is written as 0.00


def panel() -> None:
    """Draw the section."""
    container = page_parts.main_picture()
    request = form.draw_form()
    heads, strongest = request.parts.by_head, "{}.{}".format(*request.parts.strongest)
    at = parse_head(
        widgets.select_one(choices.AT, _("Head (layer.head)"), heads, usual=strongest, style="select", width=220)
    )
    with container:
        _draw_flows(request, at)
    with show_problems():
        _draw_head(request, at)
    _draw_lens(request)


def flows_figure(
    before: parts.Parts, after: parts.Parts, at: tuple[int, int], prompt: str, title: str = ""
) -> LogitFlowsFigure:
    """Flows of the largest parts and of the chosen head, and of all others of each layer together."""
    values = [component.value for component in after.by_layer]
    named = {component.name for component in before.by_size[:N_NAMED]}
    named.add(Message("head {layer}.{head}", {"layer": at[0], "head": at[1]}))
    flows, rest = [], np.zeros((len(before.mlps) + 1, 2))
    for component, value in zip(before.by_layer, values, strict=True):
        layer, head = -1 if component.layer is None else component.layer, component.head
        if layer < 0 or component.name not in named:
            rest[layer + 1] += value, component.value
        elif head is None:
            flows.append(Flow(translate_message(component.name), "mlp", layer, value, component.value))
        else:
            flows.append(Flow(f"{layer}.{head}", "head", layer, value, component.value))
    flows += [Flow(f"rest {layer}", "rest", layer, *pair) for layer, pair in enumerate(rest.tolist(), -1)]
    token, versus, *_none = (*(target.label.strip() or target.label for target in before.targets), None, None)
    cut = after is not before
    return LogitFlowsFigure(flows, len(before.mlps), (token or "", versus), prompt, "{}.{}".format(*at), cut, title)


def _draw_flows(request: form.TokenRequest, at: tuple[int, int]) -> None:
    before, after = request.parts, request.parts
    if link_state.value(choices.SILENCE):
        after = model_cache.rerun_cached(request.run, Rerun(parts.run, (request.question, at)))
    heads, mlps = float(np.nansum(before.heads)), float(before.mlps.sum())
    caption = _("{answer} Heads add {heads:+.2f}, MLPs {mlps:+.2f}, the rest {rest:+.2f}.").format(
        answer=_describe_answer(request), heads=heads, mlps=mlps, rest=before.total - heads - mlps
    )
    if after is not before:
        caption = _describe_ablation(request, after, *at)
    if before.linearised is not None:
        caption = join_sentences(caption, translate_markdown(before.linearised))
    figure = flows_figure(before, after, at, form.sentence_tail(request), form.sentence_title(request))
    logit_flows(
        "why-flows",
        figure,
        on_cut=lambda cut: link_state.set_many({choices.AT: cut[0], choices.SILENCE: cut[1]}),
    )
    _ask(request, at)
    show.footer(
        SceneFigure((figure,), figure.title, film=figure),
        name=f"why-{request.run.request.model}",
        key="why-parts",
        canvas=show.live_canvas("why-flows"),
        table=lambda: {
            "part": [translate_message(component.name) for component in before.by_layer],
            "layer": [component.layer for component in before.by_layer],
            "head": [component.head for component in before.by_layer],
            "added": [component.value for component in after.by_layer],
        },
        sentence=caption,
    )


def _ask(request: form.TokenRequest, at: tuple[int, int]) -> None:
    """Ask what is lost without the chosen head; the answer cuts it.

    Not of a head that adds nothing, nor of one that is cut already: the answer is on show.
    """
    name, added = head_name(at), float(request.parts.heads[at])
    if abs(added) < EVEN or (link_state.value(choices.SILENCE) and guess.asked_about(choices.GUESS) != name):
        return

    def rerun() -> tuple[str, str]:
        total = model_cache.rerun_cached(request.run, Rerun(parts.run, (request.question, at))).total
        lost = request.parts.total - total
        template = (
            _("Without head {head} the logit loses {lost:+.2f}; the head itself added {added:+.2f}.")
            if request.versus is None
            else _("Without head {head} the lead loses {lost:+.2f}; the head itself added {added:+.2f}.")
        )
        return parts.compare_loss(lost, added), template.format(head=name, lost=lost, added=added)

    question = (
        _("Head {head} adds {added:+.2f} to the logit. Cut it: how much is lost?")
        if request.versus is None
        else _("Head {head} adds {added:+.2f} to the lead. Cut it: how much is lost?")
    )
    guess.ask(
        choices.GUESS,
        question.format(head=name, added=added),
        {"less": _("Less: others make up"), "same": _("Just that, within 10%"), "more": _("More: others lose, too")},
        rerun,
        about=name,
        shows=lambda answered: {choices.AT: name, choices.SILENCE: answered},
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
            title=_("What it would say if it ended at a layer"),
        ),
        name=f"logit-lens-{request.run.request.model}",
        key="why-lens",
        sentence=join_sentences(
            lens_caption(attribution, request.token),
            _("At the right edge stands what comes first there, where that changes; ␣ is a space."),
        ),
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


def _describe_ablation(request: form.TokenRequest, after: parts.Parts, layer: int, head: int) -> str:
    """What the model says without the head."""
    changes = [
        _("{token} from {before:.1%} to {after:.1%}").format(
            token=escape_markdown(target.label), before=target.probability, after=now.probability
        )
        for target, now in zip(request.parts.targets, after.targets, strict=True)
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
    return template.format(
        layer=layer,
        head=head,
        moved=join_list(changes),
        before=total,
        after=after.total,
        part=contribution,
        rest=after.total - (total - contribution),
    )
