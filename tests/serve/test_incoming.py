"""What a visitor sends is measured before Streamlit reads it: whose page, which kinds, how large and how often."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from attnviz.serve import incoming
from attnviz.serve.incoming import Incoming, MessagePace

OPERATIONS = {"deferred_file", "dataframe_chunk", "install_skills", "dismiss_skills_nudge"}


class Heard:
    """An app that notes what it is told, as Streamlit would be, with a visitor who sends `messages` and leaves."""

    def __init__(self, *messages: BackMsg | bytes, **headers: str) -> None:
        self.headers = {"host": "attention.example", **headers}
        self.coming = [each if isinstance(each, bytes) else each.SerializeToString() for each in messages]
        self.messages: list[BackMsg] = []
        self.origin: str | None = None
        self.connected = False
        self.sent: list[Message] = []
        in_loop(Incoming(self.app)(self.scope(), self.receive, self.send))

    def scope(self) -> dict[str, Any]:
        headers = [(name.encode(), value.encode()) for name, value in self.headers.items()]
        return {"type": "websocket", "path": "/_stcore/stream", "headers": headers, "query_string": b""}

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        self.connected, self.origin = True, dict(scope["headers"]).get(b"origin", b"").decode() or None
        while (message := await receive())["type"] == "websocket.receive":
            self.messages.append(BackMsg.FromString(message["bytes"]))

    async def receive(self) -> Message:
        if not self.coming:
            return {"type": "websocket.disconnect", "code": 1001}
        return {"type": "websocket.receive", "bytes": self.coming.pop(0)}

    async def send(self, message: Message) -> None:
        self.sent.append(message)


def in_loop(work: Any) -> Any:
    """Its result; in a loop of its own, where no waiting takes time."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long each message was made to wait, which takes no time here."""
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", wait)
    return waits


@pytest.fixture
def allowed() -> Iterator[Callable[[str, Any], None]]:
    before = {name: st.get_option(name) for name in ("server.corsAllowedOrigins", "server.enableCORS")}
    yield st.config.set_option
    for name, value in before.items():
        st.config.set_option(name, value)


def run(**fields: Any) -> BackMsg:
    message = BackMsg()
    message.rerun_script.SetInParent()
    for name, value in fields.items():
        setattr(message.rerun_script, name, value)
    return message


def state(kind: str, size: int, of: str = "$$ID-0-key") -> WidgetState:
    """A widget's value of this type, of about so many bytes; where the type has one size, its id has."""
    made = WidgetState(id=of)
    if kind == "json_value":
        made.json_value = '{"edit": [' + "{}," * (size // 3 - 10) + "{}]}"
    elif kind in ("string_value", "bytes_value"):
        setattr(made, kind, "[" * size if kind == "string_value" else bytes(size))
    elif kind.endswith("array_value"):
        getattr(made, kind).data.extend([""] * (size // 2) if kind.startswith("string") else [1] * (size // 8))
    elif kind == "file_uploader_state_value":
        for _ in range(size // 2):
            made.file_uploader_state_value.uploaded_file_info.add()
    else:
        made.id = "x" * size
        field = WidgetState.DESCRIPTOR.fields_by_name[kind]
        if field.message_type:
            getattr(made, kind).SetInParent()
        else:
            setattr(made, kind, field.default_value)
    return made


@pytest.mark.parametrize(
    "origin, enters",
    [
        (None, True),
        ("https://attention.example", True),
        ("http://attention.example:81", False),
        ("http://localhost", False),
        ("http://attention.example.elsewhere.example", False),
        ("http://elsewhere.example@attention.example", False),
        ("null", False),
        ("http://[", False),
    ],
)
def test_only_a_page_of_this_server_opens_a_web_socket(origin: str | None, enters: bool):
    heard = Heard(**({} if origin is None else {"origin": origin}))
    assert heard.connected is enters
    assert heard.sent == ([] if enters else [{"type": "websocket.close", "code": 1008}])


def test_pages_that_the_owner_allows_do_too_and_streamlit_asks_nobody_who_it_is(allowed: Any, monkeypatch: Any):
    from streamlit import net_util
    from streamlit.web.server.starlette import starlette_websocket

    def asked() -> None:
        raise AssertionError("Streamlit asks the internet")

    monkeypatch.setattr(net_util, "get_external_ip", asked)
    for origin in ("https://blog.example", "https://elsewhere.example"):
        allowed("server.corsAllowedOrigins", ["https://blog.example"])
        heard = Heard(origin=origin)
        assert heard.connected is (origin == "https://blog.example")
        if heard.connected:
            assert starlette_websocket._is_origin_allowed(heard.origin, "attention.example")
    allowed("server.enableCORS", False)
    assert Heard(origin="https://elsewhere.example").connected


def test_every_kind_of_message_is_passed_on_or_refused_by_name():
    """An upgrade of Streamlit that brings another kind is seen here; until it is looked at, the kind is refused."""
    refused = {
        "clear_cache",
        "set_run_on_save",
        "load_git_info",
        "debug_disconnect_websocket",
        "debug_shutdown_runtime",
    }
    assert _names(BackMsg, "type") == refused | set(incoming.PACE)
    types = _names(WidgetState, "value")
    assert types == {*incoming.LARGEST, "arrow_value", "bytes_value", "chat_input_value"}
    messages = [BackMsg(**{kind: True}) for kind in refused]
    assert Heard(*messages, run()).messages == [run()]


def _names(message: Any, oneof: str) -> set[str]:
    return {field.name for field in message.DESCRIPTOR.oneofs_by_name[oneof].fields}


def test_of_what_a_server_can_do_for_a_page_only_a_file_to_save_is_passed_on():
    from streamlit.proto.BackMsg_pb2 import BackendOperationRequest

    assert _names(BackendOperationRequest, "payload") == OPERATIONS
    passed = set()
    for name in OPERATIONS:
        message = BackMsg()
        getattr(message.backend_operation_request, name).SetInParent()
        if Heard(message).messages:
            passed.add(name)
    assert passed == {"deferred_file"}


def test_a_message_that_is_too_large_closes_its_connection_unread():
    heard = Heard(run(query_string="x" * 10**6), run())
    assert heard.messages == []
    assert heard.sent == [{"type": "websocket.close", "code": 1009}]


@pytest.mark.parametrize("kind", sorted(_names(WidgetState, "value")))
def test_a_widgets_value_that_is_too_large_for_its_type_counts_as_not_sent(kind: str):
    small, large = WidgetState(id="$$ID-0-key", bool_value=True), state(kind, 900_000)
    message = run(query_string="page=1")
    message.rerun_script.widget_states.widgets.extend([small, large])
    (passed,) = Heard(message).messages
    assert list(passed.rerun_script.widget_states.widgets) == [small]
    assert passed.rerun_script.query_string == "page=1"


def test_what_a_browser_says_of_itself_is_bounded():
    told = BackMsg()
    for name in incoming.LARGEST_OF_RUN:
        message = run(is_auto_rerun=True)
        if name == "cached_message_hashes":
            message.rerun_script.cached_message_hashes.extend([""] * 400_000)
        elif name == "context_info":
            message.rerun_script.context_info.url = "x" * 900_000
        else:
            setattr(message.rerun_script, name, "x" * 900_000)
        (told,) = Heard(message).messages
        assert told == run(is_auto_rerun=True), name


def test_hands_are_never_made_to_wait_and_a_flood_is(waited: list[float]):
    seconds = [0.0]
    pace = MessagePace(lambda: seconds[0])
    for _gesture in range(30 * 60):  # a key that is held down for a minute
        seconds[0] += 1 / 30
        assert pace.take(incoming.PACE["rerun_script"]) == 0
    Heard(*[run()] * 1000)
    assert 15 < waited[-1] <= 20, "a thousand at once are read within twenty seconds"
    waited.clear()
    Heard(*[BackMsg(load_git_info=True)] * 1000)
    assert waited[-1] > 80, "and what is refused more slowly still"


class Uploads:
    """An app that takes whatever is uploaded, and what it was made to forget."""

    def __init__(self) -> None:
        self.dropped: list[str] = []
        self.incoming = Incoming(self.app, lambda session, file: self.dropped.append(f"{session}/{file}"))
        self.held: asyncio.Event | None = None  #: what a body waits for

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await receive()
            return
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def ask(self, session: str, files: int = 1) -> None:
        """Ask for the addresses of so many uploads, as a page does."""
        message = BackMsg()
        message.file_urls_request.session_id = session
        message.file_urls_request.file_names.extend([""] * files)

        async def receive() -> Message:
            return {"type": "websocket.receive", "bytes": message.SerializeToString()}

        await self.incoming({"type": "websocket", "headers": []}, receive, None)

    async def put(self, place: str, size: int = 1, method: str = "PUT", pieces: int = 1) -> int:
        """What is answered to `pieces` of so many bytes, one in two hundredths of a second."""
        sent: list[Message] = []
        coming = list(range(pieces))

        async def receive() -> Message:
            if self.held is not None:
                await self.held.wait()
            if coming.pop():
                await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.02)  # no sleep is one here
            return {"type": "http.request", "body": bytes(size), "more_body": bool(coming)}

        async def send(message: Message) -> None:
            sent.append(message)

        path = f"/_stcore/upload_file/{place}"
        scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": []}
        await self.incoming(scope, receive, send)
        return int(sent[0]["status"])


def test_an_upload_that_no_page_asked_for_is_refused():
    async def tried() -> None:
        uploads = Uploads()
        assert await uploads.put("mine/cat") == 403
        await uploads.ask("mine")
        assert await uploads.put("mine/cat") == 204
        assert await uploads.put("mine/dog") == 403, "one was asked for"
        assert await uploads.put("another/cat") == 403
        for _ in range(3):
            await uploads.ask("mine", 8)
        answers = [await uploads.put(f"mine/{n}") for n in range(20)]
        assert answers == [204] * 8 + [403] * 12

    in_loop(tried())


def test_the_oldest_uploads_of_a_session_go_first_and_then_the_oldest_of_all():
    async def tried() -> None:
        uploads, size = Uploads(), incoming.MOST_SESSION_BYTES // 3
        await uploads.ask("mine", 8)
        for name in "abcdef":
            assert await uploads.put(f"mine/{name}", size) == 204
        assert uploads.dropped == ["mine/a", "mine/b", "mine/c"]
        assert await uploads.put("mine/d", method="DELETE") == 204
        assert await uploads.put("mine/g", size) == 204
        assert len(uploads.dropped) == 3, "what its visitor took away counts no more"
        for session in [f"visitor-{n}" for n in range(incoming.MOST_UPLOAD_BYTES // size)]:
            await uploads.ask(session)
            assert await uploads.put(f"{session}/a", size) == 204
        assert uploads.dropped[3:] == ["mine/e", "mine/f", "mine/g"]
        assert sum(uploads.incoming.stored_uploads.values()) <= incoming.MOST_UPLOAD_BYTES

    in_loop(tried())


def test_a_session_has_two_uploads_on_their_way_and_all_together_not_too_many(monkeypatch: pytest.MonkeyPatch):
    async def tried() -> None:
        uploads = Uploads()
        uploads.held = asyncio.Event()
        for number in range(9):
            await uploads.ask(f"visitor-{number}", 3)
        begun = [asyncio.ensure_future(uploads.put(f"visitor-{n}/{name}")) for n in range(9) for name in "abc"]
        while len(uploads.incoming.active_uploads) < incoming.AT_ONCE:
            await asyncio.wait(begun, timeout=0.01)
        uploads.held.set()
        answers = [await each for each in begun]
        assert answers[:3] == [204, 204, 503]
        assert answers.count(204) == incoming.AT_ONCE
        assert uploads.incoming.active_uploads == []
        monkeypatch.setattr(incoming, "PATIENCE", 0.01)
        uploads.held = asyncio.Event()
        assert await uploads.put("visitor-8/a") == 408

    in_loop(tried())


def test_who_sends_slowly_loses_his_place_and_who_sends_much_keeps_it(monkeypatch: pytest.MonkeyPatch):
    async def tried() -> None:
        monkeypatch.setattr(incoming, "PATIENCE", 0.2)
        uploads = Uploads()
        await uploads.ask("visitor", 2)
        assert await uploads.put("visitor/slow", size=1, pieces=100) == 408
        assert await uploads.put("visitor/large", size=incoming.SLOWEST, pieces=30) == 204

    in_loop(tried())


@pytest.mark.parametrize("query, sentence", [("", "This link is too long"), ("&lang=zh", "链接"), ("&lang=xx", "This")])
def test_who_opens_a_link_that_is_too_long_reads_so_in_his_language(query: str, sentence: str):
    browser = TestClient(Incoming(PlainTextResponse("a page")))
    assert browser.get("/explore?text=short").text == "a page"
    answer = browser.get(f"/explore?text={'x' * 20_000}{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (414, "text/plain; charset=utf-8")
    assert sentence in answer.text
    assert "16,000" in answer.text
