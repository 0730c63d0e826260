"""How order gets into attention: nothing, added, turned or taken off the scores; longer texts; video; a real head."""

from attnviz.app import page_parts
from attnviz.base.words import _
from attnviz.pages.positions import choices
from attnviz.pages.positions.page_entry import PAGE
from attnviz.pages.positions.panels import (
    changed_rope,
    position_scores,
    rotation,
    shuffled_words,
    video,
)


def page() -> None:
    """Draw the page."""
    panels = {
        "order": (_("1 Words shuffled"), shuffled_words.panel),
        "scores": (_("2 Encodings"), position_scores.panel),
        "circle": (_("3 One pair turns"), rotation.circle_panel),
        "longer": (_("4 Longer than trained"), rotation.longer_panel),
        "video": (_("5 Video"), video.panel),
        "head": (_("6 A real head"), changed_rope.panel),
        "norm": (_("7 Normalised q and k"), video.norm_panel),
    }
    page_parts.draw_sections(PAGE, choices.SECTION, panels)


if __name__ == "__main__":  # Streamlit runs this file
    page()
