"""Canvas components: every head at once, one head large, and a mask to paint on.

All three are Streamlit components (plain JavaScript on a canvas) fed with one blob of bytes; they follow the theme,
work with mouse, touch and keyboard, and show tokens as typed. Each is imported from its own folder: this file imports
nothing.

    from attnviz.base.head_record import HeadData, HeadView
    from attnviz.canvas.head.attention_view import head_view, overview_grid
    from attnviz.canvas.shared.blobs import Overview

    # 1. All heads, and the chosen one large. Put both into one fragment.
    tiles = Overview.of(weights_of_each_layer, kv_heads=[3] * 30)     # (H, Q, K) arrays, NaN = masked; cache it
    tiles = tiles.by(entropy, _("entropy"), order=False, dim=True)           # optional: one number a head
    layer, head = overview_grid("x", tiles, tokens, selected=kept(), on_pick=keep)
    data = HeadData.of_values(weights, tokens)
    pins = head_view("x_head", data, HeadView(title, tile=(layer, head)), group="x")
    #    on_pick(layer, head) runs before the rerun. layer and head are places in the grid (0, 1, ...).
    #    pins.tokens: (Pin("q", 3), ...); pins.cell: (query, key) or None.

    #    head_view(others=head_of): the browser fetches other heads by itself, before the script answers a click
    #    (head/ahead.py); every=address of all heads of a short sentence, fetched in the background.

    # 2. Before, after, difference: three compact views that light, pin and zoom together.
    for column, (name, data) in zip(st.columns(3), views):
        with column:
            head_view(name, data, HeadView(kind=..., compact=True), group="x")       # "diff" for after - before

    # 3. A mask to paint on: boolean (Q, K), True = may attend.
    mask_grid("m", mask, tokens, on_change=keep_mask)

Two sequences (cross-attention): pass `tokens_k` as well. Value-weighted: HeadView(kind="values"). Two
sentences in one: HeadView(segments=((7,), (7,))). A view's key is a component key: it must not change from
run to run, and all views in a group must show the same tokens. Pins from a link: HeadView(pins=...);
whatever new is passed there replaces what is pinned (`Pins()` clears), and `on_pins` receives gestures in
every view of the group. Only the one large head of a group names its `tile`; others
leave it None. The JavaScript lies beside it, bundled into bundles/ by `make js-build`.
"""
