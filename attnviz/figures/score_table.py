"""The table of a score: parts of the query by parts of the key, with their sums as bars."""

import re
from collections.abc import Sequence

import numpy as np

from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.figures.chart import BARE, Panel, axis, bars, cells, panels, points
from attnviz.figures.heatmap import escape_markup
from attnviz.figures.theme import K_VERMILION, Q_BLUE, SIGNED, Figure

STRONG = 0.7  #: of the largest: cells of so much colour that their numbers are white


def score_table(queries: Sequence[str], keys: Sequence[str], table: np.ndarray) -> Figure:
    """Products (query parts, key parts) as cells, sums of rows as bars beside them and sums of columns below."""
    rows, columns = ([escape_markup(part_label(name)) for name in names] for names in (queries, keys))
    most = float(np.abs(table).max(initial=0.0)) or 1.0
    by_query, by_key = table.sum(1), table.sum(0)
    hover = _("query: {row}, key: {column}").format(row="%{y}", column="%{x}") + "<br><b>%{z:+.4f}</b><extra></extra>"
    down = {"autorange": "reversed", "ticks": ""} | BARE
    hidden = {"showticklabels": False, "ticks": ""} | BARE
    grid = cells(table.astype(np.float32), SIGNED, -most, most, gap=2, hover=hover, x=columns, y=rows)
    numbers = [
        points(
            [columns[c] for _r, c in where],
            [rows[r] for r, _c in where],
            text=[format(Rounded(float(table[r, c])), "+.1f") for r, c in where],
            mode="text",
            textfont={"color": "white"} if strong else None,
            hover="",
            showlegend=False,
        )
        for strong in (False, True)
        if (where := np.argwhere((np.abs(table) > STRONG * most) == strong).tolist())
    ]
    beside = bars(
        by_query.tolist(), rows, "", Q_BLUE, across=True, numbers="+.1f", hover="%{y}: %{x:+.3f}<extra></extra>"
    )
    below = bars(columns, by_key.tolist(), "", K_VERMILION, numbers="+.1f", hover="%{x}: %{y:+.3f}<extra></extra>")
    spacing = {
        "specs": [[{}, {}], [{}, None]],
        "column_widths": [0.7, 0.3],
        "row_heights": [0.72, 0.28],
        "horizontal_spacing": 0.03,
        "vertical_spacing": 0.03,
        "shared_yaxes": True,
        "shared_xaxes": True,
    }
    return panels(
        [
            Panel([grid, *numbers], hidden, down | {"title": _("parts of the query")}),
            Panel([beside], hidden | {"range": _room(by_query)}, down),
            Panel(
                [below],
                axis(_("parts of the key")) | {"tickangle": -30, "ticks": ""} | BARE,
                hidden | {"range": _room(by_key)},
            ),
        ],
        2,
        spacing=spacing,
        height=180 + 44 * len(rows),
        showlegend=False,
        bargap=0.35,
    )


def table_of_products(
    queries: Sequence[str], keys: Sequence[str], tables: Sequence[np.ndarray]
) -> dict[str, list[object]]:
    """Columns of a file of numbers: each product of tables (query parts, key parts) in a row of its own."""
    rows, columns = ([_part_in_file(name) for name in names] for names in (queries, keys))
    return {
        "query part": [row for _table in tables for row in rows for _column in columns],
        "key part": [column for _table in tables for _row in rows for column in columns],
        "value": [float(value) for table in tables for value in table.flat],
    }


def _part_in_file(name: str) -> str:
    """What a part is called where "0.0" would be read as a number."""
    return f"head {name}" if name[:1].isdigit() else name


def part_label(name: str) -> str:
    """What a part is called on screen."""
    if name.startswith("encoder "):
        return _("encoder: {part}").format(part=part_label(name.removeprefix("encoder ")))
    words = {
        "token": _("the token"),
        "position": _("its position"),
        "bias": _("the bias"),
        "others": _("all others"),
    }
    if name in words:
        return words[name]
    if re.fullmatch(r"(cross )?\d+\.\d+", name):
        return _("head {name}").format(name=name.removeprefix("cross "))
    return name.replace("mlp ", "MLP ").replace("_", " ")


def _room(values: np.ndarray) -> list[float]:
    """Range of an axis of bars that leaves room for their numbers."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = 0.35 * ((high - low) or 1.0)
    return [low - room * (low < 0), high + room]
