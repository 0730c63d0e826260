"""Canvas components: every head at once, one head large, and a mask to paint on.

All three are Streamlit components (plain JavaScript on a canvas) fed with one blob of bytes; they
follow the theme, work with mouse, touch and keyboard, and show tokens as typed.

    from attnviz import canvas

    # 1. All heads, and the chosen one large. Put both into one fragment.
    tiles = canvas.Overview.of(weights_of_each_layer, kv_heads=[3] * 30)     # (H, Q, K) arrays, NaN = masked; cache it
    tiles = tiles.by(entropy, _("entropy"), order=False, dim=True)           # optional: one number a head
    layer, head = canvas.overview_grid("x", tiles, tokens, selected=kept(), on_pick=keep)
    scene = canvas.HeadScene(tokens, options=canvas.Options(full_range=True, root=False), group="x")
    pins = canvas.head_view("x_head", canvas.Head(weights, title=..., layer=layer, head=head), scene)
    #    on_pick(layer, head) runs before the rerun. layer and head are places in the grid (0, 1, ...).
    #    pins.tokens: (Pin("q", 3), ...); pins.cell: (query, key) or None.

    #    HeadScene(others=head_of): the browser fetches other heads by itself, before the script answers a click
    #    (ahead.py); every=address of all heads of a short sentence, fetched in the background (sentence_heads.py).

    # 2. Before, after, difference: three compact views that light, pin and zoom together.
    for column, (name, head) in zip(st.columns(3), views):                   # Head(after - before, kind="diff")
        with column:
            canvas.head_view(name, head, canvas.HeadScene(tokens, options=canvas.Options(compact=True), group="x"))

    # 3. A mask to paint on: boolean (Q, K), True = may attend.
    mask_grid("m", mask, tokens, on_change=keep_mask)

Two sequences (cross-attention): pass `tokens_k` as well. Value-weighted: Head(kind="values"). Two
sentences in one: Options(segments_q=(7,)). A view's key is a component key: it must not change from
run to run, and all views in a group must show the same tokens. Pins from a link: HeadScene(pins=...);
whatever new is passed there replaces what is pinned (`Pins()` clears), and `on_pins` hears gestures in
every view of the group. Only the one large head of a group names its `layer` and `head`; others leave
them None. The JavaScript is in src/, bundled into bundles/ by `make js-build`.
"""

from attnviz.canvas.head.attention_view import head_view, overview_grid
from attnviz.canvas.head.pictures import LiveHeads, head_picture, lines_picture, live_view
from attnviz.canvas.model_strip import model_strip, strip_picture
from attnviz.canvas.shared.blobs import document
from attnviz.canvas.shared.kinds import (
    AskedText,
    Head,
    HeadScene,
    Options,
    Overview,
    Pin,
    Pins,
    Raw,
    SaidOfRow,
)
from attnviz.canvas.shared.registration import app_root, component, remember_page, served_by_address
from attnviz.figures.svg_strip import StripBlock, StripPart, StripWay

__all__ = [
    "AskedText",
    "Head",
    "HeadScene",
    "LiveHeads",
    "Options",
    "Overview",
    "Pin",
    "Pins",
    "Raw",
    "SaidOfRow",
    "StripBlock",
    "StripPart",
    "StripWay",
    "app_root",
    "component",
    "document",
    "head_picture",
    "head_view",
    "lines_picture",
    "live_view",
    "model_strip",
    "overview_grid",
    "remember_page",
    "served_by_address",
    "strip_picture",
]
