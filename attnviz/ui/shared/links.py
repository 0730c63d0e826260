"""What a link holds beyond the bound widgets: one compressed, versioned parameter per canvas."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attnviz.ui.shared.link_pack import pack, unpack

__all__ = ["pack", "read", "unpack", "write"]


def read(name: str) -> Any | None:
    """What the link holds under `name`, or None when it holds nothing. Problem when it is damaged."""
    text = st.query_params.get(name)
    return unpack(text) if text else None


def write(name: str, value: Any | None) -> None:
    """Put `value` into the link under `name`, or take it out (None). Does nothing when nothing changed."""
    text = None if value is None else pack(value)
    if st.query_params.get(name) == text:
        return
    if text is None:
        del st.query_params[name]
    else:
        st.query_params[name] = text
