"""The sentences and colours that the canvases show: in the visitor's language, from one theme."""

from __future__ import annotations

from attnviz.figures.theme import K_VERMILION, MASKED, Q_BLUE, SCORES, WEIGHTS
from attnviz.words import _


def colours() -> dict[str, object]:
    """Colour stops and identity colours, as the figures have them."""
    return {"weights": WEIGHTS, "scores": SCORES, "q": Q_BLUE, "k": K_VERMILION, "masked": MASKED}


def unit(kind: str) -> str:
    """The name of a value when the caller gives none."""
    return {"weights": _("weight"), "values": _("value"), "diff": _("difference"), "scores": _("score")}[kind]


def overview() -> dict[str, str]:
    """Sentences of the overview; {names} are filled in by the browser."""
    return {
        "label": _("All attention heads, one small picture each"),
        "help": _("Move with the arrow keys; Enter shows the chosen head large."),
        "summary": _("{layers} layers, {heads} heads in all. Rows of a picture are queries, columns are keys."),
        "tile": _("Layer {layer}, head {head}"),
        "shared": _("Heads {heads} share one key/value head"),
        "chosen": _("on show"),
        "layer": _("layer"),
        "head": _("head"),
        "measured": _("{measure} {value}"),
        "hidden": _("masked"),
    }


def head() -> dict[str, str]:
    """Sentences of the head view."""
    return {
        "label": _("Attention of one head: queries in rows, keys in columns"),
        "help": _(
            "Move from cell to cell with the arrow keys. Enter pins a token, Escape removes all pins, "
            "plus and minus zoom, 0 shows the whole picture."
        ),
        "gives": _("{query} → {key}: {value}"),
        "summary": _("Strongest pairs: {pairs}."),
        "masked": _("{query} may not look at {key}"),
        "most": _("{token} looks most at {keys}"),
        "mostby": _("{token} is looked at most by {queries}"),
        "share": _("{token} {value}"),
        "idle": _("Point at a token or a cell. A click pins it."),
        "pinned": _("{token} pinned"),
        "unpinned": _("{token} is no longer pinned"),
        "none": _("Nothing is pinned"),
        "sentence": _("The sentence: point at a token, click to pin it"),
        "queries": _("Queries"),
        "keys": _("Keys"),
        "lines": _("Token lines: queries on the left, keys on the right"),
        "strongest": _("the {count} strongest of {total} lines"),
        "zoomin": _("Zoom in"),
        "zoomout": _("Zoom out"),
        "zoomall": _("Show the whole picture"),
        "letgo": _("Remove all pins"),
        "wheel": _("Ctrl + wheel or pinch to zoom, drag to move"),
        "hidden": _("masked"),
        "looks": _("looks at"),
        "lookedat": _("is looked at by"),
    }


def mask() -> dict[str, str]:
    """Sentences of the mask grid."""
    return {
        "label": _("Mask: queries in rows, keys in columns"),
        "help": _("Move with the arrow keys; Space switches a cell, Ctrl+Z undoes the last change."),
        "may": _("{query} may look at {key}"),
        "maynot": _("{query} may not look at {key}"),
        "weight": _("weight {value}"),
        "locked": _("this cell cannot be switched"),
        "summary": _("The mask keeps {kept} of {total} pairs"),
        "empty": _("{query} may look at nothing"),
        "undo": _("Undo"),
        "redo": _("Redo"),
        "queries": _("Queries"),
        "keys": _("Keys"),
        "kept": _("may look"),
        "cut": _("may not look"),
    }
