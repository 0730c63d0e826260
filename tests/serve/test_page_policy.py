"""The policy that every answer is sent with: which scripts run, and who may show the app inside another page."""

import asyncio
import base64
import hashlib
import re

import pytest

from attnviz.base.message import Problem
from attnviz.models import settings
from attnviz.serve import index_page
from attnviz.serve.index_page import INDEX, inline_script_hashes, policy


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
    strict = policy(["sha256-abc="], embed=())
    assert directive(strict, "script-src") == ["'self'", "'sha256-abc='"]
    assert directive(strict, "default-src") == ["'self'"]
    assert "unsafe-eval" not in strict


def test_webassembly_runs_in_the_worker_of_long_texts_and_nowhere_else():
    asked = {}
    for path in ("/explore", "/_stcore/bidi-components/attnviz.long_text/text_worker.js"):

        async def answer(_scope, _receive, send):
            await send({"type": "http.response.start", "status": 200, "headers": []})

        async def note(message, path=path):
            asked[path] = dict(message["headers"])[b"content-security-policy"].decode()

        scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}
        asyncio.run(index_page.IndexPage(answer)(scope, None, note))
    page, worker = asked.values()
    assert "wasm" not in page
    assert directive(worker, "script-src") == ["'self'", "'wasm-unsafe-eval'"]
    assert "'unsafe-eval'" not in worker


def test_the_hash_is_of_the_script_in_streamlits_page():
    page = INDEX.read_text(encoding="utf-8")
    inline = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(inline) >= 1
    expected = ["sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    assert inline_script_hashes(page) == expected
    addressed = (
        '<p>no</p><script src="x.js"></script><script type="module">a &amp; b < c</script><script src="y">z</script>'
    )
    (only,) = inline_script_hashes(addressed)
    assert only == f"sha256-{base64.b64encode(hashlib.sha256(b'a &amp; b < c').digest()).decode()}"


@pytest.mark.parametrize(
    "value, allowed",
    [
        ("", ["'self'"]),
        ("anywhere", ["*"]),
        ("this-machine", ["'self'", "http://localhost:*", "http://127.0.0.1:*", "file:"]),
        (
            "https://blog.example, https://*.uni.example:8443",
            ["'self'", "https://blog.example", "https://*.uni.example:8443"],
        ),
    ],
)
def test_who_may_embed_the_app_is_a_setting(monkeypatch, value, allowed):
    monkeypatch.setenv("ATTNVIZ_EMBED", value)
    sent = index_page.headers()["Content-Security-Policy"]
    assert directive(sent, "frame-ancestors") == allowed


@pytest.mark.parametrize(
    "hosted, value",
    [("1", "this-machine"), ("", "blog.example"), ("", "https://a.example; script-src *"), ("", "javascript://x")],
)
def test_nothing_but_origins_gets_into_the_header_and_no_visitors_machine(monkeypatch, hosted, value):
    monkeypatch.setenv("ATTNVIZ_HOSTED", hosted)
    monkeypatch.setenv("ATTNVIZ_EMBED", value)
    with pytest.raises(Problem, match="ATTNVIZ_EMBED"):
        settings.current_settings()
