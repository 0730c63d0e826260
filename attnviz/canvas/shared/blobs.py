"""What each view is sent, and what it reports back, in words that both sides know."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from attnviz.base import raw_scores
from attnviz.base.words import tongue
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.component import count
from attnviz.canvas.shared.kinds import AskedText, Head, HeadScene, Options, Overview, Pin, Pins, Raw
from attnviz.figures.theme import MOST_HEADS
from attnviz.live import canvas_wording


def document(tokens_q: Sequence[str], tokens_k: Sequence[str] | None) -> str:
    """A short name for the tokens: pins and zoom belong to them."""
    return packing.fingerprint(tuple(tokens_q), None if tokens_k is None else tuple(tokens_k))


def overview_blob(
    group: str,
    overview: Overview,
    tokens_q: Sequence[str],
    tokens_k: Sequence[str] | None,
    asked: AskedText | None = None,
) -> bytes:
    """All thumbnails; nothing in it depends on which head is chosen, so that a click sends none of it again."""
    tiles, name = overview.packed
    header: dict[str, Any] = {
        "group": group,
        "asked": None if asked is None else asdict(asked),
        "data": name,
        "shape": list(overview.thumbnails.shape[1:]),
        "heads": list(overview.heads),
        "kv": list(overview.kv_heads),
        "layers": list(overview.layer_ids or range(len(overview.heads))),
        "measure": None if overview.measure is None else packing.plain_numbers(overview.measure, 4),
        "measureName": overview.measure_name,
        "order": overview.order,
        "dim": overview.dim,
        "silenced": [list(place) for place in overview.silenced],
        "q": [str(t) for t in tokens_q],
        "k": None if tokens_k is None else [str(t) for t in tokens_k],
        "scale": {"top": 1.0, "root": overview.root},
        "unit": canvas_wording.unit("weights"),
        "colours": canvas_wording.colours(),
        "words": canvas_wording.overview(),
    }
    return packing.blob(header, tiles)


def head_blob(
    head: Head, scene: HeadScene, echo: dict[str, Any], ahead: str | None = None, coarse: bool = False
) -> bytes:
    """A head with all that it takes to draw it; `echo` says who answers, and what it has heard of.

    `ahead` is the address under which the browser may fetch other heads by itself. A `coarse` head has 16 bits a score
    where that is less than its exact form.
    """
    tokens_q, tokens_k, options = scene.tokens_q, scene.tokens_k, scene.options
    pins, edit, over = scene.pins, scene.edit, scene.over
    values = np.asarray(head.values)
    queries, keys = len(tokens_q), len(scene.keys)
    if values.shape != (queries, keys):
        raise ValueError(f"values of shape {values.shape} do not fit {queries} queries and {keys} keys")
    code_top = max(head.largest, 1.0 if head.kind in ("weights", "diff") else 0.0) or 1.0
    raw, payload = (None, _coded(head, code_top)) if head.raw is None else _raw(head.raw, coarse)
    header: dict[str, Any] = {
        "group": scene.group,
        "doc": document(tokens_q, tokens_k),
        "data": packing.fingerprint(payload, values.shape),
        "shape": list(values.shape),
        "top": code_top,
        "scale": {"top": options.top_of(head), "root": options.root},
        "q": [str(t) for t in tokens_q],
        "k": None if tokens_k is None else [str(t) for t in tokens_k],
        "segments": [list(places) for places in scene.segments],
        "pins": None if pins is None else _plain_pins(pins),
        "start": pins_name(pins),
        "ahead": ahead,
        "every": scene.every,
        "editedTiles": scene.edited_tiles,
        "raw": raw,
        "coarse": raw is not None and raw["scores"]["bits"] == 16,
        "edit": None if edit is None else edit.to_json(),
        "editName": "" if edit is None else packing.fingerprint(edit.to_json()),
        "over": None if over is None else list(over),
        "colours": canvas_wording.colours(),
        "words": canvas_wording.head()
        | ({} if edit is None else canvas_wording.edit())
        | (canvas_wording.story() if options.story else {}),
    }
    return packing.blob(header | _as_drawn(head, options) | echo, payload)


def _as_drawn(head: Head, options: Options) -> dict[str, Any]:
    """What the header says of the head itself, and of how it is drawn."""
    return {
        "signed": head.signed,
        "kind": head.kind,
        "title": head.title,
        "tile": None if head.layer is None else [head.layer, head.head],
        "sentence": plain_sentence(head),
        "titles": None if head.titles is None else {"template": head.titles[0], "share": head.titles[1]},
        "look": packing.fingerprint(options, head.kind, tongue()),
        "called": options.called,
        "compact": options.compact,
        "chips": options.chips and not options.compact,
        "lines": options.lines and not options.compact,
        "story": options.story,
        "unit": options.unit or canvas_wording.unit(head.kind),
        "fullRange": options.full_range,
        "fixedTop": options.top,
    }


def _coded(head: Head, top: float) -> bytes:
    codes = packing.encode16(np.asarray(head.values), head.hidden, top, head.signed)
    return packing.squeeze(packing.planes(codes), runs=True)


def _raw(raw: Raw, coarse: bool) -> tuple[dict[str, Any], bytes]:
    """What the browser computes weights from: not compressed, because unpacking would cost more time than sending."""
    scores, payload = raw_scores.pack([raw.head], 32)
    if coarse:
        scores, payload = min((scores, payload), raw_scores.pack([raw.head], 16), key=lambda packed: len(packed[1]))
    norms = b"" if raw.norms is None else raw.norms.astype("<f4").tobytes()
    return {"scores": scores, "arranged": plain_arrangement(raw)}, payload + norms


def plain_arrangement(raw: Raw) -> dict[str, Any]:
    """How weights become the matrix on show, as JSON."""
    return {
        "rows": None if raw.rows is None else [list(places) for places in raw.rows],
        "cols": None if raw.cols is None else [list(places) for places in raw.cols],
        "merged": raw.merged,
        "renormalise": raw.renormalise,
        "norms": raw.norms is not None,
    }


def plain_sentence(head: Head) -> dict[str, Any] | None:
    """What is said of a row, as JSON."""
    told = head.sentence
    if told is None:
        return None
    rows, cols = told.places
    return {"templates": list(told.templates), "row": told.row, "places": [list(rows), list(cols)], "least": told.least}


def read_over(kept: dict[str, Any]) -> tuple[int, ...] | None:
    """The heads laid over the one on show, as the browser reported them; None where they make no sense."""
    heads = kept.get("heads")
    if not isinstance(heads, list) or any(count(head) is None for head in heads):
        return None
    return tuple(dict.fromkeys(heads))[:MOST_HEADS]


def _plain_pins(pins: Pins) -> dict[str, Any]:
    return {"tokens": [[p.axis, p.index] for p in pins.tokens], "cell": None if pins.cell is None else list(pins.cell)}


def pins_name(pins: Pins | None) -> str:
    """A short name for what is pinned: the browser takes pins over when their name changes."""
    return "" if pins is None else packing.fingerprint(_plain_pins(pins))


def read_pins(kept: dict[str, Any], scene: HeadScene) -> Pins | None:
    """Pins as the browser reported them, None where they belong to other tokens; what does not fit is dropped."""
    if kept.get("doc") != document(scene.tokens_q, scene.tokens_k):
        return None
    size = {"q": len(scene.tokens_q), "k": len(scene.keys)}
    pins = tuple(Pin(a, i) for a, i in _pairs(kept.get("tokens")) if a in size and count(i, size[a]) is not None)
    cells = (cell for cell in _pairs([kept.get("cell")]) if None not in map(count, cell, size.values()))
    return Pins(pins, next(((q, k) for q, k in cells), None))


def _pairs(value: Any) -> list[Any]:
    return [pair for pair in value if isinstance(pair, list) and len(pair) == 2] if isinstance(value, list) else []
