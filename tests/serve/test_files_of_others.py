"""What a visitor uploads or saves is reached by nobody who has to guess where it is: on Streamlit's own routes."""

import json
import re
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.web.server.starlette import starlette_routes
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from attnviz.serve import incoming, server

SESSION = "8d3f6d7e-7f0c-4f8e-9a35-3c1f5d0f6a11"
SECRET = "what only this visitor knows"
GUESSES = ("", "0", "1", "*", "..", "../..", "%2e%2e/%2e%2e", "..%2f..%2fetc%2fpasswd", "%00", SESSION, "0" * 32)


class Visited:
    """A server with a visitor who uploaded a picture and was offered a file to save."""

    def __init__(self) -> None:
        self.uploads = MemoryUploadedFileManager("/_stcore/upload_file")
        self.media = MemoryMediaFileStorage("/media")
        runtime: Any = SimpleNamespace(is_active_session=lambda session: session == SESSION)
        routes: list[BaseRoute] = [
            WebSocketRoute("/_stcore/stream", self.answer),
            *starlette_routes.create_upload_routes(runtime, self.uploads, ""),
            *starlette_routes.create_media_routes(self.media, ""),
        ]
        self.stranger = TestClient(Starlette(routes=routes, middleware=server.MIDDLEWARE))
        self.offered = self.offer(SECRET)
        asked = BackMsg()
        asked.file_urls_request.session_id = SESSION
        asked.file_urls_request.file_names.extend(["cat.png"] * 8)
        with self.stranger.websocket_connect("/_stcore/stream") as page:
            page.send_bytes(asked.SerializeToString())
            self.place, *self.others = ForwardMsg.FromString(page.receive_bytes()).file_urls_response.file_urls
        self.put(self.place.upload_url, SECRET.encode())

    async def answer(self, socket: WebSocket) -> None:
        """Give a page the addresses for its uploads, as Streamlit does."""
        await socket.accept()
        asked, answer = BackMsg.FromString(await socket.receive_bytes()), ForwardMsg()
        for place in self.uploads.get_upload_urls(SESSION, asked.file_urls_request.file_names):
            answer.file_urls_response.file_urls.add(file_id=place.file_id, upload_url=place.upload_url)
        await socket.send_bytes(answer.SerializeToString())

    def offer(self, text: str) -> str:
        file = self.media.load_and_get_id(text.encode(), "text/html", MediaFileKind.DOWNLOADABLE, "view.html")
        return self.media.get_url(file)

    def put(self, address: str, data: bytes, name: str = "cat.png") -> int:
        token = generate_xsrf_token_string()
        headers = {"X-Xsrftoken": token, "Cookie": f'{XSRF_COOKIE_NAME}="{token}"'}
        return self.stranger.put(address, files={"file": (name, data)}, headers=headers).status_code

    def kept(self) -> list[Any]:
        return self.uploads.get_files(SESSION, [self.place.file_id])


@pytest.fixture
def visited() -> Visited:
    return Visited()


def test_an_upload_can_be_read_by_no_address_and_written_by_no_other_session(visited: Visited):
    assert [file.data for file in visited.kept()] == [SECRET.encode()]
    address = visited.place.upload_url
    assert re.fullmatch(rf"/_stcore/upload_file/{SESSION}/[0-9a-f-]{{36}}", address)
    assert visited.stranger.get(address).status_code == 405, "not even by whoever knows it"
    for guess in GUESSES:
        answer = visited.stranger.get(f"/_stcore/upload_file/{SESSION}/{guess}")
        assert answer.status_code in (404, 405)
        assert SECRET not in answer.text
    assert visited.stranger.put(address, files={"file": ("cat.png", b"other")}).status_code == 403, "of another site"
    assert visited.stranger.delete(address).status_code == 403
    assert visited.put(address.replace(SESSION, "f" * 36), b"other") == 403
    assert [file.data for file in visited.kept()] == [SECRET.encode()]


def test_a_name_that_leads_elsewhere_is_a_name_and_a_file_that_is_too_large_is_refused(visited: Visited):
    assert visited.put(visited.place.upload_url, b"x", "../../etc/passwd") == 204
    assert [file.data for file in visited.kept()] == [b"x"]
    assert visited.put(visited.place.upload_url, bytes(50 * 2**20)) == 413
    assert [file.data for file in visited.kept()] == [b"x"]


def test_what_is_uploaded_leaves_no_file_and_is_gone_with_its_session(
    visited: Visited, tmp_path: Path, monkeypatch: Any
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda *_, **__: pytest.fail("a file is opened on the disk"))
    assert visited.put(visited.place.upload_url, SECRET.encode() * 10**5) == 204
    assert len(visited.kept()) == 1
    assert list(tmp_path.iterdir()) == []
    visited.uploads.remove_session_files(SESSION)
    assert visited.kept() == []


def test_the_oldest_upload_of_a_session_makes_room_for_a_newer_one(visited: Visited, monkeypatch: Any):
    held = SimpleNamespace(uploaded_file_mgr=visited.uploads)
    monkeypatch.setattr(incoming, "runtime", SimpleNamespace(exists=lambda: True, get_instance=lambda: held))
    for place in visited.others[:4]:
        assert visited.put(place.upload_url, bytes(7_000_000)) == 204
    assert visited.kept() == []
    assert len(visited.uploads.get_files(SESSION, [each.file_id for each in visited.others])) == 3
    assert hasattr(Runtime, "uploaded_file_mgr"), "which Streamlit's own has"


def test_a_file_to_save_is_found_by_its_whole_content_and_never_opened_as_a_page(visited: Visited):
    answer = visited.stranger.get(visited.offered)
    assert answer.text == SECRET
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert re.fullmatch(r"/media/[0-9a-f]{32}\.html", visited.offered)
    near = visited.offer(json.dumps(SECRET))
    assert sum(a == b for a, b in zip(near, visited.offered, strict=True)) < 30, "nothing follows from one's own"
    for guess in (*GUESSES, visited.offered[7:-6] + ".html", visited.offered[7:-5].upper()):
        answer = visited.stranger.get(f"/media/{guess}")
        assert answer.status_code == 404, guess
        assert SECRET not in answer.text
