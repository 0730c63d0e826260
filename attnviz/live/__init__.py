"""A live picture of attention in one file: every head, mask and scale still to be moved, with no server and no network.

In the file are raw scores as base64, what to show first as JSON, and the same scripts that draw the app's explorer.
Knows neither Streamlit nor torch, so that a notebook can show what the app saves.
"""

import base64
import html
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from attnviz.base import pictures_font, raw_scores
from attnviz.base.head_edit import NO_EDIT, HeadEdit
from attnviz.base.packed import blob
from attnviz.base.words import _, tongue
from attnviz.live import canvas_wording

NAME = "live"  #: of the group, the tokens and all else that goes by a name between the canvases
BUNDLE = Path(__file__).parent / "bundle"
Theme = Literal["auto", "light", "dark"]

#: What the file may do: run what stands in it. Nothing is asked of any server, whatever page it is put into.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'"
)


@dataclass(frozen=True)
class LiveView:
    """What the file shows.

    heads       every head in it, layer by layer, all of one shape; one alone is shown without the overview
    counts      heads of each layer, adding up to all; kv_counts: key/value heads of each layer
    tokens_q, tokens_k   labels of queries and keys; `tokens_k=None`: the queries' own
    at          the (layer, head) on show first, as places among `counts`
    title       what stands above: the model and what it read; head_title: of the head on show first
    titles      how any head is called, with {layer}, {head} and {kv}, and how many heads share one key/value head
    note        a sentence below, plain text; link: the address of this view in an app, if it has one
    pins, cell  what is pinned: ("q" | "k", position) each, and the clicked (query, key)
    edit        mask and scale as they are set
    sentence    templates about a row, what `canvas.SaidOfRow` says, as JSON
    segments    first rows and columns of a second sentence
    arranged    how tokens are joined or left out, what `canvas.Raw` says, as JSON; then rows and cols are the labels
                of what is left
    over        heads of the layer on show whose lines are laid over those of the head on show
    """

    heads: Sequence[raw_scores.RawHead]
    counts: Sequence[int]
    kv_counts: Sequence[int]
    tokens_q: Sequence[str]
    tokens_k: Sequence[str] | None = None
    at: tuple[int, int] = (0, 0)
    title: str = ""
    head_title: str = ""
    titles: tuple[str, int] | None = None
    note: str = ""
    link: str | None = None
    pins: Sequence[tuple[str, int]] = ()
    cell: tuple[int, int] | None = None
    edit: HeadEdit = NO_EDIT
    sentence: Mapping[str, Any] | None = None
    segments: tuple[Sequence[int], Sequence[int]] = ((), ())
    full_range: bool = True
    root: bool = False
    arranged: Mapping[str, Any] | None = None
    rows: Sequence[str] | None = None
    cols: Sequence[str] | None = None
    layer_ids: Sequence[int | str] = field(default=())
    over: Sequence[int] = ()


def page(view: LiveView, theme: Theme = "auto") -> str:
    """The HTML of the file. ValueError where heads and tokens do not fit each other."""
    _check(view)
    title = html.escape(view.title or view.head_title or "attnviz")
    script = f"<script>{bundle_text('live.js')}</script>"
    return document(title, style_of("live.css"), inert_json(header(view)), packed(view), script, theme)


def packed(view: LiveView) -> str:
    """All heads of a view as the scripts read them, in base64."""
    raw, payload = raw_scores.pack(view.heads, bits=16)
    every = blob({"doc": NAME, "heads": list(view.counts), "raw": raw}, payload)
    return squeezed(every)


def squeezed(content: bytes) -> str:
    """Bytes as a page carries them: packed by zlib, in base64."""
    return base64.b64encode(zlib.compress(content, 9)).decode()


def document(
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
        f'<!doctype html>\n<html lang="{tongue()}" data-theme="{theme}"><head><meta charset="utf-8">'
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
    wanted = (len(view.tokens_q), len(view.tokens_q if view.tokens_k is None else view.tokens_k))
    if sum(view.counts) != len(view.heads) or not view.heads:
        raise ValueError(f"{list(view.counts)} heads of the layers are not the {len(view.heads)} heads given")
    shapes = {tuple(head.scores.shape) for head in view.heads}
    if shapes != {wanted}:
        raise ValueError(f"heads of shape {sorted(shapes)} do not fit {wanted[0]} queries and {wanted[1]} keys")
    layer, head = view.at
    if not (0 <= layer < len(view.counts) and 0 <= head < view.counts[layer]):
        raise ValueError(f"there is no head {head} in layer {layer}")


def header(view: LiveView) -> dict[str, Any]:
    """What stands around the pictures, and what the canvases are sent: the head on show first, and the overview."""
    return {
        "title": view.title,
        "note": view.note,
        "link": web_address(view.link),
        "arranged": None if view.arranged is None else dict(view.arranged),
        "head": _head(view),
        "overview": _overview(view),
        "words": {"open": _("Open in the app"), "made": _("Made with attnviz"), "all": _("All heads")},
    }


def _head(view: LiveView) -> dict[str, Any]:
    labels = (view.tokens_q, view.tokens_k) if view.rows is None else (view.rows, view.cols)
    q, k = (None if side is None else list(side) for side in labels)
    return {
        "group": NAME,
        "session": NAME,
        "ack": 0,
        "heard": 0,
        "edits": 0,
        "overs": 0,
        "doc": NAME,
        "start": NAME,
        "look": NAME,
        "editName": NAME,
        "every": "inline",
        "kind": "weights",
        "signed": False,
        "top": 1,
        "coarse": True,
        "raw": None,
        "fixedTop": None,
        "ahead": None,
        "editedTiles": None,
        "compact": False,
        "chips": True,
        "lines": True,
        "title": view.head_title,
        "titles": None if view.titles is None else {"template": view.titles[0], "share": view.titles[1]},
        "data": ",".join(map(str, view.at)),
        "tile": list(view.at),
        "shape": [len(q or ()), len(q or ()) if k is None else len(k)],
        "q": q,
        "k": k,
        "scale": {"top": 1, "root": view.root},
        "fullRange": view.full_range,
        "segments": [list(places) for places in view.segments],
        "pins": {"tokens": [list(pin) for pin in view.pins], "cell": None if view.cell is None else list(view.cell)},
        "edit": view.edit.to_json(),
        "over": list(view.over),
        "sentence": None if view.sentence is None else dict(view.sentence),
        "unit": canvas_wording.unit("weights"),
        "colours": canvas_wording.colours(),
        "words": canvas_wording.head() | canvas_wording.edit(),
    }


def _overview(view: LiveView) -> dict[str, Any]:
    return {
        "group": NAME,
        "asked": None,
        "measure": None,
        "measureName": "",
        "order": "place",
        "dim": False,
        "heads": list(view.counts),
        "kv": list(view.kv_counts),
        "layers": list(view.layer_ids or range(len(view.counts))),
        "q": list(view.tokens_q),
        "k": None if view.tokens_k is None else list(view.tokens_k),
        "scale": {"top": 1, "root": True},
        "unit": canvas_wording.unit("weights"),
        "colours": canvas_wording.colours(),
        "words": canvas_wording.overview(),
    }


def web_address(link: str | None) -> str | None:
    """A link that leads to a page, and does not run something; None for any other."""
    return link if link is not None and urlsplit(link).scheme in ("http", "https") else None


def style_of(*sheets: str) -> str:
    """The style of a file, of these sheets of the folder of bundles, with the font of its pictures."""
    return f"<style>{pictures_font.style()}{''.join(map(bundle_text, sheets))}</style>"


@cache
def bundle_text(name: str) -> str:
    """A script or a style sheet; esbuild writes nothing into either that would end its own element."""
    return (BUNDLE / name).read_text(encoding="utf-8")
