"""MHA, GQA, MQA, MLA: what sharing keys and values saves, and what it costs."""

from __future__ import annotations

from attnviz.ui.shared import guard, page_heading, page_texts, presenting
from attnviz.ui.sharing import (
    count_panel,
    latent_panel,
    prove_panel,
    published_panel,
    see_panel,
    sharing_choices,
    size_panel,
)
from attnviz.words import _


def page() -> None:
    """Draw the page."""
    title, about = page_texts.of("sharing")
    page_heading(title, about, ("kv_cache", "mha", "gqa", "mqa", "mla"))
    views = {
        "see": (_("See it"), see_panel.panel),
        "count": (_("Count it"), count_panel.panel),
        "size": (_("Size it"), size_panel.panel),
        "prove": (_("Prove it"), prove_panel.panel),
        "latent": (_("MLA"), latent_panel.panel),
        "published": (_("What others print"), published_panel.panel),
    }
    names = {name: label for name, (label, _panel) in views.items()}
    view = presenting.section_of(sharing_choices.VIEW, names, _("View"))
    with guard():
        views[view][1]()


if __name__ == "__main__":  # Streamlit runs this file
    page()
