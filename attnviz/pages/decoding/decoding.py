"""Page: writing token by token with a KV cache, what it saves, and what it costs."""

from attnviz.app import page_parts
from attnviz.base.words import _
from attnviz.pages.decoding import choices
from attnviz.pages.decoding.page_entry import PAGE
from attnviz.pages.decoding.panels import cache_size, decoder_form, player, policy


def page() -> None:
    """Draw the page."""
    views = {
        "steps": (_("Step by step"), player.panel),
        "bytes": (_("Bytes"), cache_size.draw_growth),
        "numbers": (_("int8, int4"), cache_size.draw_rounding),
        "policies": (_("What to keep"), policy.panel),
    }
    page_parts.draw_sections(PAGE, choices.VIEW, views, _("View"), decoder_form.walk)


if __name__ == "__main__":  # Streamlit runs this file
    page()
