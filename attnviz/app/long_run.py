"""A pass over a long text, with a bar, an estimate and a stop; others are not held up by it.

It takes the one place of long computations, so that a place is left for whoever types a sentence. A pass at which
nobody looks any more ends by itself: that is how it is stopped, and what happens to that of a visitor who has left.
"""

import time
from concurrent.futures import wait
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import streamlit as st

from attnviz.analysis.model_run import ModelRun, Request, run_model
from attnviz.app.cache import model_cache
from attnviz.base.message import Problem
from attnviz.base.words import _
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading.open_folder import free_memory
from attnviz.models.settings import current_settings

ALONE = 4.0  #: seconds for which a pass goes on that nobody looks at
BETWEEN_LOOKS = 0.25
SHARE_OF_MEMORY = 0.5  #: of what is free, that one text may take
_STOPPED = "_texts_stopped"


@dataclass
class _Pass:
    """How far a pass has come, and when somebody last looked at it."""

    began: float | None = None
    share: float = 0.0
    seen: float = field(default_factory=time.monotonic)


_passes: dict[Request, _Pass] = {}


def bytes_per_token(loaded: LoadedModel) -> int:
    """Bytes of q, k and v of all layers that a pass keeps of each token."""
    config = loaded.model.config.get_text_config()
    heads = config.num_attention_heads
    kv_heads = getattr(config, "num_key_value_heads", None) or heads
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    return int(config.num_hidden_layers * (heads + 2 * kv_heads) * width * loaded.model.dtype.itemsize)


@lru_cache(maxsize=16)
def longest_text(loaded: LoadedModel) -> int:
    """Tokens of a long text: the setting, the model's positions and the memory that is free allow them."""
    limit = current_settings().text_limit
    free = free_memory(str(loaded.model.device))
    fits = limit if free is None else int(free * SHARE_OF_MEMORY) // bytes_per_token(loaded)
    return max(1, min(limit, loaded.max_positions or limit, fits))


def read_text(request: Request) -> ModelRun | None:
    """The pass over a long text, from memory or made now; None where the visitor has stopped it."""
    texts = model_cache.process_caches().texts
    loaded = model_cache.get_model(request.model)
    request = replace(request, version=loaded.version, limit=longest_text(loaded))
    run = texts.find(request)
    if run is not None:
        return run
    stopped: set[Request] = st.session_state.setdefault(_STOPPED, set())
    place = st.empty()
    line = partial(place.container, horizontal=True, vertical_alignment="center", key="long-text-progress")
    if request in stopped:
        with line():
            st.button(
                _("Read it"), icon=":material/play_arrow:", key="long-go", on_click=stopped.discard, args=(request,)
            )
            st.caption(_("Reading was stopped."))
        return None
    future = texts.begin(request, lambda: _make(request, loaded))
    # A short text needs no bar. For a longer one the browser has by then emptied the place: sent together with the
    # line, the emptying would be dropped, and buttons of the picture before would stand in the line.
    wait([future], timeout=BETWEEN_LOOKS)
    if future.done():
        return future.result()
    try:
        with line():
            st.button(_("Stop"), icon=":material/stop:", key="long-stop", on_click=stopped.add, args=(request,))
            bar = st.progress(0.0)
        count = min(request.limit, len(loaded.tokenizer(request.text, verbose=False)["input_ids"]))  # type: ignore[misc]
        size = count * bytes_per_token(loaded) / 10**6
        while not future.done():
            here = _passes.setdefault(request, _Pass())
            here.seen = time.monotonic()
            # for a visitor who has left or pressed the button, Streamlit ends the run here
            bar.progress(min(1.0, here.share), _describe(here, count, size))
            wait([future], timeout=BETWEEN_LOOKS)
    finally:
        place.empty()
    return future.result()


def _describe(here: _Pass, tokens: int, size: float) -> str:
    if here.began is None:
        return _("{tokens:,} tokens: a long computation of another visitor is ahead of yours.").format(tokens=tokens)
    text = _("Reading {tokens:,} tokens, which takes {size:,.0f} MB of memory").format(tokens=tokens, size=size)
    if here.share == 0:
        return f"{text}…"
    rest = (time.monotonic() - here.began) * (1 / here.share - 1)
    return _("{what}: about {seconds:,.0f} s more.").format(what=text, seconds=rest)


def _make(request: Request, loaded: LoadedModel) -> ModelRun:
    here = _passes.setdefault(request, _Pass())
    engine = model_cache.process_caches().engine

    def step(share: float) -> None:
        here.share = share
        if time.monotonic() - here.seen > ALONE:
            raise Problem("Nobody looked any more: reading was stopped")

    try:
        if not engine.loads_here:
            here.began = time.monotonic()
            return engine.run(request)
        with model_cache.wait_for_step():
            here.began = time.monotonic()
            return run_model(request, loaded, step)
    finally:
        _passes.pop(request, None)
