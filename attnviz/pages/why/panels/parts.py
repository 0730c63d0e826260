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
    place = page_parts.main_picture()
    asked = form.draw_form()
    heads, strongest = asked.parts.by_head, "{}.{}".format(*asked.parts.strongest)
    # for those who cannot click a bar
    at = parse_head(
        widgets.select_one(choices.AT, _("Head (layer.head)"), heads, usual=strongest, style="select", width=220)
    )
    left, right = place.columns([1.9, 1], gap="small")
    with left:
        _ladder(asked, at)
    with right:
        _lens(asked)
    with show_problems():
        _head(asked, at)
    box = st.expander(_("All parts, the largest first"), key="why-all", on_change="rerun")
    if box.open:
        rows = asked.parts.parts
        added = [f"{Rounded(each.value):+.4f}" for each in rows]
        box.dataframe(
            {_("part"): [translate_message(each.name) for each in rows], _unit(asked): added}, hide_index=True
        )


def _ladder(asked: form.TokenRequest, at: tuple[int, int]) -> None:
    made = asked.parts
    heads, mlps = float(np.nansum(made.heads)), float(made.mlps.sum())
    layer, head = made.strongest
    said = (
        _(
            "{answer} Heads add {heads:+.2f}, MLPs {mlps:+.2f}, the rest {rest:+.2f}; head {layer}.{head} adds most: "
            "{value:+.2f}."
        )
        if made.heads[layer, head] > 0
        else _("{answer} Heads add {heads:+.2f}, MLPs {mlps:+.2f}, the rest {rest:+.2f}; no head adds to it.")
    )
    words = said.format(
        answer=_answer(asked),
        heads=heads,
        mlps=mlps,
        rest=made.total - heads - mlps,
        layer=layer,
        head=head,
        value=made.heads[layer, head],
    )
    widest = made.heads.shape[1]
    show.figure(
        show.chart_of(
            figures.parts_ladder,
            made.heads,
            made.mlps,
            [(translate_message(each.name), each.value) for each in made.others],
            at,
            title=form.sentence_title(asked),
            unit=_unit(asked),
        ),
        name=f"why-{asked.run.request.model}",
        key="why-parts",
        words=words if made.linearised is None else join_sentences(words, translate_markdown(made.linearised)),
        table=lambda: {
            "part": [translate_message(each.name) for each in made.in_order],
            "layer": [each.layer for each in made.in_order],
            "head": [each.head for each in made.in_order],
            "added": [each.value for each in made.in_order],
        },
        on_pick=lambda number: link_state.put(choices.AT, f"{number // widest}.{number % widest}"),
    )


def _unit(asked: form.TokenRequest) -> str:
    if asked.versus is None:
        return _("added to the logit of “{token}”").format(token=asked.parts.asked[0].label)
    token, versus = (each.label for each in asked.parts.asked)
    return _("added to the lead of “{token}” over “{versus}”").format(token=token, versus=versus)


def _answer(asked: form.TokenRequest) -> str:
    """The answer in one sentence."""
    total, first = asked.parts.total, asked.parts.asked[0]
    if asked.versus is None:
        return _("The logit of **{token}** is {total:.2f}, its probability {share:.1%}.").format(
            token=asked.token, total=total, share=first.probability
        )
    if abs(total) < EVEN:
        return _("**{token}** and **{versus}** have the same logit: they are equally likely.").format(
            token=asked.token, versus=asked.versus
        )
    template = (
        _("**{token}** leads **{versus}** by {lead:.2f} in logits: it is {times:,.3g} times as likely.")
        if total > 0
        else _("**{token}** trails **{versus}** by {lead:.2f} in logits: it is {times:,.3g} times less likely.")
    )
    times = math.exp(min(abs(total), 700.0))
    return template.format(token=asked.token, versus=asked.versus, lead=abs(total), times=times)


def _lens(asked: form.TokenRequest) -> None:
    made = asked.parts
    names = [each.label for each in made.asked]
    show.figure(
        show.chart_of(
            figures.lens_curves,
            made.ranks,
            made.lens,
            names,
            made.likeliest,
            len(made.others),
            title=_("What it would say if it ended at a layer"),
        ),
        name=f"logit-lens-{asked.run.request.model}",
        key="why-lens",
        words=lens_caption(made, asked.token),
        table={"layer": list(range(len(made.ranks)))}
        | {f"place of {name}": made.ranks[:, n].tolist() for n, name in enumerate(names)}
        | {f"probability of {name}": made.lens[:, n].tolist() for n, name in enumerate(names)}
        | {"likeliest": list(made.likeliest)},
    )


def lens_caption(made: parts.Parts, token: str) -> str:
    """Where the token comes first and stays so, and where it came first and lost it."""
    since = made.first_to_the_end
    lost = [at for at in made.first_at if since is None or at < since]
    if since is None:
        said = (
            _("“{token}” ends in place {place:,}, though it comes first at the input of layer {lost}.")
            if lost
            else _("“{token}” comes first at no layer: it ends in place {place:,}.")
        )
    elif since < len(made.ranks) - 1:
        said = (
            _(
                "If the model ended there, “{token}” would come next from the input of layer {layer} on, and at that "
                "of layer {lost}, where it is lost again."
            )
            if lost
            else _("If the model ended there, “{token}” would come next from the input of layer {layer} on.")
        )
    else:
        said = (
            _(
                "After the last layer “{token}” comes first; one layer earlier it is number {before:,}. It came first "
                "at the input of layer {lost}, too, and lost it."
            )
            if lost
            else _("Only after the last layer does “{token}” come first; one layer earlier it is number {before:,}.")
        )
    place, before = (int(made.ranks[at, 0]) for at in (-1, -2))
    return said.format(token=token, layer=since, lost=join_list(_ranges(lost)), place=place, before=before)


def _ranges(numbers: Sequence[int]) -> list[str]:
    """Rising numbers as "3" and "5–8"."""
    runs = [[n for _at, n in run] for _key, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return [f"{run[0]}–{run[-1]}" if run[0] < run[-1] else str(run[0]) for run in runs]


def _head(asked: form.TokenRequest, at: tuple[int, int]) -> None:
    """The head that is chosen: where it looks, which tokens its part came from, and the answer without it."""
    left, right = st.columns(2, gap="medium")
    with left:
        head_drawing.draw(asked.run, at, ("why-head", "why-head-out"), "why", row=asked.parts.position)
    with right:
        _sources(asked, *at)
        _silenced(asked, *at)
        if st.button(_("Open this head in the explorer"), icon=":material/arrow_forward:", key="why-explore"):
            page_parts.open_explorer(asked.run.request.model, asked.run.request.text, at)


def _sources(asked: form.TokenRequest, layer: int, head: int) -> None:
    made, tokens = asked.parts, asked.run.stacks[0].keys.labels
    values = made.sources[layer, head]
    most = int(np.abs(values).argmax())
    part, value = float(made.heads[layer, head]), float(values[most])
    said = (
        _("Head {layer}.{head} adds {part:+.2f}: {value:+.2f} comes from “{token}”, {rest:+.2f} from all other tokens.")
        if len(tokens) > 1
        else _("Head {layer}.{head} adds {part:+.2f}, all of it from “{token}”, the only token.")
    )
    words = said.format(
        layer=layer, head=head, part=part, value=value, rest=part - value, token=escape_markdown(tokens[most])
    )
    show.figure(
        show.chart_of(figures.source_bars, tokens, values, _unit(asked)),
        name=f"why-{asked.run.request.model}-{layer}-{head}",
        key="why-sources",
        words=words,
        table={"position": list(range(len(tokens))), "token": list(tokens), "added": values.tolist()},
    )


def _silenced(asked: form.TokenRequest, layer: int, head: int) -> None:
    """A switch that runs the model again without the head, and what that changes."""
    if not widgets.toggle(choices.SILENCE, _("Silence it, and run the model again")):
        return
    change = Rerun(parts.ablate_head, (asked.parts.ids, asked.parts.position, layer, head))
    after = model_cache.rerun_cached(asked.run, change)
    moved = [
        _("{token} from {before:.1%} to {after:.1%}").format(
            token=escape_markdown(each.label), before=each.probability, after=share
        )
        for each, share in zip(asked.parts.asked, after.shares, strict=True)
    ]
    part, total = float(asked.parts.heads[layer, head]), asked.parts.total
    template = (
        _(
            "Without head {layer}.{head}: {moved}. The logit goes from {before:.2f} to {after:.2f}: the head’s own "
            "{part:+.2f} is gone, and what other parts add changes by {rest:+.2f}."
        )
        if asked.versus is None
        else _(
            "Without head {layer}.{head}: {moved}. The lead goes from {before:.2f} to {after:.2f}: the head’s own "
            "{part:+.2f} is gone, and what other parts add changes by {rest:+.2f}."
        )
    )
    st.markdown(
        template.format(
            layer=layer,
            head=head,
            moved=join_list(moved),
            before=total,
            after=after.total,
            part=part,
            rest=after.total - (total - part),
        )
    )
