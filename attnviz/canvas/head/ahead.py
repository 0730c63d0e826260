"""Heads that the browser fetches by itself, so that a picture is drawn before the rerun that a click starts.

A page offers a function from (layer, head) to a Head, and the browser gets an address that nobody can
guess. Offers are remembered long after their visitors have gone, so the function must hold no tensors:
it looks them up when it is called, and raises LookupError if they are no longer in memory.
"""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from attnviz.base.words import language, speaking
from attnviz.canvas.shared.blobs import head_blob
from attnviz.canvas.shared.kinds import Head, HeadScene
from attnviz.canvas.shared.registration import app_root

MOST = 2000  # the latest offers that are remembered, of all visitors together
PREFIX = "attnviz/head"

#: what a head says it answers when no session has been asked: the browser knows its own session
NOBODY = {"session": "", "ack": 0, "heard": 0, "edits": 0, "overs": 0}

#: computes the head at (layer, head); raises LookupError when its tensors are no longer in memory
Compute = Callable[[int, int], Head]


@dataclass(frozen=True)
class Offer:
    """All it takes to draw any head of one stack as the page draws it."""

    head: Compute
    scene: HeadScene
    language: str | None
    address: str


_offers: OrderedDict[str, Offer] = OrderedDict()
_lock = threading.Lock()


def offer(key: str, head: Compute, scene: HeadScene) -> str:
    """Let the browser fetch any head of the view `key`; the address, which stays the same for the session."""
    token = st.session_state.setdefault(f"{key}_offer", secrets.token_urlsafe(16))
    address = f"{app_root()}{PREFIX}/{token}"
    bare = replace(scene, pins=None, edit=None, edited_tiles=None, on_pins=None, on_edit=None, on_over=None)
    with _lock:
        _offers[token] = Offer(head, bare, language(), address)
        _offers.move_to_end(token)
        while len(_offers) > MOST:
            _offers.popitem(last=False)
    return address


def answer(token: str, layer: int, head: int) -> bytes | None:
    """The blob of a head, None where the offer or the head is gone: with 16 bits a score, if that is less.

    The exact head follows with the rerun of a click; most that are fetched are neighbours that nobody chooses.
    """
    with _lock:
        offered = _offers.get(token)
    if offered is None:
        return None
    with speaking(offered.language):
        try:
            drawn = offered.head(layer, head)
        except LookupError:
            return None
        return head_blob(drawn, offered.scene, NOBODY, offered.address, coarse=True)
