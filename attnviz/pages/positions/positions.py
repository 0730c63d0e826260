"""How order gets into attention: nothing, added, turned or taken off the scores; longer texts; video; a real head."""

from collections.abc import Callable

from attnviz.app import presenting
from attnviz.app.guarding import guard
from attnviz.app.page_heading import page_heading
from attnviz.base.words import _
from attnviz.pages.positions import choices
from attnviz.pages.positions.page_entry import PAGE
from attnviz.pages.positions.panels import (
    changed_rope,
    position_scores,
    qk_norm_growth,
    rotation,
    shuffled_words,
    video,
)


def page() -> None:
    """Draw the page."""
    page_heading(PAGE)
    section = presenting.section_of(choices.SECTION, titles(), _("Section"))
    with guard():
        SECTIONS[section]()


SECTIONS: dict[str, Callable[[], None]] = {
    "order": shuffled_words.panel,
    "scores": position_scores.panel,
    "circle": rotation.circle_panel,
    "longer": rotation.longer_panel,
    "video": video.panel,
    "head": changed_rope.panel,
    "norm": qk_norm_growth.panel,
}


def titles() -> dict[str, str]:
    """Id to title, numbered in the order of the page."""
    return {
        "order": _("1 Words shuffled"),
        "scores": _("2 Encodings"),
        "circle": _("3 One pair turns"),
        "longer": _("4 Longer than trained"),
        "video": _("5 Video"),
        "head": _("6 A real head"),
        "norm": _("7 Normalised q and k"),
    }


if __name__ == "__main__":  # Streamlit runs this file
    page()
