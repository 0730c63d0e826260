"""The folder of the pages' scripts."""

from __future__ import annotations

from pathlib import Path

PAGES_DIR = Path(__file__).parents[3] / "pages"


def file_of(page: str) -> Path:
    """The path of a page's script, for Streamlit's navigation."""
    return PAGES_DIR / f"{page}.py"
