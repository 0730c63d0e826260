"""Buttons that copy a text each, and say whether the browser allowed it."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.canvas import component
from attnviz.words import _


def copy_buttons(key: str, texts: Mapping[str, tuple[str, str]], failed: str) -> None:
    """A button for each of `texts`: its label and what it copies. `failed`: what to do where a browser refuses."""
    named = [{"name": name, "label": label, "text": text} for name, (label, text) in texts.items()]
    labels = {"done": _("Copied."), "failed": failed}
    component("copy_text")(key=key, data={"texts": named, "labels": labels})
