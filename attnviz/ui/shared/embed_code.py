"""The code that puts the view on show into another page, and who may do that."""

from __future__ import annotations

import html
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit, urlunsplit

from attnviz.core.message import Message, Problem, Several
from attnviz.models import settings

HEIGHT = 720  # pixels: the picture, its sentence and the controls above


def embed_code(address: str, title: str, more: Mapping[str, str] | None = None) -> str:
    """An iframe of the view without Streamlit's own bar; `more` parameters say what of it is shown."""
    parts = urlsplit(address)
    query = "&".join(filter(None, (parts.query, urlencode({**(more or {}), "embed": "true"}))))
    source = html.escape(urlunsplit(parts._replace(query=query)))
    return (
        f'<iframe src="{source}" title="{html.escape(title)}" width="100%" height="{HEIGHT}" '
        'style="border:0" loading="lazy" allow="clipboard-write"></iframe>'
    )


def who_may_embed(address: str, reachable: bool) -> Message | None:
    """Why the code may show nothing on another page; None where any page may hold the view."""
    if not reachable:
        return Message(
            "This app answers at {host}, which other machines cannot reach: the code works on this machine only. "
            "A live HTML file needs no server.",
            {"host": urlsplit(address).hostname or address},
        )
    try:
        allowed = settings.current().embed
    except Problem:
        allowed = ()
    if allowed == "anywhere":
        return None
    if not allowed:
        return Message("This app may be shown inside its own pages only; whoever runs it can set ATTNVIZ_EMBED.")
    return Message("Only these pages may show this app inside them: {pages}.", {"pages": Several(allowed)})
