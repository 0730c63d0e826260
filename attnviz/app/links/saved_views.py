"""A view in a file: everything chosen on a page, without the limit that a link has on its length."""

from __future__ import annotations

import json
from typing import Any

from attnviz.app.links import link_state
from attnviz.app.links.choices import EVERY_PAGE, choices_of
from attnviz.app.links.link_pack import refuse_half_characters
from attnviz.base.message import Problem

VIEW_FORMAT, FIRST_FORMAT = "attnviz-view-2", "attnviz-view-1"
LARGEST = 1_000_000  #: characters of a file


def save() -> str:
    """Everything chosen on this page as JSON text, without a limit on its length."""
    page = link_state.current_page()
    view = {"format": VIEW_FORMAT, "page": page, "choices": link_state.link_values(page, whole=True)}
    return json.dumps(view, ensure_ascii=False, indent=1)


def open_view(text: str) -> str:
    """Restore a saved view; returns the name of its page. Problem when the text is not a saved view."""
    page, parameters = _parsed(text)
    link_state.restore(page, parameters | _readers_own())
    return page


def _readers_own() -> dict[str, str]:
    """What this visitor has chosen for reading, which another one's view does not change."""
    chosen = {choice: link_state.value(choice) for choice in choices_of(EVERY_PAGE) if choice.of_reader}
    return {choice.name: choice.write(kept) for choice, kept in chosen.items() if kept != choice.default}


def _parsed(text: str) -> tuple[str, dict[str, Any]]:
    if len(text) > LARGEST:
        raise Problem("This file has {n} characters; a saved view has at most {most}.", n=len(text), most=LARGEST)
    try:
        view = json.loads(text)
        refuse_half_characters(view)
    except (ValueError, RecursionError):
        raise Problem("This file is not a saved view: it is not JSON, or it was cut short.") from None
    known = (VIEW_FORMAT, FIRST_FORMAT)
    if not isinstance(view, dict) or view.get("format") not in known:
        raise Problem(
            "This file is not a saved view of the version that can be opened here ({version}).", version=VIEW_FORMAT
        )
    page, parameters = view.get("page"), view.get("choices")
    if view["format"] == FIRST_FORMAT:
        page, parameters = "explore", _of_first_format(view)
    if not isinstance(page, str) or not isinstance(parameters, dict) or not choices_of(page):
        raise Problem("This saved view is damaged: its page or its choices are missing.")
    return page, {str(name): held for name, held in parameters.items()}


def _of_first_format(view: dict[str, Any]) -> dict[str, Any] | None:
    """Parameters from the first format: the explorer's link, and its canvas beside it. Choices that it lacks stay."""
    link, canvas = view.get("link"), view.get("canvas")
    if not isinstance(link, dict) or not isinstance(canvas, dict):
        return None
    others = {name: held for name, held in link_state.link_values("explore").items() if name != "c"}
    return others | link | ({"c": canvas} if canvas else {})
