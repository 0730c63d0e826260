"""Streamlit's own scripts and styles, compressed once into a folder of the app's cache.

An open with an empty cache asks for about a hundred of them, and Streamlit sends them as they are, 4.6 MB. nginx, where
it stands before the app, sends the same folder (deploy/class_server.py).
"""

import gzip
import logging
import mimetypes
from pathlib import Path

import streamlit
from starlette.datastructures import Headers
from starlette.responses import FileResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from attnviz.app.workarounds.streamlit_adapter import FRONTEND
from attnviz.base.message import Problem
from attnviz.models import settings
from attnviz.models.loading import cache_folder

log = logging.getLogger("attnviz")

STATIC = FRONTEND / "static"
KINDS = (".js", ".css", ".svg", ".json")
WORTH = 1024  #: bytes; a smaller file is sent as it is
#: names of these files change with their content
FOREVER = {"Cache-Control": "public, immutable, max-age=31536000", "Vary": "Accept-Encoding"}


_ready: list[Path] = []  #: the folder, as soon as it is there


def prepare() -> Path | None:
    """The folder of the compressed files of this Streamlit, each under its own path with .gz at its end.

    None where the cache cannot be written, which is logged: the files are then sent as they are.
    """
    try:
        folder = settings.cache_folder() / f"streamlit-{streamlit.__version__}-compressed"
        cache_folder.build(folder, _write, "Streamlit", unless_whole=cache_folder.is_intact(folder))
    except (OSError, Problem) as error:
        log.warning("Streamlit's files are sent uncompressed: %s", error)
        return None
    _ready[:] = [folder]
    return folder


def _write(target: Path) -> None:
    for path in STATIC.rglob("*"):
        if path.suffix in KINDS and path.stat().st_size >= WORTH:
            copy = target / f"{path.relative_to(STATIC)}.gz"
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))


class CompressedFiles:
    """ASGI middleware that answers for `{base}/static/...` where a browser takes gzip and the file is there."""

    def __init__(self, app: ASGIApp, base_path: str = "") -> None:
        self.app = app
        prefix = f"/{base_path.strip('/')}".rstrip("/") + "/static/"
        files = [path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.suffix in KINDS]
        self.names = {prefix + name: name for name in files}  #: by the one spelling of each path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _ready and scope["type"] == "http" and scope["method"] == "GET" and scope["path"] in self.names:
            headers = Headers(scope=scope)
            file = _ready[0] / f"{self.names[scope['path']]}.gz"
            if "gzip" in headers.get("accept-encoding", "") and "range" not in headers and file.is_file():
                answer = FileResponse(
                    file, headers={**FOREVER, "Content-Encoding": "gzip"}, media_type=mimetypes.guess_type(file.stem)[0]
                )
                await answer(scope, receive, send)
                return
        await self.app(scope, receive, send)
