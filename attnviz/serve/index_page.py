"""What is added to Streamlit's own page before it is sent: a style sheet, a script, names of scripts, a link's preview.

The style sheet is `app/*.css` and the .css file of each page. The script runs before Streamlit's: a page in the dark
theme is dark from its first pixel. The scripts of a page's widgets are named, so that they are fetched while the
browser still reads Streamlit's own.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app import embedded_figure
from attnviz.app.page_entry import CHART, PAGES_DIR
from attnviz.serve import link_preview
from attnviz.serve.compressed_files import STATIC
from attnviz.serve.page_table import PAGES

#: Widgets that nearly every page begins with, by the names of their scripts; one that is gone is left out.
WIDGETS = (
    "PageLink", "BidiComponent", "TextArea", "TextInput", "Selectbox", "NumberInput", "Slider", "ButtonGroup",
    "Checkbox", "Button",
)  # fmt: skip
EARLY_ROUTE = "attnviz/before_streamlit.js"  #: below the app's root, as Streamlit's own files are
STREAMLITS = b"static/js/"  #: what only Streamlit's own page has in it


class IndexPage:
    """ASGI middleware that adds them to Streamlit's page, and leaves every other answer as it is."""

    def __init__(self, app: ASGIApp, base_path: str = "") -> None:
        self.app = app
        self.base_path = base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        held: Message | None = None
        body = b""

        async def send_changed(message: Message) -> None:
            nonlocal held, body
            if message["type"] == "http.response.start" and _is_page(message):
                held = message
            elif held is None or message["type"] != "http.response.body":
                await send(message)
            else:
                body += message.get("body", b"")
                if message.get("more_body"):
                    return
                packed = "content-encoding" in Headers(raw=held["headers"])
                page = gzip.decompress(body) if packed else body
                if STREAMLITS in page:  # not a file that a visitor saves
                    page = self._changed(page, scope)
                    body = gzip.compress(page, 6) if packed else page
                    headers = MutableHeaders(scope=held)
                    headers["content-length"] = str(len(body))
                    for name in ("etag", "last-modified"):  # they are of the page as it was
                        del headers[name]
                await send(held)
                await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, send_changed)

    def _changed(self, page: bytes, scope: Scope) -> bytes:
        query = parse_qs(scope["query_string"].decode("latin-1"))  # as bytes, %ff would end in an error
        place = scope["path"].rstrip("/").rsplit("/", 1)[-1]
        root = link_preview.root_of(scope.get("scheme", "http"), Headers(scope=scope), self.base_path)
        first = f"<head>\n{_first_script(place)}\n"
        last = f"{_scripts(place)}<style>{style_sheet()}{_of_figure(query)}</style>\n</head>"
        page = page.replace(b"<head>", first.encode(), 1).replace(b"</head>", last.encode(), 1)
        return link_preview.with_preview(page, place, query.get("lang", [""])[-1], root)


def _is_page(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    html = headers.get("content-type", "").startswith("text/html")
    return bool(start["status"] == 200 and html and headers.get("content-encoding", "gzip") == "gzip")


def _of_figure(query: Mapping[str, Sequence[str]]) -> str:
    """The style that leaves of the page only the figure that a link asks for inside another page."""
    alone = query.get("embed") == ["true"]
    return embedded_figure.style(query.get("figure", [""])[-1]) if alone else ""


@cache
def style_sheet() -> str:
    """The app's own style, and that of each page."""
    ours = [*sorted((Path(embedded_figure.__file__).parent).glob("*.css")), *sorted(PAGES_DIR.glob("*/*.css"))]
    return "\n".join(path.read_text("utf-8") for path in ours)


@cache
def _first_script(place: str) -> str:
    """The script that runs before Streamlit's, with the script of charts that it reads ahead where none stands."""
    charts = [] if CHART in _further(place) else sorted((STATIC / "js").glob(f"{CHART}.*.js"))
    ahead = "".join(f' data-ahead="./static/js/{file.name}"' for file in charts[:1])
    return f'<script src="./{EARLY_ROUTE}"{ahead}></script>'


def _further(place: str) -> tuple[str, ...]:
    return next((page.scripts for page in PAGES if page.name == place), ())


@cache
def _scripts(place: str) -> str:
    """A line for each script of the widgets that a page has; those below its first ones may come later."""
    lines = []
    for widgets, urgency in ((WIDGETS, ""), (_further(place), ' fetchpriority="low"')):
        files = [file.name for widget in widgets for file in sorted((STATIC / "js").glob(f"{widget}.*.js"))]
        lines += [f'<link rel="modulepreload" crossorigin{urgency} href="./static/js/{name}">\n' for name in files]
    return "".join(lines)
