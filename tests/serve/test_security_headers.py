"""The headers that every answer carries."""

import base64
import hashlib
import re

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from attnviz.base.message import Problem
from attnviz.models import settings
from attnviz.serve import index_page
from attnviz.serve.index_page import INDEX, IndexPage, inline_script_hashes, policy


@pytest.fixture(autouse=True)
def _anew(monkeypatch):
    monkeypatch.delenv("ATTNVIZ_EMBED", raising=False)
    index_page.headers.cache_clear()
    yield
    index_page.headers.cache_clear()


def directive(text: str, name: str) -> list[str]:
    found = next(part.split() for part in text.split("; ") if part.startswith(f"{name} "))
    return found[1:]


def test_scripts_come_from_here_only_and_nothing_is_evaluated():
    strict = policy(["sha256-abc="], by_address=True, embed=())
    assert directive(strict, "script-src") == ["'self'", "'sha256-abc='"]
    assert directive(strict, "default-src") == ["'self'"]
    assert "unsafe-eval" not in strict


def test_a_clone_that_was_never_installed_may_run_the_text_it_is_handed():
    assert directive(policy([], by_address=False, embed=()), "script-src") == ["'self'", "blob:"]


def test_the_hash_is_of_the_script_in_streamlits_page():
    page = INDEX.read_text(encoding="utf-8")
    inline = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(inline) >= 1
    expected = ["sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    assert inline_script_hashes(page) == expected


def test_only_scripts_without_an_address_are_hashed():
    page = (
        '<p>no</p><script src="x.js"></script><script type="module">a &amp; b < c</script><script src="y.js">z</script>'
    )
    expected = base64.b64encode(hashlib.sha256(b"a &amp; b < c").digest()).decode()
    assert inline_script_hashes(page) == [f"sha256-{expected}"]


@pytest.mark.parametrize(
    "value, allowed",
    [
        ("", ["'self'"]),
        ("anywhere", ["*"]),
        (
            "https://blog.example, https://*.uni.example:8443",
            ["'self'", "https://blog.example", "https://*.uni.example:8443"],
        ),
    ],
)
def test_who_may_embed_the_app_is_a_setting(monkeypatch, value, allowed):
    monkeypatch.setenv("ATTNVIZ_EMBED", value)
    sent = index_page.headers(True)["Content-Security-Policy"]
    assert directive(sent, "frame-ancestors") == allowed


@pytest.mark.parametrize(
    "value", ["blog.example", "https://a.example; script-src *", "https://a.example b", "javascript://x"]
)
def test_nothing_but_origins_gets_into_the_header(monkeypatch, value):
    monkeypatch.setenv("ATTNVIZ_EMBED", value)
    with pytest.raises(Problem, match="ATTNVIZ_EMBED"):
        settings.current()


def test_every_answer_carries_the_headers():
    app = Starlette(
        routes=[Route("/", lambda _request: PlainTextResponse("hello"))], middleware=[Middleware(IndexPage)]
    )
    for path, status in [("/", 200), ("/nothing", 404)]:
        answer = TestClient(app).get(path)
        assert answer.status_code == status
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "strict-origin-when-cross-origin"
        assert directive(answer.headers["Content-Security-Policy"], "object-src") == ["'none'"]
