"""Writing token by token: what the cache of keys and values holds, saves and costs, and how it goes wrong."""

from __future__ import annotations

from attnviz.app import presenting
from attnviz.app.guarding import guard
from attnviz.app.page_heading import page_heading
from attnviz.base.words import _
from attnviz.pages.decoding import choices
from attnviz.pages.decoding.page_entry import PAGE
from attnviz.pages.decoding.panels import decoder_form, decoding_traps, growth, player, policy, quantised, roofline


def page() -> None:
    """Draw the page."""
    page_heading(PAGE)
    views = {
        "steps": (_("Step by step"), player.panel),
        "bytes": (_("Bytes"), growth.panel),
        "numbers": (_("int8, int4"), quantised.panel),
        "policies": (_("What to keep"), policy.panel),
        "speed": (_("Prefill, decode"), roofline.panel),
        "traps": (_("Traps"), decoding_traps.panel),
    }
    names = {name: label for name, (label, _panel) in views.items()}
    view = presenting.section_of(choices.VIEW, names, _("View"), walked=False)
    presenting.presenter(decoder_form.walk(names))
    with guard():
        views[view][1]()


if __name__ == "__main__":  # Streamlit runs this file
    page()
