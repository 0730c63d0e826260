"""Tables that can be downloaded as CSV and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from attnviz.app import show
from attnviz.base.words import _

ColumnTable = dict[str, list[Any]]


def columns(rows: Sequence[dict[str, Any]]) -> ColumnTable:
    """Rows with the same keys, turned into columns by name."""
    return {name: [row[name] for row in rows] for name in rows[0]}


def tabled(table: ColumnTable, name: str, key: str) -> None:
    """Draw a table, and buttons that download it as CSV and Markdown."""
    whole = [name for name, cells in table.items() if all(cell is None or isinstance(cell, int) for cell in cells)]
    localized = {name: st.column_config.NumberColumn(format="localized") for name in whole}
    st.dataframe(table, hide_index=True, key=key, column_config=localized)
    with st.container(horizontal=True):
        st.download_button(
            _("CSV"), lambda: show.to_csv(table), f"{name}.csv", "text/csv", on_click="ignore", key=f"{key}-csv"
        )
        st.download_button(
            _("Markdown"), lambda: markdown(table), f"{name}.md", "text/markdown", on_click="ignore", key=f"{key}-md"
        )


def markdown(table: ColumnTable) -> str:
    """The table in GitHub's Markdown."""
    rows = [list(table), ["---"] * len(table)]
    rows += [
        ["" if cell is None else str(cell).replace("|", "\\|") for cell in row]
        for row in zip(*table.values(), strict=True)
    ]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)
