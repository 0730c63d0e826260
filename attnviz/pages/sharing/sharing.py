"""MHA, GQA, MQA, MLA: what sharing keys and values saves, and what it costs."""

from __future__ import annotations

from attnviz.app import presenting
from attnviz.app.guarding import guard
from attnviz.app.page_heading import page_heading
from attnviz.base.words import _
from attnviz.pages.sharing import choices
from attnviz.pages.sharing.page_entry import PAGE
from attnviz.pages.sharing.panels import count as count_panel
from attnviz.pages.sharing.panels import latent as latent_panel
from attnviz.pages.sharing.panels import prove as prove_panel
from attnviz.pages.sharing.panels import published as published_panel
from attnviz.pages.sharing.panels import see as see_panel
from attnviz.pages.sharing.panels import size as size_panel


def page() -> None:
    """Draw the page."""
    page_heading(PAGE)
    views = {
        "see": (_("See it"), see_panel.panel),
        "count": (_("Count it"), count_panel.panel),
        "size": (_("Size it"), size_panel.panel),
        "prove": (_("Prove it"), prove_panel.panel),
        "latent": (_("MLA"), latent_panel.panel),
        "published": (_("What others print"), published_panel.panel),
    }
    names = {name: label for name, (label, _panel) in views.items()}
    view = presenting.section_of(choices.VIEW, names, _("View"))
    with guard():
        views[view][1]()


if __name__ == "__main__":  # Streamlit runs this file
    page()
