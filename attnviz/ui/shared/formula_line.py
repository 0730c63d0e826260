"""Formulas in one line where there is room, else below each other, so that no result is out of sight."""

from __future__ import annotations

import streamlit as st


def formulas(*parts: str) -> None:
    """Draw `parts`, LaTeX each, side by side; on a phone each gets a line of its own."""
    with st.container(horizontal=True, horizontal_alignment="center", gap="medium"):
        for part in parts:
            st.latex(part, width="content")
