"""A view to hand on: the address that opens what is on show, and a file without the limit that a link has."""

import ipaddress
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from attnviz.app.links import link_state
from attnviz.app.links.choices import EVERY_PAGE, Choice, choices_of
from attnviz.app.links.link_reading import refuse_half_characters
from attnviz.base.message import Problem

LONGEST_IN_CAPTION = 300  #: characters: a longer link under an exported picture could not be typed or read
VIEW_FORMAT = "attnviz-view-2"
LARGEST = 1_000_000  #: characters of a file


def address(longest: int = 100_000, *, without: Sequence[Choice[Any]] = ()) -> str | None:
    """The address that opens this view; None if longer than `longest` characters, or if the app's is unknown.

    `without` are choices that it is not to say.
    """
    url = st.context.url
    if not url:
        return None
    parameters = link_state.link_parameters(link_state.current_page())
    for choice in without:
        parameters.pop(choice.name, None)
    whole = url.split("?")[0] + (f"?{urlencode(parameters)}" if parameters else "")
    return whole if len(whole) <= longest else None


def public_address(longest: int = 100_000) -> str | None:
    """The same for a reader elsewhere: None where the app's address means this machine or this network only."""
    whole = address(longest)
    return None if whole is None or _is_private(urlsplit(whole).hostname or "") else whole


def _is_private(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:  # a name; one without a dot means a machine of this network
        return "." not in host or host.endswith((".localhost", ".local", ".lan", ".internal"))


def save() -> str:
    """Everything chosen on this page as JSON text, without a limit on its length."""
    page = link_state.current_page()
    view = {"format": VIEW_FORMAT, "page": page, "choices": link_state.link_values(page, whole=True)}
    return json.dumps(view, ensure_ascii=False, indent=1)


def open_view(text: str) -> str:
    """Restore a saved view; returns the name of its page. Problem when the text is not a saved view."""
    page, parameters = _parsed(text)
    for choice in choices_of(EVERY_PAGE):
        kept = link_state.value(choice)
        if choice.of_reader and kept != choice.default:  # chosen for reading: another one's view does not change it
            parameters[choice.name] = choice.write(kept)
    link_state.restore(page, parameters)
    return page


def _parsed(text: str) -> tuple[str, dict[str, Any]]:
    if len(text) > LARGEST:
        raise Problem("This file has {n} characters; a saved view has at most {most}.", n=len(text), most=LARGEST)
    try:
        view = json.loads(text)
        refuse_half_characters(view)
    except (ValueError, RecursionError):
        raise Problem("This file is not a saved view: it is not JSON, or it was cut short.") from None
    if not isinstance(view, dict) or view.get("format") != VIEW_FORMAT:
        raise Problem(
            "This file is not a saved view of the version that can be opened here ({version}).", version=VIEW_FORMAT
        )
    page, parameters = view.get("page"), view.get("choices")
    if not isinstance(page, str) or not isinstance(parameters, dict) or not choices_of(page):
        raise Problem("This saved view is damaged: its page or its choices are missing.")
    return page, {str(name): held for name, held in parameters.items()}
