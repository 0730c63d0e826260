"""A page of nothing but canvases, on attention made up from a seed: what tests/browser/test_canvas.py drives.

?n=tokens &layers= &heads= &kv= &html=1 (tokens that look like markup) &cross=1 &what=view|diff|mask
"""

from typing import Any, cast

import numpy as np
import streamlit as st

from attnviz.base.head_record import HeadData, HeadKind, HeadView, Pin, Pins
from attnviz.canvas.head.attention_view import head_view, overview_grid
from attnviz.canvas.mask import mask_grid
from attnviz.canvas.shared.kinds import Overview

SENTENCE = "The animal did not cross the street because it was too tired . Then the rain came down on the town and"
WORDS = SENTENCE.split()
SAMPLES = "<img src=x onerror=alert(1)> $x$ **y** <b>bold</b> &amp; `c` 日本語 مرحبا"
MARKUP = [*SAMPLES.split(), "\n", " "]

st.set_page_config(layout="wide")
n = int(st.query_params.get("n", 14))
n_layers, n_heads, n_kv = (int(st.query_params.get(name, d)) for name, d in [("layers", 6), ("heads", 9), ("kv", 3)])
cross = "cross" in st.query_params
words = MARKUP if "html" in st.query_params else WORDS
if "long" in st.query_params:
    words = [w * 30 for w in words]
tokens = [words[i % len(words)] for i in range(n)]
keys = [WORDS[(i * 3 + 1) % len(WORDS)] for i in range(n // 2 + 1)] if cross else None
n_k = len(keys) if keys else n


@st.cache_resource(max_entries=4)
def attention(n_q: int, n_k: int, layers: int, heads: int) -> np.ndarray:
    """(L, H, Q, K): previous-token, first-token, diagonal, spread and random heads; causal if square."""
    rng = np.random.default_rng(0)
    q, k = np.indices((n_q, n_k))
    kinds = [-4.0 * np.abs(q - 1 - k), -3.0 * k, -1.0 * np.abs(q - k), 0.0 * q, -2.0 * ((q + k) % 5)]
    out = np.empty((layers, heads, n_q, n_k), np.float32)
    for layer in range(layers):
        for head in range(heads):
            scores = kinds[(layer * 7 + head) % 5] * rng.uniform(0.3, 1.5) + rng.normal(0, 1, (n_q, n_k))
            if n_q == n_k:
                scores = np.where(k <= q, scores, -np.inf)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            out[layer, head] = scores / scores.sum(-1, keepdims=True)
    return out


@st.cache_resource(max_entries=4)
def tiles(n_q: int, n_k: int, layers: int, heads: int, kv: int) -> Overview:
    weights = attention(n_q, n_k, layers, heads)
    hidden = np.triu(np.ones((n_q, n_k), bool), 1) if n_q == n_k else None
    return Overview.of(weights, kv_heads=[kv] * layers, hidden=hidden)


weights = attention(n, n_k, n_layers, n_heads)
hidden = np.triu(np.ones((n, n_k), bool), 1) if not cross else None
what = st.query_params.get("what", "view")


def owned() -> dict[str, Any]:
    """?owned: the page keeps the pins, as a link would, and hands back what it keeps."""
    if "owned" not in st.query_params:
        return {}
    pins = st.session_state.setdefault("held", Pins((Pin("q", 3),)))
    return {"pins": pins, "on_pins": lambda held: st.session_state.update(held=held)}


def keep_pick(layer: int, head: int) -> None:
    st.session_state.picked = (layer, head)


@st.fragment
def view() -> None:
    overview = tiles(n, n_k, n_layers, n_heads, n_kv)
    if "measure" in st.query_params:
        overview = overview.by(weights[..., 0].mean(-1), "first token", order=True, dim=True)
    selected = st.session_state.setdefault("picked", (1, 1))
    layer, number = overview_grid("view", overview, tokens, keys, selected=selected, on_pick=keep_pick)
    held = owned()
    look = HeadView(
        f"Layer {layer}, head {number}",
        tile=(layer, number),
        segments=((7,), (7,) if keys is None else ()) if "segments" in st.query_params else ((), ()),
        pins=held.pop("pins", None),
        full_range="own" not in st.query_params,
        root="root" in st.query_params,
    )
    data = HeadData.of_values(weights[layer, number], tokens, keys, hidden)
    pins = head_view("view_head", data, look, group="view", **held)
    st.text(f"picked {layer},{number}")
    st.text("pins " + " ".join(f"{p.axis}{p.position}" for p in pins.tokens) + f" cell {pins.cell}")


@st.fragment
def difference() -> None:
    before, after = weights[0, 0], weights[1, 1]
    views = [
        ("before", before, "weights"),
        ("after", after, "weights"),
        ("difference", after - before, "diff"),
    ]
    for column, (name, values, kind) in zip(st.columns(3), views, strict=True):
        with column:
            data = HeadData.of_values(values, tokens, keys, hidden)
            pins = head_view(name, data, HeadView(name, cast(HeadKind, kind), compact=True), group="three")
    st.text("pins " + " ".join(f"{p.axis}{p.position}" for p in pins.tokens))


@st.fragment
def painting() -> None:
    if st.button("window"):
        q, k = np.indices((n, n_k))
        st.session_state.mask = (k <= q) & (k > q - 3)
    start = st.session_state.setdefault("mask", np.tril(np.ones((n, n_k), bool)))
    mask_grid(
        "grid",
        start,
        tokens,
        keys,
        on_change=lambda grid: st.session_state.update(mask=grid),
    )
    st.text(f"kept {int(start.sum())} of {start.size}")


{"view": view, "diff": difference, "mask": painting}[what]()
