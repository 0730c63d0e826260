"""MHA, GQA, MQA, MLA: what sharing keys and values saves, and what it costs."""

from collections.abc import Callable
from functools import partial

from attnviz.app import page_parts
from attnviz.app.panel import fragment, show_problems
from attnviz.base.words import _
from attnviz.pages.sharing import choices
from attnviz.pages.sharing.page_entry import PAGE
from attnviz.pages.sharing.panels import count, latent, prove, see, size


def page() -> None:
    """Draw the page."""
    views: dict[str, tuple[str, page_parts.SectionPanel]] = {
        "see": (_("See it"), see.panel),  # a fragment of its own begins where its model has run
        "count": (_("Count it"), partial(rerun_alone, count.panel)),
        "size": (_("Size it"), partial(rerun_alone, size.panel)),
        "prove": (_("Prove it"), partial(rerun_alone, prove.panel)),
        "latent": (_("MLA"), partial(rerun_alone, latent.panel)),
    }
    page_parts.draw_sections(PAGE, choices.VIEW, views, _("View"))


@fragment
def rerun_alone(panel: Callable[[], None]) -> None:
    """Draw a view that runs again alone when one of its controls changes."""
    with show_problems():
        panel()


if __name__ == "__main__":  # Streamlit runs this file
    page()
