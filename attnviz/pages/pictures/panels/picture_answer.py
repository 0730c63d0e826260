"""What a model says of a picture, and beside it what it says under a change, in words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.guarding import show_problem
from attnviz.app.text import plain, quoted
from attnviz.base.message import Problem
from attnviz.base.words import _, listed, say
from attnviz.canvas.patch_view import PatchScene
from attnviz.figures.attention_figures import side_by_side
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.pictures import choices
from attnviz.pages.pictures.maths.patch_measures import head_maps, received
from attnviz.pages.pictures.maths.picture_record import HeadChange, PatchStack, PictureAnswer, PictureRun, TextTower
from attnviz.pages.pictures.maths.picture_run import rerun
from attnviz.pages.pictures.panels import picture_cache
from attnviz.pages.pictures.panels.picture_cache import ChosenPicture


def answer_under(loaded: LoadedModel, picture: ChosenPicture, run: PictureRun, change: HeadChange) -> PictureAnswer:
    """What the model says under a change, asked once."""
    if not change:
        return run.answer
    return picture_cache.of_run(loaded, picture, change, lambda: rerun(loaded, run, change)[0], reruns=True)


def draw(loaded: LoadedModel, picture: ChosenPicture, run: PictureRun, change: HeadChange) -> None:
    """What the model says, and beside it what it says under the change."""
    if not run.answer.words:
        st.markdown(_("This model gives no names: it turns a picture into vectors. Its heads can be looked at."))
        return
    words = _written(run.answer)
    if not change:
        if len(run.answer.words) > 1:
            st.markdown(
                _("The model writes **{said}** and is {share} sure.").format(said=words, share=_share(run.answer))
            )
        else:
            st.markdown(
                _("The model says **{said}** and is {share} sure. Next: {others}.").format(
                    said=words, share=_share(run.answer), others=_others(run.answer)
                )
            )
        return
    try:
        after = answer_under(loaded, picture, run, change)
    except Problem as problem:  # what cannot be done to a model is no reason to take its heads away
        show_problem(problem)
        return
    if after.said != run.answer.said:
        template = _("With {what}: **{after}** ({share_after}). Without the change: **{before}** ({share_before}).")
    elif _share(after) != _share(run.answer):
        template = _("With {what} it is still **{after}** ({share_after}); without the change {share_before}.")
    else:
        template = _("With {what} it is still **{after}** ({share_after}), as without the change, to 0.1%.")
    st.markdown(
        template.format(
            what=what_changed(run, change),
            after=_written(after),
            share_after=_share(after),
            before=words,
            share_before=_share(run.answer),
        )
    )


def what_changed(run: PictureRun, change: HeadChange) -> str:
    """The change in words."""
    parts = []
    if change.hidden:
        of = run.stacks[0].grid.patches
        parts.append(_("{count} of {of} patches hidden").format(count=len(change.hidden), of=of))
    if change.silenced:
        heads = listed(f"{layer}.{head}" for _name, layer, head in change.silenced)
        parts.append(_("silenced heads {heads}").format(heads=heads))
    if change.factor != 1.0:
        at = f"{change.head[1]}.{change.head[2]}"
        parts.append(_("the scale of head {head} times {factor:g}").format(head=at, factor=change.factor))
    return listed(parts)


def _written(answer: PictureAnswer) -> str:
    words = [word for word in answer.words if not (word.startswith("<") and word.endswith(">"))]
    return plain(" ".join(words)) if words else _("nothing")


def _share(answer: PictureAnswer) -> str:
    share = answer.share
    return "99.9%" if 0.9995 <= share < 1 else f"{share:.1%}"


def _others(answer: PictureAnswer) -> str:
    return listed(f"{plain(word)} {share:.1%}" for word, share in answer.others[1:3])


# Sentences with this picture's own numbers: how far its heads look, which tokens are given most.
MOST_NAMED = 6  #: outliers that a sentence names, those that are given most


def draw_facts(loaded: LoadedModel, picture: ChosenPicture, stack: PatchStack, scene: PatchScene, layer: int) -> None:
    """One sentence about all heads, one about tokens that are no patches, one about outliers."""
    st.markdown(_about_heads(loaded, picture, stack, scene))
    shares = picture_cache.of_run(loaded, picture, ("received", stack.id, layer), partial(received, stack, layer))
    first = stack.grid.first
    if first and not stack.words:
        said = _("Tokens that are no patches are given, in layer {layer} on average: {tokens}.")
        st.caption(said.format(layer=layer, tokens=_given(stack, shares, range(first))))
    if scene.sinks:
        st.caption(_outliers(stack, shares, scene.sinks, layer))


def _about_heads(loaded: LoadedModel, picture: ChosenPicture, stack: PatchStack, scene: PatchScene) -> str:
    maps = picture_cache.of_run(loaded, picture, ("maps", stack.id), partial(head_maps, stack))
    names = [f"{layer}.{head}" for layer, count in enumerate(scene.heads) for head in range(count)]
    if stack.words:
        narrow = int(maps.entropy.argmin())
        said = _("Head {head} decides most clearly where to look: it spreads over {share:.0%} of what it could.")
        return said.format(head=names[narrow], share=maps.entropy[narrow])
    near, far = int(maps.distance.argmin()), int(maps.distance.argmax())
    said = _("Head {near} looks nearest, {least:.1f} pixels on average, head {far} farthest, {most:.1f}.")
    return said.format(near=names[near], least=maps.distance[near], far=names[far], most=maps.distance[far])


def _outliers(stack: PatchStack, shares: np.ndarray, patches: tuple[int, ...], layer: int) -> str:
    if len(patches) > MOST_NAMED:
        said = _(
            "Outliers in layer {layer}, with an orange corner: {count} patches, most of all {patches}. Each is given "
            "more than five times what the median patch is given."
        )
    else:
        said = _(
            "Outliers in layer {layer}, with an orange corner: {patches}. Each is given more than five times what the "
            "median patch is given."
        )
    tokens = [stack.grid.first + patch for patch in patches]
    most = sorted(tokens, key=lambda token: -shares[token])[:MOST_NAMED]
    return said.format(layer=layer, count=len(patches), patches=_given(stack, shares, most))


def _given(stack: PatchStack, shares: np.ndarray, tokens: Iterable[int]) -> str:
    """Tokens by name, each with the share that it is given."""
    told = _("{token} ({share})")
    return listed(told.format(token=say(stack.grid.name(at)), share=f"{shares[at]:.1%}") for at in tokens)


# The other tower of a model that compares pictures with descriptions: which word of one looks at which.
MOST_TOKENS = 24  #: shown of a description; SigLIP fills each up to 64


def draw_text_tower(tower: TextTower) -> None:
    """Draw one head of the tower that reads the descriptions."""
    st.subheader(_("The tower that reads"), anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = {str(at): plain(name) for at, name in enumerate(tower.names)}
        which = int(widgets.one_of(choices.DESCRIPTION, _("Description"), names, style="select"))
        layers = len(tower.layers)
        layer = int(widgets.number(choices.TEXT_LAYER, _("Layer"), step=1, high=layers - 1, width=120))
        heads = tower.layers[layer].n_heads
        head = int(widgets.number(choices.TEXT_HEAD, _("Head"), step=1, high=heads - 1, width=120))
    words = tower.tokens[which][:MOST_TOKENS]
    whole = tower.layers[layer].weights(head)[which, 0].float().cpu().numpy()
    weights = whole[: len(words), : len(words)]
    row, column = np.unravel_index(int(np.where(np.eye(len(words)) > 0, -1, weights).argmax()), weights.shape)
    at = [(q, k) for q in range(len(words)) for k in range(len(words))]
    show.figure(
        side_by_side([(_("Layer {layer}, head {head}").format(layer=layer, head=head), weights)], words, words),
        name=f"text-tower-layer{layer}-head{head}",
        key="pic_text_tower",
        table={
            "query": [words[q] for q, _k in at],
            "key": [words[k] for _q, k in at],
            "weight": [f"{weights[q, k]:.6g}" for q, k in at],
        },
        words=_("Beside itself, {query} looks most at {key} ({share}) of all pairs in this head.").format(
            query=quoted(words[int(row)]), key=quoted(words[int(column)]), share=f"{weights[row, column]:.0%}"
        ),
    )
