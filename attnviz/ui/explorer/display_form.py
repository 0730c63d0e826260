"""Controls for how a matrix is shown: what its cells hold, how tokens are joined or hidden, and its colours."""

from __future__ import annotations

from typing import Any

from attnviz.experiments.explorer import Look
from attnviz.ui.explorer import explorer_choices as choices
from attnviz.ui.shared import widgets
from attnviz.words import _


def look(pair: bool) -> Look:
    """Draw the display's switches and return their values.

    `pair`: the input has two sentences that can be told apart.
    """
    values = widgets.one_of(
        choices.VALUES,
        _("Show"),
        {"weights": _("weights"), "values": _("weights × values")},
        help=_(
            "Weights show where a head looks. Weights × values show how much it takes from there: each "
            "weight times the length of the value vector."
        ),
    )
    units = widgets.one_of(
        choices.UNITS,
        _("Tokens as"),
        {"pieces": _("pieces"), "words": _("whole words")},
        help=_(
            "Whole words: weights are summed over the pieces of a word that is looked at, and averaged over "
            "the pieces of a word that looks."
        ),
    )
    special = widgets.one_of(
        choices.SPECIAL,
        _("Special tokens"),
        {"shown": _("shown"), "hidden": _("hidden"), "rest": _("hidden, rows sum to 1 again")},
    )
    part = "all"
    if pair:
        parts = {
            "all": _("everything"),
            "first to second": _("first looks at second"),
            "second to first": _("second looks at first"),
            "first to first": _("first looks at itself"),
            "second to second": _("second looks at itself"),
        }
        part = widgets.one_of(choices.PART, _("Sentences"), parts, style="select")
    return Look(values, units, special == "shown", special == "rest", part)  # type: ignore[arg-type]


def colours() -> dict[str, Any]:
    """Draw the colour switches and return them as options of the canvas."""
    scale = widgets.one_of(
        choices.COLOURS,
        _("Colours from 0 to"),
        {"one": _("1, the same for every head"), "own": _("this head's largest")},
    )
    curve = widgets.one_of(choices.CURVE, _("Colour steps"), {"linear": _("even"), "root": _("square root")})
    return {"full_range": scale == "one", "root": curve == "root"}
