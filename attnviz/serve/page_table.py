"""The pages, one line each, in the order in which one learns. Importing this declares what can be chosen on each."""

from importlib import import_module
from pathlib import Path

from attnviz.app.page_entry import Page

MAIN = Path(__file__).with_name("main.py")  #: the script that Streamlit runs for every page

NAMES = (
    "home",
    "lessons",
    "build",
    "scaling",
    "heads",
    "masks",
    "positions",
    "decoding",
    "fast",
    "sharing",
    "mistakes",
    "explore",
    "why",
    "born",
    "pictures",
    "compare",
    "glossary",
)

PAGES: tuple[Page, ...] = tuple(import_module(f"attnviz.pages.{name}.page_entry").PAGE for name in NAMES)
for page in PAGES:
    import_module(f"attnviz.pages.{page.name}.choices")  # links are read by what the pages declare
