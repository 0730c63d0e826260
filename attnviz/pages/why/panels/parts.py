"""Section 1: what every part adds, where the answer first appears, and one head of it."""

import math

import numpy as np
import streamlit as st

from attnviz.app import head_drawing, page_parts, show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.links.choices import head_of
from attnviz.app.panel import guard
from attnviz.app.text import plain, spoken
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, listed, say, sentences
from attnviz.canvas.shared.kinds import Options
from attnviz.engine import Rerun
from attnviz.pages.why import choices
from attnviz.pages.why.figures import parts as figures
from attnviz.pages.why.maths import parts
from attnviz.pages.why.panels import form


def panel() -> None:
    """Draw the section."""
    place = page_parts.main_picture()
    asked = form.ask()
    if asked is None:
        return
    at = _one_of_the_heads(asked)
    left, right = place.columns([1.9, 1], gap="small")
    with left:
        _ladder(asked, at)
    with right:
        _lens(asked)
    with guard():
        _head(asked, at)
    box = st.expander(_("All parts, the largest first"), key="why-all", on_change="rerun")
    if box.open:
        rows = asked.parts.parts
        added = [f"{Rounded(each.value):+.4f}" for each in rows]
        box.dataframe({_("part"): [say(each.name) for each in rows], _unit(asked): added}, hide_index=True)


def _one_of_the_heads(asked: form.Asked) -> tuple[int, int]:
    """The choice of a head, for those who cannot click a bar, the largest first."""
    heads, strongest = asked.parts.by_head, "{}.{}".format(*asked.parts.strongest)
    return head_of(
        widgets.one_of(choices.AT, _("Head (layer.head)"), heads, usual=strongest, style="select", width=220)
    )


def _ladder(asked: form.Asked, at: tuple[int, int]) -> None:
    made = asked.parts
    heads, mlps = float(np.nansum(made.heads)), float(made.mlps.sum())
    said = _(
        "{answer} Heads add {heads:+.2f}, MLPs {mlps:+.2f}, the rest {rest:+.2f}; head {layer}.{head} adds most: "
        "{value:+.2f}."
    )
    layer, head = made.strongest
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
            figures.ladder,
            made.heads,
            made.mlps,
            [(say(each.name), each.value) for each in made.others],
            at,
            title=form.title(asked),
            unit=_unit(asked),
        ),
        name=f"why-{asked.run.request.model}",
        key="why-parts",
        words=words if made.linearised is None else sentences(words, spoken(made.linearised)),
        table=lambda: {
            "part": [say(each.name) for each in made.in_order],
            "layer": [each.layer for each in made.in_order],
            "head": [each.head for each in made.in_order],
            "added": [each.value for each in made.in_order],
        },
        on_pick=lambda number: link_state.put(choices.AT, f"{number // widest}.{number % widest}"),
    )


def _unit(asked: form.Asked) -> str:
    if asked.versus is None:
        return _("added to the logit of “{token}”").format(token=asked.parts.asked[0].label)
    token, versus = (each.label for each in asked.parts.asked)
    return _("added to the lead of “{token}” over “{versus}”").format(token=token, versus=versus)


def _answer(asked: form.Asked) -> str:
    """The answer in one sentence."""
    total, first = asked.parts.total, asked.parts.asked[0]
    if asked.versus is None:
        return _("The logit of **{token}** is {total:.2f}, its probability {share:.1%}.").format(
            token=asked.token, total=total, share=first.probability
        )
    template = (
        _("**{token}** leads **{versus}** by {lead:.2f} in logits: it is {times:,.3g} times as likely.")
        if total >= 0
        else _("**{token}** trails **{versus}** by {lead:.2f} in logits: it is {times:,.3g} times less likely.")
    )
    times = math.exp(min(abs(total), 700.0))
    return template.format(token=asked.token, versus=asked.versus, lead=abs(total), times=times)


def _lens(asked: form.Asked) -> None:
    made = asked.parts
    names = [each.label for each in made.asked]
    if made.first_seen is None:
        said = _("“{token}” comes first at no layer: it ends in place {place:,}.")
    else:
        said = _("If the model ended there, “{token}” would come next from the input of layer {layer} on.")
        if made.first_seen == len(made.ranks) - 1:
            said = _("Only after the last layer does “{token}” come first; one layer earlier it is number {before:,}.")
    show.figure(
        show.chart_of(
            figures.lens,
            made.ranks,
            made.lens,
            names,
            made.likeliest,
            len(made.others),
            title=_("What it would say if it ended at a layer"),
        ),
        name=f"logit-lens-{asked.run.request.model}",
        key="why-lens",
        words=said.format(
            token=asked.token, layer=made.first_seen, place=int(made.ranks[-1, 0]), before=int(made.ranks[-2, 0])
        ),
        table={"layer": list(range(len(made.ranks)))}
        | {f"place of {name}": made.ranks[:, n].tolist() for n, name in enumerate(names)}
        | {f"probability of {name}": made.lens[:, n].tolist() for n, name in enumerate(names)}
        | {"likeliest": list(made.likeliest)},
    )


def _head(asked: form.Asked, at: tuple[int, int]) -> None:
    """The head that is chosen: where it looks, which tokens its part came from, and the answer without it."""
    layer, head = at
    made = asked.parts
    left, right = st.columns(2, gap="medium")
    with left:
        matrix = head_drawing.unchanged(asked.run, asked.run.stacks[0], layer, head)
        title = head_drawing.whose(asked.run.name, layer, head)
        files = {
            "name": f"head-{asked.run.request.model}-layer{layer}-head{head}",
            "title": head_drawing.looks_at(matrix, made.position, title),
            "caption": sentences(title, asked.run.request.text),
        }
        keys = "why-head", "why-head-out"
        head_drawing.draw(matrix, title, Options(lines=False), keys, "why", files, made.position)
    with right:
        _sources(asked, layer, head)
        _silenced(asked, layer, head)
        if st.button(_("Open this head in the explorer"), icon=":material/arrow_forward:", key="why-explore"):
            page_parts.open_explorer(asked.run.request.model, asked.run.request.text, at)


def _sources(asked: form.Asked, layer: int, head: int) -> None:
    made, tokens = asked.parts, asked.run.stacks[0].keys.labels
    values = made.sources[layer, head]
    most = int(np.abs(values).argmax())
    words = _("Of the {part:+.2f} that head {layer}.{head} adds, {value:+.2f} comes from “{token}”.").format(
        part=made.heads[layer, head], layer=layer, head=head, value=values[most], token=plain(tokens[most])
    )
    show.figure(
        show.chart_of(figures.sources, tokens, values, _unit(asked)),
        name=f"why-{asked.run.request.model}-{layer}-{head}",
        key="why-sources",
        words=words,
        table={"position": list(range(len(tokens))), "token": list(tokens), "added": values.tolist()},
    )


def _silenced(asked: form.Asked, layer: int, head: int) -> None:
    """A switch that runs the model again without the head, and what that changes."""
    if not widgets.toggle(choices.SILENCE, _("Silence it, and run the model again")):
        return
    change = Rerun(parts.without_head, (asked.parts.ids, asked.parts.position, layer, head))
    after = model_cache.cached_rerun(asked.run, change)
    moved = [
        _("{token} from {before:.1%} to {after:.1%}").format(
            token=plain(each.label), before=each.probability, after=share
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
            moved=listed(moved),
            before=total,
            after=after.total,
            part=part,
            rest=after.total - (total - part),
        )
    )
