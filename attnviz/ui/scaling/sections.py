"""The sections of the page, in order; only the chosen one is computed. Each returns the program of its numbers."""

from __future__ import annotations

from collections.abc import Callable

from attnviz.ui.scaling import (
    alternatives_panel,
    gradient_panel,
    real_head_panel,
    retrieval_panel,
    saturation_panel,
    softmax_panel,
    variance_panel,
)
from attnviz.words import _

SECTIONS: dict[str, Callable[[], str | None]] = {
    "variance": variance_panel.panel,
    "saturation": saturation_panel.panel,
    "gradient": gradient_panel.panel,
    "training": retrieval_panel.panel,
    "alternatives": alternatives_panel.panel,
    "head": real_head_panel.panel,
    "softmax": softmax_panel.panel,
}


def titles() -> dict[str, str]:
    """Id to title, numbered in the order of the page."""
    return {
        "variance": _("1 Dot products grow"),
        "saturation": _("2 Softmax saturates"),
        "gradient": _("3 Gradients vanish"),
        "training": _("4 Training"),
        "alternatives": _("5 Alternatives"),
        "head": _("6 A real head"),
        "softmax": _("7 Softmax itself"),
    }
