"""What a messenger, a wiki or a search shows of a link before anyone opens it: a title, a sentence, a picture.

They read Open Graph's tags from the page that the server sends and run no script. Streamlit's page has none, so they
are put in on the way. The picture is this server's own; whoever asks for a preview is told nothing of a visitor's.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import Path

from attnviz.base.words import _, languages, speaking
from attnviz.serve.page_table import PAGES

ROUTE = "attnviz/preview.png"  #: below the app's root
PICTURE = Path(__file__).with_name("preview.png")
WIDTH, HEIGHT = 1200, 630  #: pixels of the picture, the shape that previews are shown in
_HOST = re.compile(r"[\w.\-]+(:\d{1,5})?|\[[0-9a-fA-F:]+\](:\d{1,5})?")
_TITLE = re.compile(rb"<title>[^<]*</title>")


def with_preview(page: bytes, place: str, language: str, root: str | None) -> bytes:
    """The page with a title of ours and the tags behind it. A page without a title stays as it is.

    `place` is the last part of its path, `root` the address of the app without a slash at its end; None leaves the
    picture out, whose address must be a whole one.
    """
    written = _tags(place, language, root).encode()
    return _TITLE.sub(lambda _found: written, page, count=1)


def root_of(scheme: str, headers: Mapping[str, str], base_path: str) -> str | None:
    """The address of the app as whoever asks knows it, a proxy in between or not; None where it is nobody's."""
    host = headers.get("host", "")
    told = headers.get("x-forwarded-proto", scheme).split(",")[0].strip()
    if not _HOST.fullmatch(host) or told not in ("http", "https"):
        return None
    return f"{told}://{host}/{base_path.strip('/')}".rstrip("/")


def _tags(place: str, language: str, root: str | None) -> str:
    row = next((row for row in PAGES if row.name == place), PAGES[0])
    with speaking(language if language in languages() else None):
        title = "attnviz" if row.is_home else f"{_(row.title)} · attnviz"
        about = _("See where each head of a model looks, and why attention is made as it is.")
        said = about if row.is_home else _(row.question)
        alt = _("One attention head of a trained model: the word “it” looks at “animal”.")
    named = {"og:type": "website", "og:site_name": "attnviz", "og:title": title, "og:description": said}
    if root is not None:
        named |= {
            "og:image": f"{root}/{ROUTE}",
            "og:image:type": "image/png",
            "og:image:width": str(WIDTH),
            "og:image:height": str(HEIGHT),
            "og:image:alt": alt,
        }
    lines = [f"<title>{html.escape(title)}</title>"]
    lines += [f'<meta property="{name}" content="{html.escape(content)}">' for name, content in named.items()]
    lines.append(f'<meta name="description" content="{html.escape(said)}">')
    lines.append(f'<meta name="twitter:card" content="{"summary" if root is None else "summary_large_image"}">')
    return "\n".join(lines)
