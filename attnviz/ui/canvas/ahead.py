"""Heads that the browser fetches by itself: the picture is there before the rerun that a click starts.

A page offers a function from (layer, head) to a Head; the browser gets an address that nobody can
guess. What is offered must be light: it looks its tensors up when asked, and may find them gone.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from attnviz.ui.canvas.blobs import head_blob
from attnviz.ui.canvas.kinds import Head, Options
from attnviz.words import language, speaking

MOST = 2000  # offers remembered for all visitors together, the latest ones
PREFIX = "attnviz/head"

#: computes the head asked for; LookupError when it cannot any more
Compute = Callable[[int, int], Head]


@dataclass(frozen=True)
class Offer:
    """All it takes to draw any head of one stack as the page draws it."""

    head: Compute
    group: str
    tokens_q: Sequence[str]
    tokens_k: Sequence[str] | None
    options: Options
    language: str | None


_offers: OrderedDict[str, Offer] = OrderedDict()
_lock = threading.Lock()


def offer(
    key: str, head: Compute, group: str, tokens_q: Sequence[str], tokens_k: Sequence[str] | None, options: Options
) -> str:
    """Offer what the view `key` of this session shows; answer the address, the same on every run."""
    token = st.session_state.setdefault(f"{key}_offer", secrets.token_urlsafe(16))
    with _lock:
        _offers[token] = Offer(head, group, tokens_q, tokens_k, options, language())
        _offers.move_to_end(token)
        while len(_offers) > MOST:
            _offers.popitem(last=False)
    return f"{PREFIX}/{token}"


def answer(token: str, layer: int, head: int) -> bytes | None:
    """The blob of a head, as `head_view` would send it; None when there is no such offer or head any more."""
    with _lock:
        offered = _offers.get(token)
    if offered is None:
        return None
    with speaking(offered.language):
        try:
            drawn = offered.head(layer, head)
        except LookupError:
            return None
        echo = {"ack": 0, "heard": 0}
        address = f"{PREFIX}/{token}"
        return head_blob(offered.group, drawn, offered.tokens_q, offered.tokens_k, offered.options, None, echo, address)
