"""Writing token by token: what the cache of keys and values holds, saves and costs, and how it goes wrong."""

from __future__ import annotations

from attnviz.ui.decoding import (
    decoding_choices,
    decoding_traps_panel,
    decoding_walk,
    growth_panel,
    player_panel,
    policy_panel,
    quantised_panel,
    roofline_panel,
)
from attnviz.ui.shared import guard, page_heading, page_texts, presenting
from attnviz.words import _


def page() -> None:
    """Draw the page."""
    title, about = page_texts.of("decoding")
    page_heading(title, about, ("kv_cache", "next_token", "prefill", "decode", "logit"))
    views = {
        "steps": (_("Step by step"), player_panel.panel),
        "bytes": (_("Bytes"), growth_panel.panel),
        "numbers": (_("int8, int4"), quantised_panel.panel),
        "policies": (_("What to keep"), policy_panel.panel),
        "speed": (_("Prefill, decode"), roofline_panel.panel),
        "traps": (_("Traps"), decoding_traps_panel.panel),
    }
    names = {name: label for name, (label, _panel) in views.items()}
    view = presenting.section_of(decoding_choices.VIEW, names, _("View"), walked=False)
    presenting.presenter(decoding_walk.walk(names))
    with guard():
        views[view][1]()


if __name__ == "__main__":  # Streamlit runs this file
    page()
