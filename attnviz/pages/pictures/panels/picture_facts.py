"""Sentences with this picture's own numbers: how far its heads look, which tokens are given most."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
import streamlit as st

from attnviz.base.words import _, listed, say
from attnviz.canvas.patch_view import PatchScene
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.pictures.maths.patch_measures import head_maps, received
from attnviz.pages.pictures.maths.picture_record import PatchStack
from attnviz.pages.pictures.panels import picture_cache
from attnviz.pages.pictures.panels.picture_cache import ChosenPicture

MOST_NAMED = 6  #: outliers that a sentence names, those that are given most


def draw(loaded: LoadedModel, picture: ChosenPicture, stack: PatchStack, scene: PatchScene, layer: int) -> None:
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
