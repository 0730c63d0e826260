"""The folder of the pages."""

from __future__ import annotations

from pathlib import Path

PAGES_DIR = Path(__file__).parents[1] / "pages"


def file_of(page: str) -> Path:
    """The path of a page's module, for Streamlit's navigation."""
    return PAGES_DIR / f"{page}.py"
