"""A page's title and what it is about, in the very page that the server sends: read while the scripts still come.

Streamlit's page is empty until its scripts are there, have connected and have heard of the page: a second here, and
several for a class on one wireless network. Meanwhile these words stand where they will stand, in the colours and the
letters that they will have, over the background of the theme; `before_streamlit.js` takes them away as the page puts
its own there. Who cannot see hears the page's own alone.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

from attnviz.app.mends.streamlit_adapter import MENU_WIDTH
from attnviz.base.words import _, languages, speaking
from attnviz.serve.page_table import PAGES

#: In the light and the dark theme, as config.toml has them.
PAPER, MENU, INK = ("#FFFFFF", "#14161C"), ("#F5F3F8", "#1E212B"), ("#1F2328", "#E8EAED")
BUTTONS = "9.7rem"  #: what the two buttons beside the title take
ENDED = ".stException, [data-testid=stAlert], dialog, [role=dialog]"  #: what comes instead, when something is wrong
_LEANING = re.compile(r"\*([^*]+)\*")
STYLE = f"""
html {{ color-scheme: light dark; background: light-dark({PAPER[0]}, {PAPER[1]}) }}
html[data-theme=light] {{ color-scheme: light }}
html[data-theme=dark] {{ color-scheme: dark }}
:is([data-testid=stAppSkeleton], [data-testid=stHeader]) {{ visibility: hidden }}
.heading-ahead {{
  --side: clamp(1rem, 3.5vw, 3rem);
  position: fixed; inset: 2.75rem var(--side) auto calc(var(--side) + {MENU_WIDTH}px); pointer-events: none;
  z-index: 1; display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 1rem;
  color: light-dark({INK[0]}, {INK[1]}); font: 1rem / 1.6 "Source Sans", sans-serif
}}
.heading-ahead::before {{
  content: ""; position: fixed; inset: 0 auto 0 0; width: {MENU_WIDTH}px;
  background: light-dark({MENU[0]}, {MENU[1]})
}}
.heading-ahead b {{ font-size: 1.75rem; line-height: 1.2 }}
.heading-ahead i {{ height: 2.5rem; width: {BUTTONS} }}
.heading-ahead span {{ flex: 1 0 100%; text-wrap: pretty }}
@media (max-width: 768px) {{ .heading-ahead {{ left: var(--side) }} .heading-ahead::before {{ display: none }} }}
@media (max-width: 640px) {{ .heading-ahead {{ top: 4.25rem; row-gap: 0.7rem }} }}
@media (min-width: 1000px) and (max-height: 760px) {{
  .heading-ahead {{ flex-wrap: nowrap }}
  .heading-ahead::before {{
  content: ""; position: fixed; inset: 0 auto 0 0; width: {MENU_WIDTH}px;
  background: light-dark({MENU[0]}, {MENU[1]})
}}
.heading-ahead b {{ flex: none }}
  .heading-ahead i {{ flex: none; order: 1 }}
  .heading-ahead span {{ flex: 1 1 0; font-size: 0.85rem; line-height: 1.3; margin-bottom: -1rem }}
}}
"""


def heading_ahead(page: str, query: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """The rules for a page's head and the words for its body, in the language of the link.

    Both are empty where the page will show no such heading: embedded, presented, or no page of ours.
    """
    entry = next((entry for entry in PAGES if entry.name == (page or "home")), None)
    if entry is None or query.get("embed") == ["true"] or query.get("present") == ["1"]:
        return "", ""
    language = query.get("lang", [""])[-1]
    with speaking(language if language in languages() else None):
        title, about = _(entry.heading), entry.about and _(entry.about)
    if page == "lessons":
        about = None  # said before the first lesson alone
    lines, said = f"<b>{html.escape(title)}</b><i></i>", ".stMain h1"
    if about is not None:
        lines += f"<span>{_LEANING.sub(_leaning, html.escape(about))}</span>"
        said = ".st-key-page-about p"
    until = f'data-until="{said}, {ENDED}"'
    return f"<style {until}>{STYLE}</style>\n", f'<div class="heading-ahead" {until} aria-hidden="true">{lines}</div>\n'


def _leaning(found: re.Match[str]) -> str:
    return f"<em>{found[1]}</em>"
