"""A what-if in words, for captions."""

from __future__ import annotations

from attnviz.app import edit_wording
from attnviz.pages.explore.panels.shown_head import Shown
from attnviz.runs.what_if import WhatIf


def said_of(shown: Shown, change: WhatIf) -> tuple[str | None, str | None, str]:
    """The change in words, for captions: the mask and the scale (None: unchanged), and the other changes."""
    return edit_wording.said_of(shown.stack, shown.layer, change)
