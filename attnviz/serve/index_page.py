"""Add security headers to every response, and style, script and link preview to Streamlit's page.

Scripts come from this server only, and the one that stands inside Streamlit's own page is allowed by its hash.

The style sheet is `app/*.css` and the .css file of each page. The script runs before Streamlit's: a page in the dark
theme is dark from its first pixel. The scripts of a page's widgets are named, so that they are fetched while the
browser still reads Streamlit's own.

The preview is what a messenger, a wiki or a search shows of a link before anyone opens it: a title, a sentence, a
picture. They read Open Graph's tags from the page that the server sends and run no script. The picture is this server's
own; whoever asks for a preview is told nothing of a visitor's.
"""

import base64
import gzip
import hashlib
import html
import re
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app import share_menu
from attnviz.app.links.choices import follow_move
from attnviz.app.page_entry import CHART, PAGES_DIR, Page
from attnviz.app.workarounds.streamlit_adapter import FRONTEND
from attnviz.base.message import Problem
from attnviz.base.words import _, languages, use_language
from attnviz.canvas.shared.component import SHARED
from attnviz.figures import theme
from attnviz.models import settings
from attnviz.serve.compressed_files import STATIC
from attnviz.serve.navigation import LANG
from attnviz.serve.page_table import PAGES

#: Widgets that nearly every page begins with, by the names of their scripts; one that is gone is left out.
WIDGETS = (
    "PageLink", "BidiComponent", "TextArea", "TextInput", "Selectbox", "NumberInput", "Slider", "ButtonGroup",
    "Checkbox", "Button",
)  # fmt: skip
EARLY_ROUTE = "attnviz/before_streamlit.js"  #: below the app's root, as Streamlit's own files are
STREAMLITS = b"static/js/"  #: what only Streamlit's own page has in it
PREVIEW_ROUTE = "attnviz/preview.png"  #: below the app's root
PREVIEW = Path(__file__).with_name("preview.png")
WIDTH, HEIGHT = 1200, 630  #: pixels of the picture, the shape that previews are shown in
_HOST = re.compile(r"[\w.\-]+(:\d{1,5})?|\[[0-9a-fA-F:]+\](:\d{1,5})?")
INDEX = FRONTEND / "index.html"
_INLINE_SCRIPT = re.compile(r"<script\b(?![^>]*\bsrc\b)[^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE)
WORKER = "/text_worker.js"  #: how the address of the script ends that makes weights of long texts
#: all of what is asked on which an answer with a page depends, and of the headers
REQUEST_KEYS, REQUEST_HEADERS = (
    ("method", "scheme", "path", "query_string"),
    ("host", "x-forwarded-proto", "accept-encoding", "range"),
)
MOST_KEPT = 64  #: answers of some 10 KB: a class opens one link, and the page is made and compressed once
_TITLE = re.compile(rb"<title>[^<]*</title>")


class IndexPage:
    """ASGI middleware that adds the headers to every answer over HTTP, and the rest to Streamlit's page alone."""

    def __init__(self, app: ASGIApp, base_path: str = "") -> None:
        self.app = app
        self.base_path = base_path
        self.cached: dict[tuple[Any, ...], list[Message]] = {}  #: answers with a page, by what was asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        key = (*map(scope.get, REQUEST_KEYS), *map(Headers(scope=scope).get, REQUEST_HEADERS))
        if (cached := self.cached.get(key)) is not None:  # asked for once: another answer may push it out meanwhile
            for message in cached:
                await send(deepcopy(message))  # who stands around this adds headers of his own
            return
        start: Message | None = None
        body = b""

        async def send_rewritten(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers(scope["path"].endswith(WORKER)))
                start = message if scope["method"] == "GET" and _is_page(message) else None
            if start is message:
                return
            if start is None or message["type"] != "http.response.body":
                await send(message)
            else:
                body += message.get("body", b"")
                if message.get("more_body"):
                    return
                named = MutableHeaders(scope=start)
                packed = "content-encoding" in named
                page = gzip.decompress(body) if packed else body
                if STREAMLITS in page:  # not a file that a visitor saves
                    if address := _address_today(scope):  # Back then leads to where the visitor came from
                        start["status"], named["location"], body = HTTPStatus.TEMPORARY_REDIRECT, address, b""
                        del named["content-encoding"]
                    else:
                        page = self._rewrite_page(page, scope)
                        body = gzip.compress(page, 6) if packed else page
                    named["content-length"] = str(len(body))
                    for name in ("etag", "last-modified"):  # they are of the page as it was
                        del named[name]
                    entry = (key, [deepcopy(start), {"type": "http.response.body", "body": body}])
                    self.cached = dict([*self.cached.items(), entry][-MOST_KEPT:])
                await send(start)
                await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, send_rewritten)

    def _rewrite_page(self, page: bytes, scope: Scope) -> bytes:
        query = parse_qs(scope["query_string"].decode("latin-1"))  # as bytes, %ff would end in an error
        entry = _page_of(scope)
        root = _app_address(scope.get("scheme", "http"), Headers(scope=scope), self.base_path)
        sent = {name: values[-1] for name, values in query.items()}
        alone = follow_move(entry.name, sent)[1].get("figure", "") if query.get("embed") == ["true"] else ""
        first = f"<head>\n{_first_script(entry)}\n"
        last = f"{_scripts(entry)}<style>{style_sheet()}{share_menu.figure_style(alone)}</style>\n</head>"
        page = page.replace(b"<head>", first.encode(), 1).replace(b"</head>", last.encode(), 1)
        return _TITLE.sub(
            lambda _title: _preview_tags(entry, query.get(LANG.name, [""])[-1], root).encode(), page, count=1
        )


def _page_of(scope: Scope) -> Page:
    page_name = scope["path"].rstrip("/").rsplit("/", 1)[-1]
    return next((candidate for candidate in PAGES if candidate.name == page_name), PAGES[0])


def _address_today(scope: Scope) -> str:
    """The address, relative to what is asked for, of a section that has moved; empty where none has."""
    page, sent = _page_of(scope).name, dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    there, parameters = follow_move(page, sent)
    above = "../" if scope["path"].endswith("/") else "./"
    return "" if (there, parameters) == (page, sent) else f"{above}{there}?{urlencode(parameters)}"


def _is_page(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    is_html = headers.get("content-type", "").startswith("text/html")
    return bool(start["status"] == 200 and is_html and headers.get("content-encoding", "gzip") == "gzip")


@cache
def style_sheet() -> str:
    """The app's own style, and that of each page."""
    files = [*sorted((Path(share_menu.__file__).parent).glob("*.css")), *sorted(PAGES_DIR.glob("*/*.css"))]
    return "\n".join([*(path.read_text("utf-8") for path in files), theme.text_style()])


@cache
def _first_script(page: Page) -> str:
    """The script that runs before Streamlit's, with the script of charts that it reads ahead where none stands."""
    charts = [] if CHART in page.scripts else sorted((STATIC / "js").glob(f"{CHART}.*.js"))
    ahead = "".join(f' data-ahead="./static/js/{file.name}"' for file in charts[:1])
    return f'<script src="./{EARLY_ROUTE}"{ahead}></script>'


@cache
def _scripts(page: Page) -> str:
    """A line for each script of the widgets that a page has, and for what components share.

    Those below its first widgets may come later.
    """
    lines = []
    for widgets, urgency in ((WIDGETS, ""), (page.scripts, ' fetchpriority="low"')):
        files = [file.name for widget in widgets for file in sorted((STATIC / "js").glob(f"{widget}.*.js"))]
        lines += [f'<link rel="modulepreload" crossorigin{urgency} href="./static/js/{name}">\n' for name in files]
    lines.append(f'<link rel="modulepreload" crossorigin href="./{SHARED}">\n')
    return "".join(lines)


def _app_address(scheme: str, request_headers: Mapping[str, str], base_path: str) -> str | None:
    """The address of the app as whoever asks knows it, a proxy in between or not; None where it is nobody's."""
    host = request_headers.get("host", "")
    scheme = request_headers.get("x-forwarded-proto", scheme).split(",")[0].strip()
    if not _HOST.fullmatch(host) or scheme not in ("http", "https"):
        return None
    return f"{scheme}://{host}/{base_path.strip('/')}".rstrip("/")


def _preview_tags(page: Page, language: str, root: str | None) -> str:
    """A title of ours and the tags behind it. `root` is the address of the app without a slash at its end; None leaves
    the picture out, whose address must be a whole one.
    """
    with use_language(language if language in languages() else None):
        title = "attnviz" if page.is_home else f"{_(page.title)} · attnviz"
        about = _("See where each head of a model looks, and why attention is made as it is.")
        about = about if page.is_home else _(page.question)
        alt = _("One attention head of a trained model: the word “it” looks at “animal”.")
    named = {"og:type": "website", "og:site_name": "attnviz", "og:title": title, "og:description": about}
    if root is not None:
        named |= {
            "og:image": f"{root}/{PREVIEW_ROUTE}",
            "og:image:type": "image/png",
            "og:image:width": str(WIDTH),
            "og:image:height": str(HEIGHT),
            "og:image:alt": alt,
        }
    lines = [
        f"<title>{html.escape(title)}</title>",
        *(f'<meta property="{name}" content="{html.escape(content)}">' for name, content in named.items()),
        f'<meta name="description" content="{html.escape(about)}">',
        f'<meta name="twitter:card" content="{"summary" if root is None else "summary_large_image"}">',
    ]
    return "\n".join(lines)


@cache
def headers(is_worker: bool = False) -> dict[str, str]:
    """The headers, of a page or of the script that a page's worker runs.

    Where a setting makes no sense the pages say which; until it does, nobody else may embed the app.
    """
    try:
        embed = settings.current_settings().embed
    except Problem:
        embed = ()
    return {
        "Content-Security-Policy": policy(inline_script_hashes(INDEX.read_text(encoding="utf-8")), embed, is_worker),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "strict-origin-when-cross-origin",
    }


def policy(hashes: list[str], embed: str | tuple[str, ...], is_worker: bool = False) -> str:
    """The content security policy; `hashes` are those of inline scripts, `embed` says who may embed the app.

    A worker has the policy of its own script: it alone may run WebAssembly, and sees no page.
    """
    directives = {
        "default-src": ["'self'"],
        "script-src": ["'self'", "'wasm-unsafe-eval'"]
        if is_worker
        else ["'self'", *(f"'{digest}'" for digest in hashes)],
        # Streamlit, Plotly and component style sheets write styles into the page.
        "style-src": ["'self'", "'unsafe-inline'"],
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'", "data:"],
        "media-src": ["'self'", "data:", "blob:"],
        "connect-src": ["'self'", "data:", "blob:"],
        "worker-src": ["'self'", "blob:"],
        "object-src": ["'none'"],
        "base-uri": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["*"] if embed == "anywhere" else ["'self'", *embed],
    }
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in directives.items())


def inline_script_hashes(page: str) -> list[str]:
    """The hashes by which a policy allows the scripts that stand inside `page`; those with an address have none."""
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE_SCRIPT.findall(page))
    return [f"sha256-{base64.b64encode(digest).decode()}" for digest in digests]
