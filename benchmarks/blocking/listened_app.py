"""The app with heartbeats in its process: what `python -m benchmarks.blocking` runs and asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from attnviz.app.cache import model_cache
from attnviz.engine.chosen_engine import passes_at_once
from attnviz.serve import configuration, server
from benchmarks.blocking.heartbeats import Heard, TimedLine, beat_in_a_thread, beat_in_the_loop

configuration.adopt()
HEARD = Heard()
model_cache.shared().line = TimedLine(*passes_at_once(), HEARD)


async def late(_request: Request) -> JSONResponse:
    """What was heard since the last time that somebody asked."""
    told = HEARD.told()
    HEARD.clear()
    return JSONResponse(told)


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[dict[str, Any]]:
    """The app's own, and the two heartbeats."""
    beat_in_a_thread(HEARD)
    task = asyncio.create_task(beat_in_the_loop(HEARD))
    async with server.lifespan(app) as state:
        yield state
    task.cancel()


app = st.App(
    server.MAIN, lifespan=lifespan, routes=[*server.ROUTES, Route("/late", late)], middleware=server.MIDDLEWARE
)
