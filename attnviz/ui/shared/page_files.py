"""Where the pages' scripts lie."""

from __future__ import annotations

from pathlib import Path

PAGES_DIR = Path(__file__).parents[3] / "pages"


def file_of(page: str) -> Path:
    """The script of a page, for Streamlit's navigation."""
    return PAGES_DIR / f"{page}.py"
