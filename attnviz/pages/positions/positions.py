"""How order gets into attention: nothing, added, turned or taken off the scores; longer texts; video; a real head."""

from attnviz.app import page_parts
from attnviz.base.words import _
from attnviz.pages.positions import choices
from attnviz.pages.positions.page_entry import PAGE
from attnviz.pages.positions.panels import position_scores, rotation, turning_words, video


def page() -> None:
    """Draw the page."""
    panels = {
        "circle": (_("1 Words on a dial"), turning_words.panel),
        "scores": (_("2 Encodings"), position_scores.panel),
        "longer": (_("3 Longer than trained"), rotation.longer_panel),
        "video": (_("4 Video"), video.panel),
        "head": (_("5 RoPE taken out"), rotation.changed_rope_panel),
    }
    page_parts.draw_sections(PAGE, choices.SECTION, panels)


if __name__ == "__main__":  # Streamlit runs this file
    page()
