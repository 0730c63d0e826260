"""A live picture of attention in one file: every head, mask and scale still to be moved, with no server and no network.

Knows neither Streamlit nor torch, so that a notebook can show what the app saves.
"""

from attnviz.live.page import LiveView, page, patch_page

__all__ = ["LiveView", "canvas_wording", "page", "patch_page"]
