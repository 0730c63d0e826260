"""What can be saved: the light over a picture as a figure, its numbers as a table, the view with its picture."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attnviz.app import show
from attnviz.app.links import shared_view
from attnviz.base.words import _, language, say, sentences, speaking
from attnviz.canvas.patch_view import PatchChoices, PatchScene, live_scene
from attnviz.live import patch_page
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.pictures.figures import LitRow, PatchPicture
from attnviz.pages.pictures.maths.patch_measures import head_maps, weights_under
from attnviz.pages.pictures.maths.picture_record import HeadChange, PatchStack, PictureRun
from attnviz.pages.pictures.panels import picture_answer, picture_cache, picture_input, picture_scene
from attnviz.pages.pictures.panels.picture_cache import ChosenPicture

LONGEST_LINK = 2000  #: characters of an address that a file still offers


def under(
    loaded: LoadedModel,
    picture: ChosenPicture,
    run: PictureRun,
    stack: PatchStack,
    scene: PatchScene,
    chosen: PatchChoices,
    change: HeadChange,
) -> None:
    """The export menus below the view."""
    name = f"attention-{run.model}-layer{chosen.layer}-head{chosen.head}"
    caption = caption_of(run, chosen, change)
    weights = partial(on_show, stack, scene, chosen)
    with show.line_under("patches-out"):
        show.export_menu(
            lambda: figure(run, stack, scene, chosen),
            name,
            "patches-out",
            lambda: table(stack, weights()),
            caption,
            live=_live(picture, run, scene, chosen, caption),
            embeds=True,
        )
        show.export_menu(
            lambda: all_heads(run, stack, scene.usual, chosen),
            f"{name}-all-heads",
            "patches-all",
            lambda: measures(loaded, picture, stack, scene),
            caption,
            _("Export all heads"),
        )
        if picture.file:
            st.download_button(
                _("Save the view with its picture"),
                data=partial(picture_input.view_with_picture, picture.file, picture_input.view_now()),
                file_name="attention-picture.json",
                mime="application/json",
                on_click="ignore",
                type="tertiary",
                icon=":material/save:",
                key="save-picture",
            )


def _live(
    picture: ChosenPicture, run: PictureRun, scene: PatchScene, chosen: PatchChoices, note: str
) -> list[show.LiveFile]:
    """The view as one file that stays alive without a server. A download runs in no session: all is taken down here."""
    link, spoken = (None if picture.own else shared_view.public_address(LONGEST_LINK)), language()
    title = _("{model} on a picture").format(model=run.name)

    def made() -> str:
        with speaking(spoken):
            return patch_page(live_scene(scene, chosen), title, note, link)

    return [show.LiveFile(_("Live HTML: picture and heads"), "-live", made)]


def weights_of(stack: PatchStack, chosen: PatchChoices) -> np.ndarray:
    """The head on show as it is on show, (Q, K): with what is hidden and with its scale."""
    every = weights_under(stack, chosen.layer, picture_scene.shown_under(stack, chosen))
    found: np.ndarray = every[chosen.head].cpu().numpy()
    return found


def on_show(stack: PatchStack, scene: PatchScene, chosen: PatchChoices) -> np.ndarray:
    """The rows that lie over the picture, (Q, K): of the head on show, of all layers, or through them."""
    of_layers = {"layers": scene.layers, "rollout": scene.rolled}.get(chosen.shows)
    found: np.ndarray = weights_of(stack, chosen) if of_layers is None else of_layers
    return found


def figure(run: PictureRun, stack: PatchStack, scene: PatchScene, chosen: PatchChoices) -> PatchPicture:
    """The picture as it is on show: each pinned row, else the usual one; the mean; or rows through the layers."""
    first, weights = stack.grid.first, on_show(stack, scene, chosen)
    titles = {
        "layers": _("All heads of all layers, their mean"),
        "rollout": _("Attention followed through layers 0 to {layer}"),
    }
    title = titles.get(chosen.shows, _("Layer {layer}, head {head}")).format(layer=chosen.layer, head=chosen.head)
    if chosen.shows == "mean":
        rows = weights if stack.words else weights[first:]
        lit = [LitRow(_("mean of all rows"), rows.mean(0)[first:])]
    else:
        lit = [
            LitRow(query_name(stack, at), weights[at, first:], None if stack.words or at < first else at - first)
            for at in chosen.pins or (scene.usual,)
        ]
    return PatchPicture(run.prepared.shown, (stack.grid.rows, stack.grid.columns), lit, chosen.hidden, title=title)


def all_heads(run: PictureRun, stack: PatchStack, usual: int, chosen: PatchChoices) -> PatchPicture:
    """The heads of the layer on show side by side as they are on show: the usual row, or the last pinned one."""
    first = stack.grid.first
    at = chosen.pins[-1] if chosen.pins else usual
    every = weights_under(stack, chosen.layer, picture_scene.shown_under(stack, chosen)).cpu().numpy()
    lit = [LitRow(_("head {head}").format(head=head), rows[at, first:]) for head, rows in enumerate(every)]
    title = _("Layer {layer}: {query}").format(layer=chosen.layer, query=query_name(stack, at))
    return PatchPicture(
        run.prepared.shown, (stack.grid.rows, stack.grid.columns), lit, chosen.hidden, title=title, side=200.0
    )


def query_name(stack: PatchStack, at: int) -> str:
    """What looks: a word, a patch or a special token."""
    if stack.words:
        return _("“{word}”").format(word=stack.words[at])
    return say(stack.grid.name(at))


def caption_of(run: PictureRun, chosen: PatchChoices, change: HeadChange) -> str:
    """Model, layer, head, what is changed in them, and what the colour means."""
    weights = {"trained": _("Trained weights."), "random": _("Random weights, never trained.")}
    parts = [
        _("{model}, layer {layer}, head {head}.").format(model=run.name, layer=chosen.layer, head=chosen.head),
        weights.get(run.weights_are, _("Weights as they are in the file.")),
        *([_("Changed: {what}.").format(what=picture_answer.what_changed(run, change))] if change else []),
        _("Light is the square root of the attention weight."),
    ]
    return sentences(*parts)


def table(stack: PatchStack, weights: np.ndarray) -> dict[str, Any]:
    """One line for each pair of query and key of the head on show."""
    queries, keys = np.indices(weights.shape)
    return {
        "query": [query_name(stack, at) for at in queries.ravel().tolist()],
        "key": [say(stack.grid.name(at)) for at in keys.ravel().tolist()],
        "weight": [f"{value:.6g}" for value in weights.ravel()],
    }


def measures(loaded: LoadedModel, picture: ChosenPicture, stack: PatchStack, scene: PatchScene) -> dict[str, Any]:
    """One line for each head with its measures."""
    maps = picture_cache.of_run(loaded, picture, ("maps", stack.id), partial(head_maps, stack))
    places = [(layer, head) for layer, count in enumerate(scene.heads) for head in range(count)]
    columns: dict[str, Any] = {"layer": [layer for layer, _h in places], "head": [head for _l, head in places]}
    named = {"distance_pixels": maps.distance, "entropy_share": maps.entropy, "class_token": maps.on_class}
    return columns | {
        name: [f"{value:.6g}" if np.isfinite(value) else "" for value in held] for name, held in named.items()
    }
