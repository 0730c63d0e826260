"""A live picture of attention in one file: every head, mask and scale still to be moved, with no server and no network.

In the file are raw scores as base64, what to show first as JSON, and the same scripts that draw the app's explorer.
Knows neither Streamlit nor torch, so that a notebook can show what the app saves.
"""

import base64
import html
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from attnviz.base import rasterised, raw_scores
from attnviz.base.head_edit import NO_EDIT, HeadEdit
from attnviz.base.head_record import HeadChannel, HeadData, HeadGrid, HeadView, Pins
from attnviz.base.packed import pack_blob
from attnviz.base.record_json import to_json
from attnviz.base.words import _, current_language
from attnviz.live import canvas_wording
from attnviz.live.head_header import grid_header, head_header

NAME = "live"  #: of the group, the tokens and all else that goes by a name between the canvases
BUNDLE = Path(__file__).parent / "bundle"
Theme = Literal["auto", "light", "dark"]

#: What the file may do: run what stands in it. Nothing is asked of any server, whatever page it is put into.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'"
)


USUAL = HeadView()


@dataclass(frozen=True)
class LiveView:
    """Content of a live file.

    heads       every head in it, layer by layer, all of one shape; one alone is shown without the overview
    grid        heads of each layer, adding up to all
    first       how heads are displayed; its `tile` is the head that is displayed first, as places in `grid`
    edit        mask and scale as they are set
    title       what stands above: the model and what it read
    note        a sentence below, plain text; link: the address of this view in an app, if it has one
    """

    heads: Sequence[HeadData]
    grid: HeadGrid
    first: HeadView = USUAL
    edit: HeadEdit = NO_EDIT
    title: str = ""
    note: str = ""
    link: str | None = None

    @property
    def tile(self) -> tuple[int, int]:
        """(layer, head) displayed first; one head alone is the first of its file, wherever it comes from."""
        return (0, 0) if len(self.heads) == 1 else self.first.tile or (0, 0)


def live_page(view: LiveView, theme: Theme = "auto") -> str:
    """The HTML of the file. ValueError where heads and tokens do not fit each other."""
    _check(view)
    title = html.escape(view.title or view.first.title or "attnviz")
    script = f"{packed_script('script', 'live.js')}<script>{bundle_text('unpack.js')}</script>"
    return page_document(
        title, bundle_style("live.css"), inert_json(live_header(view)), pack_heads(view), script, theme
    )


def pack_heads(view: LiveView) -> str:
    """All heads of a view as the scripts read them, in base64."""
    raw, payload = raw_scores.pack(view.heads, bits=16)
    every = pack_blob({"doc": NAME, "heads": list(view.grid.heads), "raw": raw}, payload)
    return deflate_base64(every)


def deflate_base64(content: bytes) -> str:
    """Bytes as a page carries them: packed by zlib, in base64."""
    return base64.b64encode(zlib.compress(content, 9)).decode()


@cache
def packed_script(name: str, file: str) -> str:
    """The element, of this name, that holds one of the bundles for a script of the page to unpack and run."""
    return f'<script type="text/plain" id="attnviz-{name}">{deflate_base64(bundle_text(file).encode())}</script>'


def page_document(
    title: str,
    style: str,
    about: str,
    data: str,
    script: str,
    theme: Theme = "auto",
    policy: str = POLICY,
    top: str | None = None,
    foot: str = "",
) -> str:
    """The HTML of a page of heads, of parts that are HTML themselves; `top` and `foot` stand above and below it."""
    without = _("This picture needs JavaScript; the script is inside this file.")
    return (
        f'<!doctype html>\n<html lang="{current_language()}" data-theme="{theme}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta name="generator" content="attnviz"><title>{title}</title>{style}</head><body>'
        f"{f'<noscript>{html.escape(without)}</noscript>' if top is None else top}"
        f'<main id="attnviz"></main>{foot}'
        f'<script type="application/json" id="attnviz-view">{about}</script>'
        f'<script type="application/octet-stream" id="attnviz-heads">{data}</script>{script}</body></html>\n'
    )


def inert_json(value: object) -> str:
    """JSON that is no markup to any browser."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _check(view: LiveView) -> None:
    if sum(view.grid.heads) != len(view.heads) or not view.heads:
        raise ValueError(f"{list(view.grid.heads)} heads of the layers are not the {len(view.heads)} heads given")
    tokens_q, tokens_k = view.heads[0].tokens_q, view.heads[0].tokens_k
    wanted = (len(tokens_q), len(tokens_q if tokens_k is None else tokens_k))
    shapes = {tuple(head.scores.shape) for head in view.heads}
    if shapes != {wanted}:
        raise ValueError(f"heads of shape {sorted(shapes)} do not fit {wanted[0]} queries and {wanted[1]} keys")
    layer, head = view.tile
    if not (0 <= layer < len(view.grid.heads) and 0 <= head < view.grid.heads[layer]):
        raise ValueError(f"there is no head {head} in layer {layer}")


def live_header(view: LiveView) -> dict[str, Any]:
    """The header of a live file: texts around the pictures, header of the first head, and of the overview."""
    return {
        "title": view.title,
        "note": view.note,
        "link": safe_web_address(view.link),
        "arranged": to_json(view.first.arrangement),
        "head": _head(view),
        "overview": grid_header(view.grid, (0, 0), view.heads[0].tokens_q, view.heads[0].tokens_k)
        | {"group": NAME, "asked": None, "data": ""},
        "words": {"open": _("Open in the app"), "made": _("Made with attnviz"), "all": _("All heads")},
        "film": canvas_wording.film_menu_text() if all(head.exact for head in view.heads) else None,
    }


def _head(view: LiveView) -> dict[str, Any]:
    """The header of the head displayed first. Its scores are among those of all heads; weights are made of them."""
    first = replace(
        view.first,
        kind="weights",
        unit="",
        fixed_top=None,
        tile=view.tile,
        pins=view.first.pins or Pins(),
        over=() if len(view.heads) == 1 else view.first.over or (),
    )
    source = head_header(view.heads[0], first, view.edit, HeadChannel(NAME, NAME, every="inline"))
    return source | {"data": ",".join(map(str, view.tile)), "doc": NAME, "coarse": True}


def safe_web_address(link: str | None) -> str | None:
    """A link that leads to a page, and does not run something; None for any other."""
    return link if link is not None and urlsplit(link).scheme in ("http", "https") else None


def bundle_style(*sheets: str) -> str:
    """The style of a file, of these sheets of the folder of bundles, with the font of its pictures."""
    return f"<style>{rasterised.font_style()}{''.join(map(bundle_text, sheets))}</style>"


@cache
def bundle_text(name: str) -> str:
    """A script or a style sheet; esbuild writes nothing into either that would end its own element."""
    return (BUNDLE / name).read_text(encoding="utf-8")
