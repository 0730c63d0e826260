"""Writing token by token: what the cache of keys and values holds, saves and costs, and how it goes wrong."""

from __future__ import annotations

from attnviz.ui.decoding import decoding_choices, player_panel
from attnviz.ui.shared import guard, one_of, page_heading
from attnviz.words import _

page_heading(_("The KV cache, step by step"))
VIEWS = {
    "steps": (_("Step by step"), player_panel.panel),
}
names = {name: label for name, (label, _panel) in VIEWS.items()}
view = one_of(decoding_choices.VIEW, _("View"), names, label_visibility="collapsed")
with guard():
    VIEWS[view][1]()
