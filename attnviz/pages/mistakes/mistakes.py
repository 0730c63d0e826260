"""Page: find the wrong line of a program, and see what it does and which test finds it."""

from attnviz.app import page_parts
from attnviz.base.words import _
from attnviz.pages.mistakes import choices
from attnviz.pages.mistakes.maths.all_mistakes import TOPICS
from attnviz.pages.mistakes.page_entry import PAGE
from attnviz.pages.mistakes.panels import game


def page() -> None:
    """Draw the page."""
    topics = {choices.CHANCE: _("By chance")} | {topic: _(title) for topic, (title, _names) in TOPICS.items()}
    panels = {topic: (title, game.panel) for topic, title in topics.items()}
    page_parts.draw_sections(PAGE, choices.TOPIC, panels, _("Topic"), game.walk)


if __name__ == "__main__":  # Streamlit runs this file
    page()
