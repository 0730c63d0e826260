"""All heads of a sentence at one address, which everyone who reads the sentence is given: a class fetches it once.

The address is a keyed hash of what was asked, so that nobody who does not know the sentence can make it, and everybody
who does is given the same. What stands there never changes: browsers and proxies may keep it. Offers hold no tensors
and run no model: they look up what is in memory, and where it is gone the browser goes on as before, a head at a time.
"""

import hmac
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence

from attnviz.base import raw_scores
from attnviz.base.raw_scores import RawHead
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.registration import app_root

MOST = 2000  # sentences whose addresses are remembered, the latest
MOST_TOKENS = 64
MOST_BYTES = 2_500_000
PREFIX = "attnviz/heads"

#: makes the bytes of all heads; raises LookupError when their tensors are no longer in memory
Make = Callable[[], bytes]

_KEY = secrets.token_bytes(32)  # of this process: its addresses mean nothing to another
_offers: OrderedDict[str, Make] = OrderedDict()
_lock = threading.Lock()


def offer(name: Hashable, make: Make) -> str:
    """The address of what `make` makes, the same for equal names; their `repr` must tell them apart."""
    token = hmac.new(_KEY, repr(name).encode(), "sha256").hexdigest()[:40]
    with _lock:
        _offers[token] = make
        _offers.move_to_end(token)
        while len(_offers) > MOST:
            _offers.popitem(last=False)
    return f"{app_root()}{PREFIX}/{token}"


def answer(token: str) -> bytes | None:
    """The bytes that were offered; None where they are too many, or the offer or its tensors are gone."""
    with _lock:
        make = _offers.get(token)
    try:
        found = None if make is None else make()
    except LookupError:
        return None
    return found if found and len(found) <= MOST_BYTES else None


def fits(heads: int, queries: int, keys: int) -> bool:
    """Whether so many heads of so many tokens are worth an address: a short sentence, in not too many bytes."""
    return max(queries, keys) <= MOST_TOKENS and heads * queries * (2 * keys + 4) < 0.96 * MOST_BYTES


def blob_of(document: str, heads: Sequence[int], raw: Sequence[RawHead]) -> bytes:
    """All heads of the tokens that `document` names, layer by layer; `heads` are each layer's. b"" if it cannot be."""
    try:
        header, payload = raw_scores.pack(raw)
    except ValueError:  # scores that are no numbers: a layer of this model overflows
        return b""
    return packing.blob({"doc": document, "heads": list(heads), "raw": header}, payload)
