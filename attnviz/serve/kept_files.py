"""The files of Streamlit's own front end, kept in memory after they were first asked for, compressed once.

An open with an empty cache asks for about a hundred of them. From the disk, through all of Streamlit's layers, they
cost a server six times as much processor time as the page itself; and Streamlit sends them uncompressed, 4.6 MB.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app.mends.streamlit_adapter import FRONTEND
from attnviz.serve.charts_script import as_sent

WORTH = 1024  # bytes; a smaller file is sent as it is
CONDITIONS = ("range", "if-none-match", "if-modified-since")  # requests that only Streamlit answers


@dataclass(frozen=True)
class _File:
    start: Message  #: the message that begins the answer, with its headers
    body: bytes


class KeptFiles:
    """ASGI middleware that answers for `{base}/static/...`, whose names change with their content."""

    def __init__(self, app: ASGIApp, base_path: str = "") -> None:
        self.app = app
        self.prefix = f"/{base_path.strip('/')}".rstrip("/") + "/static/"
        root = FRONTEND / "static"
        #: one spelling of each: `//` and `/./` reach the same file, and must not fill the memory
        self.paths = {self.prefix + path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
        self.kept: dict[tuple[str, bool], _File] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._is_file(scope):
            await self.app(scope, receive, send)
            return
        squeezed = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        path = scope["path"]
        found = self.kept.get((path, squeezed))
        if found is None:
            found = await self._ask(scope)
            if found.start["status"] == 200:
                found = await asyncio.to_thread(_changed, path.rsplit("/", 1)[-1], found)
                if squeezed:
                    found = await asyncio.to_thread(_compressed, found)
                self.kept[path, squeezed] = found
        await send({**found.start, "headers": list(found.start["headers"])})  # layers around this one add their own
        await send({"type": "http.response.body", "body": found.body})

    def _is_file(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] not in self.paths:
            return False
        headers = Headers(scope=scope)
        return not any(name in headers for name in CONDITIONS)

    async def _ask(self, scope: Scope) -> _File:
        """What the server itself answers, whole.

        It never hears that the visitor has left: it would stop half-way, and what it had said by then would be kept
        for all visitors.
        """
        start: Message = {}
        parts: list[bytes] = []

        async def take(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            elif message["type"] == "http.response.body":
                parts.append(message.get("body", b""))

        await self.app({**scope, "extensions": {}}, _Staying(), take)  # no extension may send a file past us
        return _File(start, b"".join(parts))


class _Staying:
    """A visitor who has asked, and waits however long it takes."""

    def __init__(self) -> None:
        self.asked = False

    async def __call__(self) -> Message:
        if self.asked:
            await asyncio.Event().wait()  # what listens for him to leave is cancelled by then
        self.asked = True
        return {"type": "http.request", "body": b"", "more_body": False}


def _changed(name: str, file: _File) -> _File:
    """The file of this name with what the app changes in it."""
    body = as_sent(name, file.body)
    if body is file.body:
        return file
    headers = MutableHeaders(raw=list(file.start["headers"]))
    headers["content-length"] = str(len(body))
    return _File({**file.start, "headers": headers.raw}, body)


def prepare() -> None:
    """Compress every script and style sheet before the first visitor asks: he would wait for a fifth of a second."""
    for kind in ("*.js", "*.css"):
        for path in sorted((FRONTEND / "static").rglob(kind)):
            _smaller(as_sent(path.name, path.read_bytes()))


def _smaller(body: bytes) -> bytes:
    """As gzip, compressed once; only what is worth it."""
    if len(body) < WORTH:
        return body
    name = hashlib.blake2b(body, digest_size=16).digest()
    if name not in _SMALLER:
        _SMALLER[name] = gzip.compress(body, 9, mtime=0)
    return _SMALLER[name]


_SMALLER: dict[bytes, bytes] = {}  #: by the hash of what was compressed: files of the front end, and nothing else


def _compressed(file: _File) -> _File:
    """The file as gzip, where that makes it smaller by a tenth at least: fonts and pictures stay as they are."""
    headers = MutableHeaders(raw=list(file.start["headers"]))
    small = _smaller(file.body)
    if "content-encoding" in headers or len(small) > 0.9 * len(file.body):
        return file
    headers["content-encoding"] = "gzip"
    headers["content-length"] = str(len(small))
    headers.add_vary_header("Accept-Encoding")
    return _File({**file.start, "headers": headers.raw}, small)
