"""Security headers sent with every page: which scripts may run, and who may embed it.

Scripts come from this server only, and the one that stands inside Streamlit's own page is allowed by its hash. Where
attnviz was never installed, Streamlit hands a component's script over as text, which the browser runs from a `blob:`
address; then, and only then, those are allowed too.
"""

import base64
import hashlib
import re
from functools import cache

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app.mends.streamlit_adapter import FRONTEND
from attnviz.base.message import Problem
from attnviz.canvas.shared.component import served_by_address
from attnviz.models import settings

INDEX = FRONTEND / "index.html"
_INLINE_SCRIPT = re.compile(r"<script\b(?![^>]*\bsrc\b)[^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE)


class SecurityHeaders:
    """ASGI middleware that adds the headers to every answer over HTTP."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers(served_by_address()))
            await send(message)

        await self.app(scope, receive, send_with_headers)


@cache
def headers(by_address: bool) -> dict[str, str]:
    """The headers, for components that are served by address or handed over as text.

    Where a setting makes no sense the pages say which; until it does, nobody else may embed the app.
    """
    try:
        embed = settings.current().embed
    except Problem:
        embed = ()
    return {
        "Content-Security-Policy": policy(inline_script_hashes(INDEX.read_text(encoding="utf-8")), by_address, embed),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "strict-origin-when-cross-origin",
    }


def policy(hashes: list[str], by_address: bool, embed: str | tuple[str, ...]) -> str:
    """The content security policy; `hashes` are those of inline scripts, `embed` says who may embed the app."""
    scripts = ["'self'", *(f"'{each}'" for each in hashes), *([] if by_address else ["blob:"])]
    directives = {
        "default-src": ["'self'"],
        "script-src": scripts,
        # Streamlit, Plotly and component style sheets write styles into the page.
        "style-src": ["'self'", "'unsafe-inline'"],
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'", "data:"],
        "media-src": ["'self'", "data:", "blob:"],
        "connect-src": ["'self'", "data:", "blob:"],
        "worker-src": ["'self'", "blob:"],
        "object-src": ["'none'"],
        "base-uri": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["*"] if embed == "anywhere" else ["'self'", *embed],
    }
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in directives.items())


def inline_script_hashes(page: str) -> list[str]:
    """The hashes by which a policy allows the scripts that stand inside `page`; those with an address have none."""
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE_SCRIPT.findall(page))
    return [f"sha256-{base64.b64encode(digest).decode()}" for digest in digests]
