"""The web server: Streamlit's own app around main.py, and the few files it hands out."""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from attnviz.app import show
from attnviz.app.mends.whole_callbacks import mend_callbacks
from attnviz.canvas.head import ahead, sentence_heads
from attnviz.figures.export import PLOTLY_JS
from attnviz.serve import compressed_files, index_page, link_preview, log_lines
from attnviz.serve.address import announcement
from attnviz.serve.page_table import PAGES
from attnviz.serve.security_headers import SecurityHeaders
from attnviz.serve.watching import Watching, health, metrics

log = logging.getLogger("attnviz")

#: Imported before anybody can come: of two threads that import at once one may take the other's half for the whole.
#: Plotly looks for pandas among the modules that are there, finished or not: while Streamlit imported it for one
#: visitor, the chart of another failed. A first page has ended in its imports, too, while the server warmed up.
WHOLE = ("pandas", "pyarrow", *(page.draw for page in PAGES))
for name in WHOLE:
    importlib.import_module(name)

MAIN = Path(__file__).with_name("main.py")
EARLY_SCRIPT = Path(__file__).with_name("before_streamlit.js")


def warm() -> None:
    """What every visitor will need, made ready beside the server's start; then frozen for the garbage collector."""
    import torch

    import attnviz.figures.heatmap
    from attnviz.app.cache import model_cache
    from attnviz.core.attention import attend
    from attnviz.models.loading import availability
    from attnviz.pages.decoding.panels import player
    from attnviz.pages.home import maths as landing

    torch.set_num_threads(1)  # visitors share the machine: measured, one thread each serves twenty best
    x = torch.zeros(1, 2, 4)
    attend(x, x, x)
    ready = availability(landing.MODEL).ready
    if ready:
        model_cache.preload(landing.MODEL)
        model_cache.shared().engine.expect(landing.MODEL)  # on Ray this connects; here the model is loaded
    chart = attnviz.figures.heatmap.matrix(np.eye(2), ["a", "b"], ["a", "b"])
    chart.to_json()  # Plotly reads the rules of its parts as it first draws and tells them
    compressed_files.prepare()
    gc.collect()
    gc.freeze()
    if ready:
        player.prepare(landing.MODEL)


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[dict[str, Any]]:
    """Warm up beside the server's start, not before it."""
    hosted = os.environ.get("ATTNVIZ_HOSTED", "0") != "0"  # a value that makes no sense is told to visitors, not here
    if os.environ.get("ATTNVIZ_LOG", "json" if hosted else "text") == "json":
        log_lines.begin()
    task = asyncio.create_task(asyncio.to_thread(_warm_or_say_why))
    log.warning(announcement(st.get_option("server.address"), st.get_option("server.port"), hosted))
    yield {}
    task.cancel()


def _warm_or_say_why() -> None:
    try:
        warm()
    except Exception:
        log.exception("warming up failed; the app goes on without")


async def plotly_js(_request: Request) -> FileResponse:
    """The copy of plotly.js inside the Python package: exports draw with it, offline."""
    return FileResponse(PLOTLY_JS, media_type="text/javascript", headers={"Cache-Control": "public, max-age=86400"})


async def before_streamlit(_request: Request) -> FileResponse:
    """The script that runs before Streamlit's own."""
    return FileResponse(EARLY_SCRIPT, media_type="text/javascript", headers={"Cache-Control": "no-cache"})


async def preview(_request: Request) -> FileResponse:
    """The picture that a link shows before it is opened."""
    return FileResponse(
        link_preview.PICTURE, media_type="image/png", headers={"Cache-Control": "public, max-age=86400"}
    )


def head(request: Request) -> Response:
    """A head that a page offered, fetched by its canvas as soon as it is pointed at. Runs in a thread."""
    place = request.path_params
    blob = ahead.answer(place["token"], place["layer"], place["head"])
    if blob is None:
        return Response(status_code=404)
    return Response(blob, media_type="application/octet-stream", headers={"Cache-Control": "no-store"})


def heads(request: Request) -> Response:
    """All heads of a sentence that is still in memory. Runs in a thread, and no model: strangers cannot make work."""
    blob = sentence_heads.answer(request.path_params["token"])
    if blob is None:
        return Response(status_code=404, headers={"Cache-Control": "no-store"})
    kept = {"Cache-Control": "public, max-age=86400, immutable"}
    return Response(blob, media_type="application/octet-stream", headers=kept)


def routes(base_path: str = "") -> list[Route]:
    """Our own routes; Streamlit puts its base path before its own routes only."""
    root = f"/{base_path.strip('/')}".rstrip("/")
    return [
        Route(f"{root}/{ahead.PREFIX}/{{token}}/{{layer:int}}.{{head:int}}", head),
        Route(f"{root}/{sentence_heads.PREFIX}/{{token}}", heads),
        Route(f"{root}/{show.PLOTLY_ROUTE}", plotly_js),
        Route(f"{root}/{index_page.EARLY_ROUTE}", before_streamlit),
        Route(f"{root}/{link_preview.ROUTE}", preview),
        Route(f"{root}/attnviz/health", health),
        Route(f"{root}/attnviz/metrics", metrics),
    ]


mend_callbacks()
ROUTES = routes(st.get_option("server.baseUrlPath"))
MIDDLEWARE = [
    Middleware(Watching),
    Middleware(SecurityHeaders),
    Middleware(index_page.IndexPage, base_path=st.get_option("server.baseUrlPath")),
    Middleware(compressed_files.CompressedFiles, base_path=st.get_option("server.baseUrlPath")),
]
