"""Heads that the browser fetches by itself, so that a picture is drawn before the rerun that a click starts.

A page offers a function from (layer, head) to a Head, and the browser gets an address that nobody can guess. All heads
of a sentence stand at one address, which everyone who reads the sentence is given, so that a class fetches them once:
it is a keyed hash of what was asked, and what stands there never changes: browsers and proxies may keep it.

Offers are remembered long after their visitors have gone, so that they hold no tensors and run no model: they look up
what is in memory, and where it is gone the browser goes on as before, a head at a time.
"""

import hmac
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import streamlit as st

from attnviz.base import raw_scores
from attnviz.base.head_record import HeadChannel, HeadData, HeadView
from attnviz.base.words import selected_language, use_language
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.blobs import head_blob
from attnviz.canvas.shared.component import app_root

MOST = 4000  # the latest offers that are remembered, of all visitors together
MOST_TOKENS = 64
MOST_BYTES = 2_500_000
HEAD, SENTENCE, TEXT = (
    "attnviz/head",
    "attnviz/heads",
    "attnviz/text",
)  #: below the app's root, before the names of what is offered

_KEY = secrets.token_bytes(32)  # of this process: its addresses mean nothing to another
_offers: OrderedDict[str, Callable[..., bytes]] = OrderedDict()
_lock = threading.Lock()


def offer_head(key: str, head: Callable[[int, int], tuple[HeadData, HeadView]], channel: HeadChannel) -> str:
    """Let the browser fetch any head of the view `key`; the address, which stays the same for the session.

    `head` raises LookupError when its tensors are no longer in memory. What is sent has 16 bits a score, if that is
    less: the exact head follows with the rerun of a click; most that are fetched are neighbours that nobody chooses.
    No session was asked, so that the `channel` names none.
    """
    path = f"{HEAD}/{st.session_state.setdefault(f'{key}_offer', secrets.token_urlsafe(16))}"
    address, tongue = app_root() + path, selected_language()

    def make_blob(layer: int, number: int) -> bytes:
        with use_language(tongue):
            data, view = head(layer, number)
            bare = replace(view, pins=None)
            return head_blob(data, bare, channel=replace(channel, ahead=address), coarse=True)

    _store_offer(path, make_blob)
    return address


def offer_bytes(name: Hashable, compute: Callable[[], bytes]) -> str:
    """Offer the bytes that `compute` returns. Returns their address, which follows from `repr(name)`."""
    path = f"{SENTENCE}/{hmac.new(_KEY, repr(name).encode(), 'sha256').hexdigest()[:40]}"

    def make_blob() -> bytes:
        blob = compute()
        if not 0 < len(blob) <= MOST_BYTES:
            raise LookupError(f"{len(blob)} bytes are not sent")
        return blob

    _store_offer(path, make_blob)
    return app_root() + path


def offer_parts(name: Hashable, compute: Callable[..., bytes]) -> str:
    """Offer what `compute` returns of any numbers, below one address, which follows from `repr(name)`."""
    path = f"{TEXT}/{hmac.new(_KEY, repr(name).encode(), 'sha256').hexdigest()[:40]}"
    _store_offer(path, compute)
    return app_root() + path


def _store_offer(path: str, make: Callable[..., bytes]) -> None:
    with _lock:
        _offers[path] = make
        _offers.move_to_end(path)
        while len(_offers) > MOST:
            _offers.popitem(last=False)


def find_offer(path: str, *indices: int) -> bytes | None:
    """The bytes offered at this path below the app's root; None where the offer or its tensors are gone."""
    with _lock:
        make = _offers.get(path)
    try:
        return None if make is None else make(*indices)
    except LookupError:
        return None


def is_short_enough(heads: int, queries: int, keys: int) -> bool:
    """Whether all heads are offered at an address: of a short sentence, in not too many bytes."""
    return max(queries, keys) <= MOST_TOKENS and heads * queries * (2 * keys + 4) < 0.96 * MOST_BYTES


def sentence_blob(document: str, heads: Sequence[int], raw: Sequence[HeadData]) -> bytes:
    """All heads of the tokens that `document` names, layer by layer; `heads` are each layer's. b"" if it cannot be."""
    try:
        header, payload = raw_scores.pack(raw)
    except ValueError:  # scores that are no numbers: a layer of this model overflows
        return b""
    return packing.pack_blob({"doc": document, "heads": list(heads), "raw": header}, payload)
