"""What the layers are called, on screen and in sentences, and how a cost grows."""

from __future__ import annotations

from attnviz.words import _


def kind_names() -> dict[str, str]:
    """Id to name. LSTM and GRU are names in every language."""
    return {
        "attention": _("self-attention"),
        "explicit": _("attention, weights built"),
        "fused": _("attention, fused"),
        "window": _("windowed attention"),
        "linear": _("linear attention"),
        "rnn": _("plain recurrence"),
        "lstm": "LSTM",
        "gru": "GRU",
        "conv": _("convolution"),
        "dilated": _("dilated convolution"),
        "dense": _("all to all, nothing shared"),
        "mixer": _("n × n learned weights"),
        "positions": _("attention and learned places"),
    }


#: the quoted table's own words for how a layer's cost, its waiting and its path grow
ORDERS = {
    "attention": ("O(n²·d)", "O(1)", "O(1)"),
    "window": ("O(r·n·d)", "O(1)", "O(n/r)"),
    "linear": ("O(n·d²)", "O(1)", "O(1)"),
    "rnn": ("O(n·d²)", "O(n)", "O(n)"),
    "lstm": ("O(n·d²)", "O(n)", "O(n)"),
    "gru": ("O(n·d²)", "O(n)", "O(n)"),
    "conv": ("O(k·n·d²)", "O(1)", "O(n/k)"),
    "dilated": ("O(k·n·d²)", "O(1)", "O(logₖ n)"),
}
