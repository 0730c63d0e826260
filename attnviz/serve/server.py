"""The web server: Streamlit's own app around main.py, and the few files it hands out."""

import asyncio
import gc
import importlib
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.formparsers import MultiPartParser
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from attnviz.app import show
from attnviz.app.workarounds import whole_callbacks
from attnviz.base import rasterised
from attnviz.canvas.head import ahead
from attnviz.figures.export import PLOTLY_JS
from attnviz.rooms.addresses import is_local, own_address
from attnviz.rooms.live_rooms import remove_ended_rooms
from attnviz.rooms.phone_page import room_routes
from attnviz.serve import compressed_files, index_page, log_lines, process_limits, request_heads
from attnviz.serve.incoming import Incoming
from attnviz.serve.page_table import PAGES
from attnviz.serve.watching import Watching, health, metrics

log = logging.getLogger("attnviz")

#: Imported before anybody can come: of two threads that import at once one may take the other's half for the whole.
#: Plotly looks for pandas among the modules that are there, finished or not: while Streamlit imported it for one
#: visitor, the chart of another failed. A first page has ended in its imports, too, while the server warmed up.
#: transformers by its modules, which models import when they are first asked for.
_TRANSFORMERS = ("masking_utils", "modeling_utils", "models.auto.modeling_auto", "models.auto.configuration_auto")
PRELOADED = ("pandas", "pyarrow", *(f"transformers.{name}" for name in _TRANSFORMERS), *(page.draw for page in PAGES))
for name in PRELOADED:
    importlib.import_module(name)

SHARE = "--server.address 0.0.0.0"
#: How many objects are made before the collector looks at those, and how often at all: an open makes a thousand. At
#: Python's own 700 it took a twelfth of an open, and stood for half a second when it looked at everything.
SELDOM = (10_000, 20, 20)
_AT_ONCE = asyncio.Semaphore(2)  #: of all addresses together, so that pages are drawn meanwhile
_ADDRESS_LOCKS: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
EARLY_SCRIPT = Path(__file__).with_name("before_streamlit.js")
MOST_NUMBERS = 6  #: that name a part of a long text
DAY = "public, max-age=86400"  #: how long an answer may be kept


def warm_up() -> None:
    """Prepare what every visitor needs beside the server's start, then freeze it for the garbage collector."""
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
        model_cache.load_in_background(landing.MODEL).result()
        model_cache.process_caches().engine.expect(landing.MODEL)  # on Ray this connects; here the model is loaded
    chart = attnviz.figures.heatmap.matrix(np.eye(2), ["a", "b"], ["a", "b"])
    chart.to_json()  # Plotly reads the rules of its parts as it first draws and tells them
    compressed_files.prepare()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    if ready:
        player.prepare(landing.MODEL)


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[dict[str, Any]]:
    """Warm up beside the server's start, not before it."""
    process_limits.open_more_files()
    with suppress(AttributeError, ValueError):  # not told by Windows; a wrong setting is told to visitors
        os.environ["ATTNVIZ_PROCESS_MB"] = str(process_limits.memory_mark())
    hosted = os.environ.get("ATTNVIZ_HOSTED", "0") != "0"  # a value that makes no sense is told to visitors, not here
    if os.environ.get("ATTNVIZ_LOG", "json" if hosted else "text") == "json":
        log_lines.begin_logging()
    task = asyncio.create_task(asyncio.to_thread(_warm_up_or_log))
    log.warning(announcement(st.get_option("server.address"), st.get_option("server.port"), hosted))
    removing = asyncio.create_task(remove_ended_rooms())
    yield {}
    task.cancel()
    removing.cancel()


def _warm_up_or_log() -> None:
    try:
        warm_up()
    except Exception:
        log.exception("warming up failed; the app goes on without")


def _file(path: Path, media_type: str, cache: str) -> Callable[[Request], Response]:
    """Sends one file."""
    return lambda _request: FileResponse(path, media_type=media_type, headers={"Cache-Control": cache})


def _serve_picture_font(_request: Request) -> Response:
    """The style that brings the pictures' font into an SVG."""
    return Response(rasterised.font_style(), media_type="text/css", headers={"Cache-Control": DAY})


async def serve_head(request: Request) -> Response:
    """A head that a page offered, fetched by its canvas as soon as it is pointed at."""
    params = request.path_params
    return _blob(await _compute_offer(f"{ahead.HEAD}/{params['token']}", params["layer"], params["head"]), "no-store")


async def serve_heads(request: Request) -> Response:
    """All heads of a sentence that is still in memory. No model runs: strangers cannot make work."""
    return _blob(await _compute_offer(f"{ahead.SENTENCE}/{request.path_params['token']}"), f"{DAY}, immutable")


async def serve_part(request: Request) -> Response:
    """A part of a long text that is still in memory: a tile, a row. No model runs."""
    numbers = request.path_params["numbers"].split(".")
    if len(numbers) > MOST_NUMBERS or not all(number.isascii() and number.isdecimal() for number in numbers):
        return _blob(None, "no-store")
    path = f"{ahead.TEXT}/{request.path_params['token']}"
    return _blob(await _compute_offer(path, *(int(number[:9]) for number in numbers)), f"{DAY}, immutable")


async def _compute_offer(path: str, *indices: int) -> bytes | None:
    """Compute the offer of an address in a thread; one at a time for each address, so that nobody takes all threads."""
    mine = _ADDRESS_LOCKS.setdefault(path, asyncio.Lock())
    async with mine, _AT_ONCE:
        return await run_in_threadpool(ahead.find_offer, path, *indices)


def _blob(blob: bytes | None, cache: str) -> Response:
    if blob is None:
        return Response(status_code=404, headers={"Cache-Control": "no-store"})
    return Response(blob, media_type="application/octet-stream", headers={"Cache-Control": cache})


def routes(base_path: str = "") -> list[BaseRoute]:
    """Our own routes; Streamlit puts its base path before its own routes only."""
    root = f"/{base_path.strip('/')}".rstrip("/")
    endpoints: dict[str, Any] = {
        f"{ahead.HEAD}/{{token}}/{{layer:int}}.{{head:int}}": serve_head,
        f"{ahead.SENTENCE}/{{token}}": serve_heads,
        f"{ahead.TEXT}/{{token}}/{{numbers}}": serve_part,
        show.FONT_ROUTE: _serve_picture_font,
        show.PLOTLY_ROUTE: _file(PLOTLY_JS, "text/javascript", DAY),  # exports draw with it, offline
        index_page.EARLY_ROUTE: _file(EARLY_SCRIPT, "text/javascript", "no-cache"),
        index_page.PREVIEW_ROUTE: _file(index_page.PREVIEW, "image/png", DAY),
        "attnviz/health": health,
        "attnviz/metrics": metrics,
    }
    return [*(Route(f"{root}/{path}", endpoint) for path, endpoint in endpoints.items()), *room_routes(root)]


def announcement(listens_on: str | None, port: int, hosted: bool) -> str:
    """Where to open the app, and who can; for a server that only answers this machine, how to open it to others."""
    if not is_local(listens_on):
        return f"attnviz is at http://{own_address()}:{port} for everyone who can reach this machine"
    here = f"attnviz is at http://localhost:{port}, for this machine only"
    if hosted:
        return f"{here}, though ATTNVIZ_HOSTED is set: for visitors without a proxy in front, start it with {SHARE}"
    return f"{here}; to share it in a room, start it with {SHARE}: http://{own_address()}:{port}"


if whole_callbacks.is_compatible():
    whole_callbacks.let_callbacks_finish()
request_heads.bound_request_heads()
#: An upload is read in memory, and no part of it ever lies on the disk.
MultiPartParser.spool_max_size = st.get_option("server.maxUploadSize") * 2**20
ROUTES = routes(st.get_option("server.baseUrlPath"))
MIDDLEWARE = [
    Middleware(Incoming),
    Middleware(index_page.IndexPage, base_path=st.get_option("server.baseUrlPath")),
    Middleware(Watching),
    Middleware(compressed_files.CompressedFiles, base_path=st.get_option("server.baseUrlPath")),
]
