"""MHA, GQA, MQA, MLA: what sharing keys and values saves, and what it costs."""

from collections.abc import Callable

from attnviz.app import presenting
from attnviz.app.fragment import fragment
from attnviz.app.guarding import guard
from attnviz.app.page_heading import page_heading
from attnviz.base.words import _
from attnviz.pages.sharing import choices
from attnviz.pages.sharing.page_entry import PAGE
from attnviz.pages.sharing.panels import count, latent, prove, see, size


def page() -> None:
    page_heading(PAGE)
    views = {
        "see": (_("See it"), see.panel),
        "count": (_("Count it"), count.panel),
        "size": (_("Size it"), size.panel),
        "prove": (_("Prove it"), prove.panel),
        "latent": (_("MLA"), latent.panel),
        "published": (_("What others print"), latent.published),
    }
    view = presenting.section_of(choices.VIEW, {name: label for name, (label, _panel) in views.items()}, _("View"))
    panel = views[view][1]
    if view == "see":  # a fragment of its own begins where its model has run
        with guard():
            panel()
    else:
        alone(panel)


@fragment
def alone(panel: Callable[[], None]) -> None:
    """Draw a view that runs again alone when one of its controls changes."""
    with guard():
        panel()


if __name__ == "__main__":  # Streamlit runs this file
    page()
