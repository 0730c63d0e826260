"""What is added to Streamlit's own page before it is sent: a style sheet, a script, names of scripts, a link's preview.

The style sheet is `app/*.css` and the .css file of each page. The script runs before Streamlit's: a page in the dark
theme is dark from its first pixel. The scripts of a page's widgets are named, so that they are fetched while the
browser still reads Streamlit's own.

The preview is what a messenger, a wiki or a search shows of a link before anyone opens it: a title, a sentence, a
picture. They read Open Graph's tags from the page that the server sends and run no script. The picture is this server's
own; whoever asks for a preview is told nothing of a visitor's.
"""

import gzip
import html
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app import share_menu
from attnviz.app.page_entry import CHART, PAGES_DIR, Page
from attnviz.base.words import _, languages, speaking
from attnviz.serve.compressed_files import STATIC
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
_TITLE = re.compile(rb"<title>[^<]*</title>")


class IndexPage:
    """ASGI middleware that adds them to Streamlit's page, and leaves every other answer as it is."""

    def __init__(self, app: ASGIApp, base_path: str = "") -> None:
        self.app = app
        self.base_path = base_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        start: Message | None = None
        body = b""

        async def send_changed(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start" and _is_page(message):
                start = message
            elif start is None or message["type"] != "http.response.body":
                await send(message)
            else:
                body += message.get("body", b"")
                if message.get("more_body"):
                    return
                headers = MutableHeaders(scope=start)
                packed = "content-encoding" in headers
                page = gzip.decompress(body) if packed else body
                if STREAMLITS in page:  # not a file that a visitor saves
                    page = self._changed(page, scope)
                    body = gzip.compress(page, 6) if packed else page
                    headers["content-length"] = str(len(body))
                    for name in ("etag", "last-modified"):  # they are of the page as it was
                        del headers[name]
                await send(start)
                await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, send_changed)

    def _changed(self, page: bytes, scope: Scope) -> bytes:
        query = parse_qs(scope["query_string"].decode("latin-1"))  # as bytes, %ff would end in an error
        place = scope["path"].rstrip("/").rsplit("/", 1)[-1]
        shown = next((each for each in PAGES if each.name == place), PAGES[0])
        root = _root_of(scope.get("scheme", "http"), Headers(scope=scope), self.base_path)
        alone = query.get("figure", [""])[-1] if query.get("embed") == ["true"] else ""
        first = f"<head>\n{_first_script(shown)}\n"
        last = f"{_scripts(shown)}<style>{style_sheet()}{share_menu.style_of_figure(alone)}</style>\n</head>"
        page = page.replace(b"<head>", first.encode(), 1).replace(b"</head>", last.encode(), 1)
        return with_preview(page, shown, query.get("lang", [""])[-1], root)


def _is_page(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    is_html = headers.get("content-type", "").startswith("text/html")
    return bool(start["status"] == 200 and is_html and headers.get("content-encoding", "gzip") == "gzip")


@cache
def style_sheet() -> str:
    """The app's own style, and that of each page."""
    files = [*sorted((Path(share_menu.__file__).parent).glob("*.css")), *sorted(PAGES_DIR.glob("*/*.css"))]
    return "\n".join(path.read_text("utf-8") for path in files)


@cache
def _first_script(page: Page) -> str:
    """The script that runs before Streamlit's, with the script of charts that it reads ahead where none stands."""
    charts = [] if CHART in page.scripts else sorted((STATIC / "js").glob(f"{CHART}.*.js"))
    ahead = "".join(f' data-ahead="./static/js/{file.name}"' for file in charts[:1])
    return f'<script src="./{EARLY_ROUTE}"{ahead}></script>'


@cache
def _scripts(page: Page) -> str:
    """A line for each script of the widgets that a page has; those below its first ones may come later."""
    lines = []
    for widgets, urgency in ((WIDGETS, ""), (page.scripts, ' fetchpriority="low"')):
        files = [file.name for widget in widgets for file in sorted((STATIC / "js").glob(f"{widget}.*.js"))]
        lines += [f'<link rel="modulepreload" crossorigin{urgency} href="./static/js/{name}">\n' for name in files]
    return "".join(lines)


def with_preview(html_page: bytes, page: Page, language: str, root: str | None) -> bytes:
    """The page with a title of ours and the tags behind it. A page without a title stays as it is.

    `root` is the address of the app without a slash at its end; None leaves the picture out, whose address must be a
    whole one.
    """
    tags = _tags(page, language, root).encode()
    return _TITLE.sub(lambda _match: tags, html_page, count=1)


def _root_of(scheme: str, headers: Mapping[str, str], base_path: str) -> str | None:
    """The address of the app as whoever asks knows it, a proxy in between or not; None where it is nobody's."""
    host = headers.get("host", "")
    scheme = headers.get("x-forwarded-proto", scheme).split(",")[0].strip()
    if not _HOST.fullmatch(host) or scheme not in ("http", "https"):
        return None
    return f"{scheme}://{host}/{base_path.strip('/')}".rstrip("/")


def _tags(page: Page, language: str, root: str | None) -> str:
    with speaking(language if language in languages() else None):
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
    lines = [f"<title>{html.escape(title)}</title>"]
    lines += [f'<meta property="{name}" content="{html.escape(content)}">' for name, content in named.items()]
    lines.append(f'<meta name="description" content="{html.escape(about)}">')
    lines.append(f'<meta name="twitter:card" content="{"summary" if root is None else "summary_large_image"}">')
    return "\n".join(lines)
