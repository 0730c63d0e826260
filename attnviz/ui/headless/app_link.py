"""A link of the app taken apart: which page it opens, and what it asks of it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from attnviz.core.message import Problem, Several
from attnviz.ui.web import navigation


@dataclass(frozen=True)
class AppLink:
    """A page and its parameters; `address` is the app's own of that page, where the link has one."""

    page: str
    parameters: dict[str, str]
    address: str | None = None


def app_link(text: str) -> AppLink:
    """What a link asks for: a whole one, as the app shares it, or its end, as in explore?at=13.8."""
    parts = urlsplit(text.strip())
    names = [row.name for row in navigation.ROWS]
    last = parts.path.rsplit("/", 1)[-1]
    if last and last not in names:
        raise Problem("The link opens {page}, which is no page; pages are {known}.", page=last, known=Several(names))
    address = f"{parts.scheme}://{parts.netloc}{parts.path}" if parts.scheme in ("http", "https") else None
    return AppLink(last or "home", dict(parse_qsl(parts.query, keep_blank_values=True)), address)
