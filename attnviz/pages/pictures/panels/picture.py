"""The view of a picture with its heads and changes, and its exports."""

from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import streamlit as st

from attnviz.app import head_drawing, show, widgets
from attnviz.app.links import link_state
from attnviz.app.links.choices import head_name
from attnviz.app.panel import show_notices
from attnviz.app.text import escape_markdown, translate_markdown
from attnviz.base.words import _, join_sentences, translate_message
from attnviz.canvas.patch_view import (
    PatchChoices,
    PatchFigure,
    PatchHeadsFigure,
    PatchRows,
    PatchScene,
    patch_view,
)
from attnviz.canvas.shared import packing
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.catalogue import LoadedModel
from attnviz.models.pictures import PatchGrid, model_card
from attnviz.pages.pictures import choices
from attnviz.pages.pictures.maths.patch_measures import program, weights_with_change
from attnviz.pages.pictures.maths.picture_record import (
    STAGES,
    HeadChange,
    PatchStack,
    PictureRun,
    PictureStack,
    coarsen_patches,
    refine_patches,
)
from attnviz.pages.pictures.panels import picture_answer, picture_cache, picture_input


def draw(loaded: LoadedModel, picture: picture_cache.ChosenPicture) -> None:
    """Draw everything about one picture."""
    run = picture_cache.picture_run(loaded, picture)
    show_notices(run.notices)
    stack = _choose_stack(run)
    chosen = chosen_view(run, stack)
    change = picture_cache.displayed_change(stack, chosen)
    scene = picture_cache.patch_scene(loaded, picture, run, stack, change, chosen.order)
    digits = picture_input.count_digits(loaded)
    scene = replace(scene, pads=digits if picture.name.startswith(("digits", picture_input.EMPTY)) else 0)
    chosen = scene.existing_choices(chosen)
    change = chosen_change(run, stack, chosen)
    scene = replace(scene, answer=picture_answer.draw(loaded, picture, run, change))
    # digits of one model are one document: a pen goes on while the picture becomes another
    of = () if scene.pads else picture.cache_key
    document = packing.fingerprint(*of, run.model, loaded.version, stack.id)
    picture_answer.ask(loaded, picture, run, stack, change)
    patch_view("patches", document, scene, chosen, partial(_store_choices, run.stacks[0].grid, stack))
    _draw_export_menus(loaded, picture, run, stack, scene, chosen, change)
    picture_answer.draw_facts(loaded, picture, stack, scene, chosen.layer)
    if run.texts is not None:
        picture_answer.draw_text_tower(run.texts)
    picture_answer.draw_smallest(loaded, picture, run)
    if about := model_card(loaded.entry.id):
        st.caption(translate_markdown(about))
    if loaded.entry.shipped:
        _draw_program(run, stack, chosen.pins[-1] if chosen.pins else scene.usual, change)


def _draw_program(run: PictureRun, stack: PatchStack, query: int, change: HeadChange) -> None:
    """Draw the program that prints the answer and one row of the selected head."""
    if change:
        about = _(
            "Paste this code into a notebook: it prints the answer with the change and without it, and one row of this "
            "head as it is changed: {query}."
        )
    else:
        about = _("Paste this code into a notebook: it prints the answer, and one row of this head: {query}.")
    show.program(
        partial(program, run, query, change),
        "pictures",
        about=about.format(query=escape_markdown(query_name(stack, query))),
    )


def _choose_stack(run: PictureRun) -> PatchStack:
    """Draw the choice of a stack, if there are several."""
    if len(run.stacks) == 1:
        return run.stacks[0]
    names = {"words": _("Words look at patches"), "picture": _("Patches look at patches")}
    if run.windows:
        names = {
            stack.id: _("Stage {number}: {rows} × {columns} patches").format(
                number=STAGES.index(stack.id) + 1, rows=stack.grid.rows, columns=stack.grid.columns
            )
            for stack in run.stacks
        }
    return run.stack(widgets.select_one(choices.STACK, _("Attention"), names, label_visibility="collapsed"))


def chosen_view(run: PictureRun, stack: PatchStack) -> PatchChoices:
    """Choices in the link for this stack."""
    _leave_out_what_is_not_there(run)
    silenced = tuple((layer, head) for name, layer, head in link_state.value(choices.SILENCED) if name == stack.id)
    layer = widgets.limit_choice(choices.LAYER, len(stack.layers) - 1)
    order = link_state.value(choices.ORDER)
    return PatchChoices(
        layer,
        widgets.limit_choice(choices.HEAD, stack.layers[layer].n_heads - 1),
        link_state.value(choices.PINS),
        coarsen_patches(link_state.value(choices.HIDDEN), run.stacks[0].grid, stack.grid),
        silenced,
        link_state.value(choices.FACTOR),
        cast(PatchRows, link_state.value(choices.SHOWS)),
        link_state.value(choices.DRAWINGS) if link_state.value(choices.SOURCE) == "draw" else None,
        order if order in picture_cache.existing_orders(stack) else "place",
    )


def _leave_out_what_is_not_there(run: PictureRun) -> None:
    """Leave out silenced heads and hidden patches of the link that this model has not, and tell the visitor."""
    widgets.selected_options(choices.HIDDEN, range(run.stacks[0].grid.patches))
    stacks, silenced = {stack.id: stack for stack in run.stacks}, link_state.value(choices.SILENCED)
    kept = tuple(head for head in silenced if head[0] not in stacks or stacks[head[0]].has_head(*head[1:]))
    if kept != silenced:
        lost = [head_name(head[1:]) for head in silenced if head not in kept]
        link_state.omit_items(choices.SILENCED, kept, lost)


def _store_choices(fine: PatchGrid, stack: PatchStack, chosen: PatchChoices) -> None:
    """Store the choices of the view in the link. Hidden patches are stored on the finest grid."""
    other_stacks = tuple(head for head in link_state.value(choices.SILENCED) if head[0] != stack.id)
    hidden = link_state.value(choices.HIDDEN)
    if coarsen_patches(hidden, fine, stack.grid) != chosen.hidden:  # else parts of a coarse patch stay as they are
        hidden = refine_patches(chosen.hidden, fine, stack.grid)
    source, drawings = link_state.value(choices.SOURCE), chosen.drawings
    link_state.set_many(
        {
            choices.SOURCE: "draw" if drawings is not None else "digits" if source == "draw" else source,
            choices.DRAWINGS: link_state.value(choices.DRAWINGS) if drawings is None else drawings,
            choices.LAYER: chosen.layer,
            choices.HEAD: chosen.head,
            choices.PINS: chosen.pins,
            choices.HIDDEN: hidden,
            choices.SILENCED: other_stacks + tuple((stack.id, layer, head) for layer, head in chosen.silenced),
            choices.FACTOR: chosen.factor,
            choices.SHOWS: chosen.shows,
            choices.ORDER: chosen.order,
        }
    )


def chosen_change(run: PictureRun, stack: PatchStack, chosen: PatchChoices) -> HeadChange:
    """The change of the model: hidden patches, silenced heads and the scale, on all stacks."""
    silenced: list[tuple[PictureStack, int, int]] = [(stack.id, layer, head) for layer, head in chosen.silenced]
    silenced += [
        (candidate.id, layer, head)
        for candidate in run.stacks
        for name, layer, head in link_state.value(choices.SILENCED)
        if candidate.id == name != stack.id and candidate.has_head(layer, head)
    ]
    return HeadChange(
        link_state.value(choices.HIDDEN), tuple(silenced), chosen.factor, (stack.id, chosen.layer, chosen.head)
    )


def _draw_export_menus(
    loaded: LoadedModel,
    picture: picture_cache.ChosenPicture,
    run: PictureRun,
    stack: PatchStack,
    scene: PatchScene,
    chosen: PatchChoices,
    change: HeadChange,
) -> None:
    """Draw the export menus below the view."""
    name = f"attention-{run.model}-layer{chosen.layer}-head{chosen.head}"
    caption = _caption(run, chosen, change)
    with show.caption_line("patches-out"):
        show.save_menu(
            lambda: picture_figure(run, stack, scene, chosen),
            name,
            "patches-out",
            lambda: pair_table(stack, displayed_rows(stack, scene, chosen)),
            caption,
            embeds=True,
            canvas=show.live_canvas("patches", linked=not picture.is_own),
        )
        show.save_menu(
            lambda: heads_figure(run, stack, scene, chosen),
            f"{name}-all-heads",
            "patches-all",
            lambda: _measures_table(loaded, picture, stack, scene),
            join_sentences(caption, _("In each small picture the largest weight fills its patch.")),
            _("Save all heads"),
        )
        if picture.file:
            st.download_button(
                _("Save the view with its picture"),
                data=partial(picture_input.view_with_picture, picture.file, link_state.save()),
                file_name="attention-picture.json",
                mime="application/json",
                on_click="ignore",
                type="tertiary",
                icon=":material/save:",
                key="save-picture",
            )


def displayed_weights(stack: PatchStack, chosen: PatchChoices) -> np.ndarray:
    """Displayed weights (H, Q, K) of the selected layer, with hidden patches and the changed scale."""
    return weights_with_change(stack, chosen.layer, picture_cache.displayed_change(stack, chosen)).cpu().numpy()


def displayed_rows(stack: PatchStack, scene: PatchScene, chosen: PatchChoices) -> np.ndarray:
    """Displayed rows (Q, K): of the selected head, the mean of all layers, or their rollout."""
    of_layers = {"layers": scene.layers, "rollout": scene.rollout}.get(chosen.shows)
    return displayed_weights(stack, chosen)[chosen.head] if of_layers is None else of_layers


def picture_figure(run: PictureRun, stack: PatchStack, scene: PatchScene, chosen: PatchChoices) -> SceneFigure:
    """Figure of the displayed rows: pinned rows, the default row, or the mean row."""
    first, weights = stack.grid.first, displayed_rows(stack, scene, chosen)
    titles = {
        "layers": _("All heads of all layers, their mean"),
        "rollout": _("Attention followed through layers 0 to {layer}"),
    }
    whose = head_drawing.head_owner(run.name, chosen.layer, chosen.head)
    if chosen.shows == "mean":
        rows = [(_("mean of all rows"), scene.usual, weights[0 if stack.query_tokens else first :].mean(0))]
    else:
        rows = [(query_name(stack, query), query, weights[query]) for query in chosen.pins or (scene.usual,)]
    name, _query, row = rows[0]
    most = translate_message(stack.grid.name(first + int(np.argmax(row[first:]))))
    looks = _("{query} looks most at {patch}: {whose}").format(query=name, patch=most, whose=whose)
    parts = [PatchFigure(scene, chosen, name, row, query) for name, query, row in rows]
    plain = PatchFigure(scene, chosen, _("The picture as the model gets it"), side=150)
    title = titles.get(chosen.shows, looks).format(layer=chosen.layer)
    return SceneFigure((*parts, plain), title[:1].upper() + title[1:])


def heads_figure(run: PictureRun, stack: PatchStack, scene: PatchScene, chosen: PatchChoices) -> SceneFigure:
    """Figure of all heads with the displayed row: the last pinned one, the default, or the mean."""
    query = chosen.pins[-1] if chosen.pins else scene.usual
    change = picture_cache.displayed_change(stack, chosen)
    layers = [weights_with_change(stack, layer, change).cpu().numpy() for layer in range(len(scene.heads))]
    if chosen.shows == "mean":
        first = 0 if stack.query_tokens else stack.grid.first
        rows = [heads[:, first:].mean(1) for heads in layers]
        title = _("The mean of all rows in each head: {model}").format(model=run.name)
    else:
        rows = [heads[:, query] for heads in layers]
        looks = query_name(stack, query)
        title = _("What {query} looks at in each head: {model}").format(query=looks, model=run.name)
    return SceneFigure((PatchHeadsFigure(scene, chosen, np.concatenate(rows)),), title)


def query_name(stack: PatchStack, at: int) -> str:
    """Name on screen of a query: a word, a patch or a special token."""
    return (
        _("“{word}”").format(word=stack.query_tokens[at])
        if stack.query_tokens
        else translate_message(stack.grid.name(at))
    )


def _caption(run: PictureRun, chosen: PatchChoices, change: HeadChange) -> str:
    """Caption of exports: model, layer, head, the change, and the meaning of the discs."""
    about = {
        "trained": _("This is layer {layer}, head {head} of {model}, with its trained weights."),
        "random": _("This is layer {layer}, head {head} of {model}, with random weights that were never trained."),
    }.get(run.weights_are, _("This is layer {layer}, head {head} of {model}, with the weights of its file."))
    return join_sentences(
        about.format(model=run.name, layer=chosen.layer, head=chosen.head),
        _("Changed: {what}.").format(what=picture_answer.change_sentence(run, change)) if change else "",
        _("A disc’s area is the attention weight."),
    )


def pair_table(stack: PatchStack, weights: np.ndarray) -> dict[str, Any]:
    """Table with one row for each pair of query and key."""
    queries, keys = np.indices(weights.shape)
    return {
        "query": [query_name(stack, at) for at in queries.ravel().tolist()],
        "key": [translate_message(stack.grid.name(at)) for at in keys.ravel().tolist()],
        "weight": [f"{value:.6g}" for value in weights.ravel()],
    }


def _measures_table(
    loaded: LoadedModel, picture: picture_cache.ChosenPicture, stack: PatchStack, scene: PatchScene
) -> dict[str, Any]:
    """Table with one row for each head and its measures."""
    maps = picture_cache.head_maps_of_run(loaded, picture, stack)
    layers, heads = zip(
        *((layer, head) for layer, count in enumerate(scene.heads) for head in range(count)), strict=True
    )
    columns = {"distance_pixels": maps.distance, "entropy_share": maps.entropy, "class_token": maps.class_weight}
    return {"layer": list(layers), "head": list(heads)} | {
        name: [f"{value:.6g}" if np.isfinite(value) else "" for value in values] for name, values in columns.items()
    }
