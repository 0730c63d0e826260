"""The address that opens what is on show: for this browser, and for a reader elsewhere."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

import streamlit as st

from attnviz.app.links import link_state
from attnviz.app.links.choices import Choice

LONGEST_IN_CAPTION = 300  # characters: a longer link under an exported picture could not be typed or read


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
