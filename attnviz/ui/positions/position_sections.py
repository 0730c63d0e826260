"""The sections of the page, in order; only the chosen one is computed."""

from __future__ import annotations

from collections.abc import Callable

from attnviz.ui.positions import (
    changed_rope_panel,
    circle_panel,
    longer_panel,
    order_panel,
    qk_norm_panel,
    scores_panel,
    video_panel,
)
from attnviz.words import _

SECTIONS: dict[str, Callable[[], None]] = {
    "order": order_panel.panel,
    "scores": scores_panel.panel,
    "circle": circle_panel.panel,
    "longer": longer_panel.panel,
    "video": video_panel.panel,
    "head": changed_rope_panel.panel,
    "norm": qk_norm_panel.panel,
}


def titles() -> dict[str, str]:
    """Id to title, numbered in the order of the page."""
    return {
        "order": _("1 Words shuffled"),
        "scores": _("2 Encodings"),
        "circle": _("3 One pair turns"),
        "longer": _("4 Longer than trained"),
        "video": _("5 Video"),
        "head": _("6 A real head"),
        "norm": _("7 Normalised q and k"),
    }
