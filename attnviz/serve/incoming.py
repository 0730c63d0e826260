"""Check and pace each visitor's messages and uploads before Streamlit reads them.

One loop answers all visitors of a process. Streamlit parses whatever comes, does all that its protocol can ask for
(clear everybody's caches, tell what git says of the server's folder), and to know a stranger's page from its own it
asks a machine on the internet, and waits. Here each web socket is that of our own page, asks only what our page asks,
in pieces that are quickly read, and no faster than hands are. What is too large counts as not sent.
"""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime

from attnviz.app.workarounds import streamlit_adapter
from attnviz.base.words import _, languages, use_language

#: seconds that a message is counted as, by its kind; our pages send no other kind: what else comes is not passed on
PACE = {
    "rerun_script": 0.02,
    "stop_script": 0.02,
    "app_heartbeat": 0.02,
    "file_urls_request": 0.2,
    "backend_operation_request": 0.5,
}
REFUSED_PACE = 0.1  #: a message that is not passed on
BYTE_PACE = 0.5e-6  #: and as much for each byte
AHEAD = 3.0  #: seconds by which a visitor may be faster than his pace; then his messages wait, and only his
OPERATIONS = ("deferred_file",)  #: of "backend_operation_request": a file to save; to install things is another
MOST_NAMES = 8  #: files that a message may ask an address for
MOST_WIDGETS = 1_000

#: bytes of what a widget may send, by the type that it declares; what has another type is no widget of ours
LARGEST = {
    **dict.fromkeys(("trigger_value", "bool_value", "double_value", "int_value", "string_trigger_value"), 4_000),
    **dict.fromkeys(("double_array_value", "int_array_value", "file_uploader_state_value"), 8_000),
    "string_array_value": 64_000,
    **dict.fromkeys(("json_value", "json_trigger_value"), 200_000),  # a mask that is painted over 1,024 tokens
    "string_value": 500_000,
}
#: characters, or how many of them, of what a browser says of itself as it asks for a run
LARGEST_OF_RUN = {"query_string": 64_000, "cached_message_hashes": 4_000, "context_info": 64_000} | dict.fromkeys(
    ("page_script_hash", "page_name", "fragment_id"), 4_000
)

UPLOADS = "/_stcore/upload_file/"
#: bytes of uploads that are kept for a session; the oldest goes first, which has been read
MOST_SESSION_BYTES = 24_000_000
MOST_UPLOAD_BYTES = 240_000_000
MOST_SESSIONS = 4_000  #: the latest that asked for uploads
AT_ONCE, AT_ONCE_OF_ONE = 16, 2  #: uploads on their way, of all and of a session
PATIENCE, SLOWEST = 10.0, 70_000  #: seconds that an upload may take, and one more for so many bytes that have come
LONGEST_ADDRESS = 16_000
_LANGUAGE = re.compile(rb"(?:^|&)lang=(\w+)")  #: of a link


def is_own_page(headers: Headers) -> bool:
    """Whether a web socket was opened by a page of this server, by one that its owner allows, or by a program.

    A proxy that gives the server another name than visitors know must pass `Host` on; or the name stands in
    `server.corsAllowedOrigins` or `browser.serverAddress`. No machine is asked.
    """
    origin = headers.get("origin")
    if origin is None or not st.get_option("server.enableCORS"):
        return True
    named = {st.get_option("browser.serverAddress"), *st.get_option("server.corsAllowedOrigins")} - {"localhost"}
    try:
        address = urlsplit(origin)
    except ValueError:
        return False
    is_own = address.netloc == headers.get("host") or not named.isdisjoint((origin, address.hostname))
    return bool(address.netloc) and is_own


def drop_oversized(message: Any) -> str | None:
    """The kind of a visitor's message, once all that is too large was taken out of it; None where it is refused."""
    kind = message.WhichOneof("type")
    content: Any = getattr(message, kind or "", None)
    if kind == "file_urls_request":
        del content.file_names[MOST_NAMES:]
    elif kind == "rerun_script":
        for name, most in LARGEST_OF_RUN.items():
            value = getattr(content, name)
            if (value.ByteSize() if hasattr(value, "ByteSize") else len(value)) > most:
                content.ClearField(name)
        widgets = content.widget_states.widgets
        if len(widgets) > MOST_WIDGETS:
            return None
        fitting = [widget for widget in widgets if widget.ByteSize() <= LARGEST.get(widget.WhichOneof("value"), -1)]
        if len(fitting) < len(widgets):
            content.widget_states.CopyFrom(type(content.widget_states)(widgets=fitting))
    elif kind == "backend_operation_request" and content.WhichOneof("payload") not in OPERATIONS:
        return None
    return kind if kind in PACE else None


def drop_upload(session: str, file: str) -> None:
    """Forget a file that a visitor of this process uploaded."""
    with suppress(AttributeError):  # the server's log says whether Streamlit still can
        if runtime.exists():
            cast(Any, runtime.get_instance().uploaded_file_mgr).remove_file(session, file)


def long_link_sentence(query: bytes) -> str:
    """The sentence for a visitor whose link is too long, in the language that the link asks for."""
    match = _LANGUAGE.search(query)
    language = match[1].decode("latin-1") if match else ""
    with use_language(language if language in languages() else None):
        return _("This link is too long to be opened: it may have {count:,} characters.").format(count=LONGEST_ADDRESS)


class MessagePace:
    """How long a visitor's next message waits, so that all of his take no more than their time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.done = clock() - AHEAD

    def take(self, seconds: float) -> float:
        """Charge `seconds` for a message; return how long it must wait."""
        now = self.clock()
        self.done = max(self.done, now - AHEAD) + seconds
        return max(0.0, self.done - now)


class Incoming:
    """ASGI middleware around all others: it passes on what our own pages send, and uploads that they asked for."""

    def __init__(self, app: ASGIApp, drop: Callable[[str, str], None] = drop_upload) -> None:
        self.app = app
        self.drop = drop  #: forgets an upload: its session, and its name there
        self.reads = streamlit_adapter.reports_runs()  #: else messages are passed on as they come
        #: how many uploads a page of each session still asked for
        self.expected_uploads: OrderedDict[str, int] = OrderedDict()
        #: the bytes of each upload that is kept, the oldest first
        self.stored_uploads: OrderedDict[str, int] = OrderedDict()
        self.active_uploads: list[str] = []  #: the session of each upload that is on its way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._converse(scope, receive, send)
        elif scope["type"] == "http" and (refusal := self._refusal(scope)) is not None:
            text = long_link_sentence(scope["query_string"]) if refusal == HTTPStatus.REQUEST_URI_TOO_LONG else ""
            await PlainTextResponse(text, refusal)(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] in ("PUT", "DELETE") and UPLOADS in scope["path"]:
            await self._take_upload(scope["path"].partition(UPLOADS)[2], scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> HTTPStatus | None:
        """Why a request is not even begun; None where it is."""
        if len(scope["path"]) + len(scope["query_string"]) > LONGEST_ADDRESS:
            return HTTPStatus.REQUEST_URI_TOO_LONG
        upload = scope["path"].partition(UPLOADS)[2]
        if scope["method"] != "PUT" or not upload:
            return None
        session = upload.partition("/")[0]
        if not self.expected_uploads.get(session):
            return HTTPStatus.FORBIDDEN
        crowded = len(self.active_uploads) >= AT_ONCE or self.active_uploads.count(session) >= AT_ONCE_OF_ONE
        return HTTPStatus.SERVICE_UNAVAILABLE if crowded else None

    async def _converse(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = MutableHeaders(scope=scope)
        if not is_own_page(headers):
            await send({"type": "websocket.close", "code": 1008})
            return
        if "origin" in headers and "host" in headers:
            headers["origin"] = f"http://{headers['host']}"  # for Streamlit, which else asks the internet who it is
        pace = MessagePace()

        async def measured_receive() -> Message:
            while True:
                message = await receive()
                data = message.get("bytes")
                if not data or not self.reads:
                    return message
                if len(data) > st.get_option("server.maxWidgetStateSize") * 10**6:
                    await send({"type": "websocket.close", "code": 1009})
                    return {"type": "websocket.disconnect", "code": 1009}
                content = streamlit_adapter.parse_message(data)
                kind = None if content is None else drop_oversized(content)
                await asyncio.sleep(pace.take(PACE.get(kind or "", REFUSED_PACE) + len(data) * BYTE_PACE))
                if kind == "file_urls_request":
                    self._expect(content.file_urls_request.session_id, len(content.file_urls_request.file_names))
                if content is None:
                    return message  # Streamlit says so, and closes
                if kind is not None:
                    return {**message, "bytes": content.SerializeToString()}

        await self.app(scope, measured_receive, send)

    def _expect(self, session: str, files: int) -> None:
        self.expected_uploads[session] = min(MOST_NAMES, self.expected_uploads.pop(session, 0) + files)
        if len(self.expected_uploads) > MOST_SESSIONS:
            self.expected_uploads.popitem(last=False)

    async def _take_upload(self, upload: str, scope: Scope, receive: Receive, send: Send) -> None:
        session, size, status = upload.partition("/")[0], 0, 0
        began = asyncio.get_running_loop().time()

        async def counted_receive() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            limit.reschedule(began + PATIENCE + size / SLOWEST)
            return message

        async def watched_send(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        self.active_uploads.append(session)
        if scope["method"] == "PUT":
            self.expected_uploads[session] -= 1
        try:
            async with asyncio.timeout_at(began + PATIENCE) as limit:
                await self.app(scope, counted_receive, watched_send)
        except TimeoutError:
            if not status:
                await Response(status_code=HTTPStatus.REQUEST_TIMEOUT)(scope, receive, send)
        finally:
            self.active_uploads.remove(session)
        if status == HTTPStatus.NO_CONTENT:
            self.stored_uploads.pop(upload, None)
            if scope["method"] == "PUT":
                self.stored_uploads[upload] = size
            self._evict_uploads(MOST_SESSION_BYTES, f"{session}/")
            self._evict_uploads(MOST_UPLOAD_BYTES)

    def _evict_uploads(self, most: int, whose: str = "") -> None:
        """Forget the oldest uploads until the others take no more than `most` bytes; `whose`: of one session only."""
        mine = [upload for upload in self.stored_uploads if upload.startswith(whose)]
        over = sum(map(self.stored_uploads.__getitem__, mine)) - most
        for upload in mine:
            if over > 0:
                over -= self.stored_uploads.pop(upload)
                self.drop(*upload.split("/", 1))
