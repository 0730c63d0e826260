"""One visitor: a page opened over HTTP and a web socket, and its controls used, without a browser.

It speaks Streamlit's own messages: it asks for a run with the state of every control it has touched, as a
browser does, and an answer is complete when the server says that the script has finished.
"""

import asyncio
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from attnviz.base.packed import unpack_blob
from attnviz.canvas.head import ahead

MADE = "/attnviz/"  # what is fetched only once the page has been run
HEADS = f"/{ahead.SENTENCE}/"
LONGEST = 60.0  # seconds that a visitor waits for an answer; then it counts as an error
ASKED = "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: gzip\r\nConnection: keep-alive\r\n{cookie}\r\n"
DONE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


class Unanswered(Exception):
    """The server did not answer, or answered with an error."""


@dataclass
class Control:
    """A control on the page: what it is, its id, and the fragment that it lies in ("": none)."""

    kind: str
    proto: Any
    fragment: str

    @property
    def key(self) -> str:
        """The key that the page gave it."""
        return str(self.proto.id).split("-", 2)[-1]


@dataclass
class Visitor:
    """A session with the server at `base`, as a web socket address; `cookie` is sent with every request."""

    base: str
    cookie: str = ""
    controls: dict[str, Control] = field(default_factory=dict)
    states: dict[str, WidgetState] = field(default_factory=dict)
    page_hash: str = ""
    query: str = ""  #: what stands in the page's address, which the page itself changes
    socket: Any = None

    async def open(self, page: str, query: str, files: list[str]) -> float:
        """Open a page with a cold cache: its files, then the page itself. Seconds until it is complete."""
        start = time.perf_counter()
        mine = [path for path in files if path.startswith(MADE)]
        await self.fetch([f"/{page}", *(path for path in files if path not in mine)])
        await self.enter(page, query)
        own = self.heads()
        await self.fetch([own if own and HEADS in path else path for path in mine])
        return time.perf_counter() - start

    def heads(self) -> str:
        """The address that this visitor's own page gives for all heads; other processes give others. "": none."""
        head = self.find("head")
        return "" if head is None else str(unpack_blob(head.proto.bytes)[0].get("every") or "")

    async def fetch(self, paths: Iterable[str]) -> None:
        """Fetch files as a browser does, one after the other over one connection; each must be answered with 200."""
        place = urlsplit(self.base)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        line = f"Cookie: {self.cookie}\r\n" if self.cookie else ""
        try:
            for path in paths:
                writer.write(ASKED.format(path=path, host=place.netloc, cookie=line).encode())
                await _answer(reader, path)
        finally:
            writer.close()

    async def enter(self, page: str, query: str = "") -> None:
        """Connect, and let the page be run to its end."""
        headers = {"Cookie": self.cookie} if self.cookie else {}
        self.socket = await websockets.connect(
            self.base.replace("http", "ws", 1) + "/_stcore/stream",
            subprotocols=[websockets.Subprotocol("streamlit")],
            additional_headers=headers,
            max_size=None,
            compression=None,
        )
        await self.run(page_name=page, query_string=query)

    async def go(self, page: str) -> float:
        """Follow the menu to another page."""
        start = time.perf_counter()
        self.states.clear()
        self.page_hash = ""  # the page is asked for by its name; the first one has none
        await self.run(page_name=page)
        return time.perf_counter() - start

    async def use(self, control: Control, **value: Any) -> float:
        """Set a control to a value, such as `string_value="The cat"`; seconds until the answer is complete."""
        start = time.perf_counter()
        state = WidgetState(id=control.proto.id)
        for name, content in value.items():
            if isinstance(content, list):
                getattr(state, name).data.extend(content)
            else:
                setattr(state, name, content)
        self.states[control.proto.id] = state
        await self.run(fragment=control.fragment)
        return time.perf_counter() - start

    async def tell(self, control: Control, name: str, value: dict[str, Any]) -> float:
        """What a canvas tells: the part `name` of its state."""
        known = self.states.get(control.proto.id)
        state = json.loads(known.json_value) if known else {}
        return await self.use(control, json_value=json.dumps(state | {name: value}))

    def find(self, key: str) -> Control | None:
        """The control whose key is `key`, if the page has one."""
        return next((each for each in self.controls.values() if each.key == key), None)

    async def run(self, page_name: str = "", query_string: str = "", fragment: str = "") -> None:
        """Ask for a run and take in its answer."""
        asked = BackMsg()
        state = asked.rerun_script
        if page_name or not self.page_hash:
            state.page_name, self.query = page_name, query_string
        else:
            state.page_script_hash = self.page_hash
        state.query_string = self.query
        state.fragment_id = fragment
        if not fragment:
            self.controls.clear()  # a whole run sends every control anew
        state.context_info.locale = "en"
        state.context_info.timezone = "UTC"
        state.context_info.url = f"{self.base}/{page_name}"
        state.widget_states.widgets.extend(self.states.values())
        await self.socket.send(asked.SerializeToString())
        try:
            await asyncio.wait_for(self._take(), LONGEST)
        except TimeoutError as late:
            raise Unanswered(f"no answer within {LONGEST:.0f} s") from late

    async def _take(self) -> None:
        while True:
            message = ForwardMsg.FromString(await self.socket.recv())
            kind = message.WhichOneof("type")
            if kind == "navigation":  # the page that was found; a new session begins with the one asked for
                self.page_hash = message.navigation.page_script_hash
            elif kind == "page_info_changed":
                self.query = message.page_info_changed.query_string
            elif kind == "delta":
                self._note(message.delta)
            elif kind == "script_finished" and message.script_finished in DONE:
                return
            elif kind == "session_event" and message.session_event.WhichOneof("type") == "script_compilation_exception":
                raise Unanswered(str(message.session_event))

    def _note(self, delta: Any) -> None:
        kind = delta.new_element.WhichOneof("type") or "empty"
        proto = getattr(delta.new_element, kind)
        if kind == "exception":
            raise Unanswered(f"{proto.type}: {proto.message}")
        if getattr(proto, "id", ""):
            self.controls[proto.id] = Control(kind, proto, delta.fragment_id)

    async def leave(self) -> None:
        """Close the connection."""
        if self.socket is not None:
            await self.socket.close()


async def _answer(reader: asyncio.StreamReader, path: str) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    if " 200 " not in head.split("\r\n", 1)[0]:
        raise ConnectionError(f"{path}: {head.splitlines()[0]}")
    fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
    if "content-length" in fields:
        await reader.readexactly(int(fields["content-length"]))
        return
    while size := int((await reader.readline()).strip(), 16):
        await reader.readexactly(size + 2)
    await reader.readexactly(2)
