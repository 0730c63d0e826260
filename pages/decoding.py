"""Writing token by token: what the cache of keys and values holds, saves and costs, and how it goes wrong."""

from __future__ import annotations

from attnviz.ui.decoding import (
    decoding_choices,
    decoding_traps_panel,
    growth_panel,
    player_panel,
    policy_panel,
    quantised_panel,
    roofline_panel,
)
from attnviz.ui.shared import guard, one_of, page_heading
from attnviz.words import _

page_heading(_("The KV cache, step by step"))
VIEWS = {
    "steps": (_("Step by step"), player_panel.panel),
    "bytes": (_("Bytes"), growth_panel.panel),
    "numbers": (_("int8, int4"), quantised_panel.panel),
    "policies": (_("What to keep"), policy_panel.panel),
    "speed": (_("Prefill, decode"), roofline_panel.panel),
    "traps": (_("Traps"), decoding_traps_panel.panel),
}
names = {name: label for name, (label, _panel) in VIEWS.items()}
view = one_of(decoding_choices.VIEW, _("View"), names, label_visibility="collapsed")
with guard():
    VIEWS[view][1]()
