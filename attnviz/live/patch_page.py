"""A picture with all its heads in one file: the scene that the app's canvas draws, and the script that draws it."""

from __future__ import annotations

import base64
import json

from attnviz.base.words import _
from attnviz.live.page import Theme, document, opens


def patch_page(scene: bytes, title: str, note: str = "", link: str | None = None, theme: Theme = "auto") -> str:
    """The HTML of the file. `scene`: what the canvas of the page about pictures is sent."""
    said = {
        "title": title,
        "note": note,
        "link": link if opens(link) else None,
        "words": {"open": _("Open in the app"), "made": _("Made with attnviz")},
    }
    data = base64.b64encode(scene).decode()
    return document(title, json.dumps(said, ensure_ascii=False, allow_nan=False), data, "live_patches", theme)
