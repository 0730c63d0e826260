"""What the app needs of a page before it is opened: menu entry, card, link preview, scripts.

A page is a folder: `page_entry.py` holds its PAGE, `choices.py` declares what a visitor can choose, and a module with
the name of the folder draws it with a function `page`. Whatever else lies in the folder is imported from there.
"""

from dataclasses import dataclass
from pathlib import Path

from attnviz.base.words import N_

BEGIN, UNDERSTAND, LOOK = N_("Begin"), N_("Understand"), N_("Look for yourself")  #: the menu's groups
#: kinds of widgets that some pages have, by the names of Streamlit's scripts for them
CHART, TABLE, FORMULA, METRIC = "PlotlyChart", "DataFrame", "rehype-katex", "Metric"


@dataclass(frozen=True)
class Page:
    """All sentences are in English; they are looked up when they are shown."""

    name: str  #: in its address, and of its folder
    title: str  #: in the menu and on its card
    heading: str  #: at its head
    icon: str
    group: str
    question: str  #: what it answers: on its card, and in a link's preview
    about: str | None = None  #: below its heading, for somebody who comes to it first
    terms: tuple[str, ...] = ()  #: ids of the glossary, explained at its head
    scripts: tuple[str, ...] = ()  #: CHART, TABLE, …, in the order in which they are needed

    @property
    def is_home(self) -> bool:
        return self.name == "home"

    @property
    def draw(self) -> str:
        """The module whose function `page` draws it."""
        return f"attnviz.pages.{self.name}.{self.name}"


PAGES_DIR = Path(__file__).parents[1] / "pages"


def page_file(page: str) -> Path:
    """The path of a page's module, for Streamlit's navigation; Streamlit's tests know a page by its file's name."""
    return PAGES_DIR / page / f"{page}.py"
