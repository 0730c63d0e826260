"""The scripts that a page will need, named in the page that the browser asks for first.

One of ours comes before Streamlit's: a page in the dark theme is dark from its first pixel. And the app's style stands
in the page until Streamlit has put it there, which it does after the first words: they would jump otherwise. What a
link shows before it is opened is put in on the same way, by `link_preview.py`, and the page's title and what it is
about, by `heading_ahead.py`.

Streamlit asks its server where it stands and how it is set, in two rounds before it connects. Both are said in the
page, as Streamlit offers it: it connects at once and asks meanwhile.

Streamlit loads the script of each kind of widget when it first hears of such a widget: after its own start, after the
connection, after our script. Named in the page, they are fetched while the browser still reads Streamlit's own.
"""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app import presenting
from attnviz.app.mends.streamlit_adapter import EMBEDDED_STYLE, FRONTEND, MENU_WIDTH, PAGE_STYLE
from attnviz.serve import link_preview
from attnviz.serve.heading_ahead import heading_ahead
from attnviz.serve.page_table import PAGES

#: Widgets that nearly every page begins with, by the names of their scripts; one that is gone is left out.
WIDGETS = (
    "PageLink", "Html", "BidiComponent", "TextArea", "TextInput", "Selectbox", "NumberInput", "Slider", "ButtonGroup",
    "Checkbox", "Button",
)  # fmt: skip
EARLY_ROUTE = "attnviz/before_streamlit.js"  #: below the app's root, as Streamlit's own files are
SETTINGS_ROUTE = "_stcore/host-config"  #: where Streamlit says what its page needs to know before it connects
#: The menu comes after the first words, which stand where they will stand beside it, as wide as they will be.
BESIDE_THE_MENU = f"""
@media (min-width: 769px) {{
  html:root div:has(> .stMain) {{ margin-left: {MENU_WIDTH}px }}
}}
"""
AS_WIDE = "html:root .stMainBlockContainer { max-width: none }"
_ROOT = re.compile(r"^html \{", re.MULTILINE)  #: how a rule for the page's root begins: "&" where it is nested in one
STREAMLITS = b"static/js/"  #: what only Streamlit's own page has in it
_IMPORTED = re.compile(rb"""(?:from|import)\s*["']\./([\w.-]+\.js)["']""")


class Preloading:
    """ASGI middleware that names these scripts in Streamlit's page, and leaves every other answer as it is."""

    def __init__(self, app: ASGIApp, base_path: str = "") -> None:
        self.app = app
        self.base_path = base_path
        self.root_name = base_path.strip("/").rsplit("/", 1)[-1]  #: the last part of the start page's path
        self.settings = ""  #: of Streamlit's server, as it says them: once asked, they stay

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        place = scope["path"].rstrip("/").rsplit("/", 1)[-1]
        held: Message | None = None
        body = b""

        async def send_with_names(message: Message) -> None:
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
                if STREAMLITS not in page:  # a file that a visitor saves
                    await send(held)
                    await send({"type": "http.response.body", "body": body})
                    return
                query = parse_qs(scope["query_string"].decode("latin-1"))  # as bytes, %ff would end in an error
                self.settings = self.settings or await self._asked_for_settings(scope)
                rules, words = heading_ahead("" if place == self.root_name else place, query)
                whole = with_names(page, further_of(place), early_style(query) + rules, self.settings)
                whole = whole.replace(b"<body>", b"<body>\n" + words.encode(), 1)
                root = link_preview.root_of(scope.get("scheme", "http"), Headers(scope=scope), self.base_path)
                language = query.get("lang", [""])[-1]
                whole = link_preview.with_preview(whole, place, language, root)
                whole = gzip.compress(whole, 6) if packed else whole
                headers = MutableHeaders(scope=held)
                headers["content-length"] = str(len(whole))
                for name in ("etag", "last-modified"):  # they are of the page without our names
                    del headers[name]
                await send(held)
                await send({"type": "http.response.body", "body": whole})

        await self.app(scope, receive, send_with_names)

    async def _asked_for_settings(self, scope: Scope) -> str:
        """What Streamlit's page would be told when it asks; empty where it is told nothing of the kind."""
        root = f"/{self.base_path.strip('/')}".rstrip("/")
        path = f"{root}/{SETTINGS_ROUTE}"
        parts: dict[str, bytes] = {}

        async def take(message: Message) -> None:
            if message["type"] == "http.response.start":
                parts["status"] = str(message["status"]).encode()
            elif message["type"] == "http.response.body":
                parts["body"] = parts.get("body", b"") + message.get("body", b"")

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        asked = {**scope, "path": path, "raw_path": path.encode(), "query_string": b"", "headers": [], "extensions": {}}
        await self.app(asked, nothing, take)
        try:
            told = json.loads(parts.get("body", b""))
        except ValueError:
            return ""
        return json.dumps(told) if parts["status"] == b"200" and isinstance(told, dict) else ""


def further_of(place: str) -> tuple[str, ...]:
    """What a page has besides, in the order in which it is needed.

    It may come last: the widgets stand above it. Where one part is missing, Streamlit's page also holds back what
    stands beside it: half a second, or until all is there.
    """
    return next((page.scripts for page in PAGES if page.name == place), ())


def _is_page(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    html = headers.get("content-type", "").startswith("text/html")
    return bool(start["status"] == 200 and html and headers.get("content-encoding", "gzip") == "gzip")


def early_style(query: Mapping[str, Sequence[str]]) -> str:
    """The style that the page of this link begins with, for as long as Streamlit has not put it there itself.

    By its place it would lose against Streamlit's own rules; as nested rules it says more exactly what it is about.
    The script that comes first takes each part away as soon as the page has what it waits for.
    """
    embedded, presented = query.get("embed") == ["true"], query.get("present") == ["1"]
    parts = [PAGE_STYLE, *[EMBEDDED_STYLE] * embedded, *[presenting.STYLE] * presented]
    rules = "".join(part.removeprefix("<style>").removesuffix("</style>") for part in parts)
    alone = embedded or presented
    style = _until(".stHtml", f"html:root {{{_ROOT.sub('& {', rules)}}}{'' if alone else AS_WIDE}")
    return style if alone else style + _until(".stSidebar", BESIDE_THE_MENU)


def _until(selector: str, rules: str) -> str:
    return f'<style data-until="{selector}">{rules}</style>\n'


def with_names(page: bytes, further: tuple[str, ...] = (), style: str = "", settings: str = "") -> bytes:
    """The page with a line for each script that it does not name yet; only Streamlit's own page has that place.

    The scripts of `further` widgets may come last, and the first of each is begun as soon as the page has nothing to
    do, by the script that comes first and hears of Streamlit's `settings`. `style` comes last in its head.
    """
    if STREAMLITS not in page:
        return page
    widgets = scripts()
    lines = [_line(name) for name in widgets]
    for name in scripts(further):
        begun = " data-begin" * name.startswith(tuple(f"{widget}." for widget in further))
        lines += [_line(name, f' fetchpriority="low"{begun}')] * (name not in widgets)
    named = "".join(line for line in lines if line.split("/")[-1].split('"')[0].encode() not in page)
    told = f' data-settings="{html.escape(settings)}"' if settings else ""
    first = f'<script src="./{EARLY_ROUTE}"{told}></script>\n'
    last = (named + style).encode() + b"</head>"
    return page.replace(b"<head>", b"<head>\n" + first.encode(), 1).replace(b"</head>", last, 1)


def _line(name: str, more: str = "") -> str:
    return f'<link rel="modulepreload" crossorigin{more} href="./static/js/{name}">\n'


@cache
def scripts(widgets: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """The files of these widgets (None: WIDGETS) and what they import, in the order in which they are needed."""
    files = {path.name: path for path in (FRONTEND / "static" / "js").glob("*.js")}
    wanted = WIDGETS if widgets is None else widgets
    begun = [name for widget in wanted for name in sorted(files) if name.startswith(f"{widget}.")]
    return tuple(_with_imports(begun, files))


def _with_imports(names: Iterable[str], files: dict[str, Path]) -> dict[str, None]:
    found: dict[str, None] = {}
    todo = list(names)
    while todo:
        name = todo.pop(0)
        path = files.get(name)
        if path is None or name in found:
            continue
        found[name] = None
        todo += [imported.decode() for imported in _IMPORTED.findall(path.read_bytes())]
    return found
