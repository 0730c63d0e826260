"""Streamlit's files are compressed once, are the same bytes, and everything else is Streamlit's own answer."""

import gzip

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from attnviz.serve import compressed_files
from attnviz.serve.compressed_files import STATIC, CompressedFiles

SCRIPT = max((STATIC / "js").glob("index*.js"), key=lambda path: path.stat().st_size)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The folder of compressed files, in a cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTNVIZ_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(compressed_files, "_ready", [])
        folder = compressed_files.prepare()
        assert folder is not None
        yield folder


def client(base: str = "") -> TestClient:
    """An app behind which Streamlit answers every path with its own words."""
    routes = [Route("/{path:path}", lambda request: PlainTextResponse(f"Streamlit's {request.url.path}"))]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(CompressedFiles, base_path=base)]))


@pytest.mark.parametrize("base", ["", "/demo"])
def test_a_script_is_sent_compressed_and_is_the_same(prepared, base):
    with client(base).stream("GET", f"{base}/static/js/{SCRIPT.name}", headers={"Accept-Encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert len(raw) == int(answer.headers["content-length"]) < 0.5 * SCRIPT.stat().st_size
    assert gzip.decompress(raw) == SCRIPT.read_bytes()
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-type"].split(";")[0] == "text/javascript"
    assert "immutable" in answer.headers["cache-control"]
    assert "accept-encoding" in answer.headers["vary"].lower(), "a proxy must not give it to who cannot read it"


def test_what_was_compressed_before_is_not_compressed_again(prepared, monkeypatch):
    monkeypatch.setattr(compressed_files.gzip, "compress", lambda *_, **__: pytest.fail("compressed once more"))
    assert compressed_files.prepare() == prepared
