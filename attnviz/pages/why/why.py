"""Why a model says a token: what each part adds, the circuit that keeps it, two prompts against each other."""

from attnviz.app import page_parts
from attnviz.base.words import _
from attnviz.pages.why import choices
from attnviz.pages.why.page_entry import PAGE
from attnviz.pages.why.panels import parts, two_prompts


def page() -> None:
    """Draw the page."""
    panels = {
        "parts": (_("What adds up"), parts.panel),
        "circuit": (_("The circuit"), two_prompts.circuit_panel),
        "patches": (_("Two prompts"), two_prompts.patches_panel),
    }
    page_parts.draw_sections(PAGE, choices.SECTION, panels)


if __name__ == "__main__":  # Streamlit runs this file
    page()
