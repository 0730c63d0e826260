"""What the server imports before anybody can come, and what it says of who can reach it."""

import asyncio
import os
import sys

import pytest

from attnviz.serve import page_table, process_limits, server
from tests.own_thread import in_own_thread


@pytest.mark.parametrize("said, megabytes", [(None, 850), ("300", 300), ("0", 0), ("much", "much")])
def test_a_server_has_a_mark_of_memory_whoever_starts_it(said, megabytes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ATTNVIZ_PROCESS_MB", said or "")
    monkeypatch.setattr(process_limits, "machine_memory", lambda: 10**9)
    monkeypatch.setattr(server, "_warm_up_or_log", lambda: None)

    async def started() -> str:
        async with server.lifespan(None):
            return os.environ["ATTNVIZ_PROCESS_MB"]

    assert in_own_thread(asyncio.run, started()) == str(megabytes)


def test_a_first_visitor_imports_no_page():
    assert {"pandas", "pyarrow", "transformers.modeling_utils", *(page.draw for page in page_table.PAGES)} <= set(
        server.PRELOADED
    )
    assert set(server.PRELOADED) < set(sys.modules)
