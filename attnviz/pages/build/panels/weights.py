"""Weights that were changed by hand on the board, and what has changed with them."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np
import streamlit as st

from attnviz.app import show
from attnviz.app.exports import cell_columns
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown, quote_token
from attnviz.base.message import NONSENSE
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_clauses, ngettext
from attnviz.figures.attention_figures import side_by_side
from attnviz.pages.build import choices
from attnviz.pages.build.maths import attention_by_hand, inputs
from attnviz.pages.build.maths.boards import View
from attnviz.pages.build.panels import config_form

LARGEST = 99.0  #: that a weight may be changed to


def panel(result: attention_by_hand.Result) -> None:
    """Draw what was edited, and attention before and after it."""
    config, before = result.config, attention_by_hand.run(replace(result.config, edits=()))
    st.markdown(
        _(
            "At Project and Output, drag a number of $W$ on the board above, or press Enter on it and type another: "
            "all tensors and the code below change at once."
        )
    )
    left, right = st.columns([1, 1.35], gap="large")
    with left:
        edits = [  # those that lie inside the matrices of this configuration and change a number
            (matrix, r, c, value)
            for matrix, r, c, value in config.edits
            if r < len(before.weights[matrix])
            and c < before.weights[matrix].shape[1]
            and abs(before.weights[matrix][r, c] - value) > 1e-6
        ]
        st.caption(_describe_edits(before, edits))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                _("Undo all edits"),
                icon=":material/undo:",
                on_click=link_state.set_and_push,
                args=(choices.EDITS, ()),
                disabled=not edits,
                help=None if edits else _("Nothing is edited yet."),
            )
            st.button(
                _("Go to the weights"),
                icon=":material/edit:",
                on_click=config_form.go_to_step,
                args=("project",),
            )
        st.caption(
            _(
                "Rows of a weight matrix stand for the numbers that come in, columns for those that go out. nn.Linear "
                "stores the transpose: (out, in)."
            )
        )
    with right:
        _consequence(before, result, edits)


def keep_edit(edit: Mapping[str, object], result: attention_by_hand.Result) -> None:
    """Add the number that a hand has left on the board to the edits. A callback."""
    with suppress(*NONSENSE):
        name, col = str(edit["name"]), int(str(edit["col"]))
        packed = View(result).packed_widths
        if name == "W_" + "".join(packed):  # a column of one matrix, which stands beside others
            for projection, width in packed.items():
                if col < width:
                    name = f"W_{projection}"
                    break
                col -= width
        ((name, row, col, value),) = choices.EDITS.read([[name, edit["row"], col, edit["value"]]])
        merged = {(m, r, c): v for m, r, c, v in result.config.edits} | {(name, row, col): round(value, 4)}
        kept = tuple((*cell, number) for cell, number in sorted(merged.items()))
        link_state.set_many({choices.EDITS: kept[: choices.MOST_EDITS], choices.AT["col"]: int(str(edit["col"]))})


def _describe_edits(before: attention_by_hand.Result, edits: list[inputs.CellEdit]) -> str:
    if not edits:
        return _("All weights are random (seed {seed}).").format(seed=before.config.seed)
    parts = [
        f"{n}[{r + 1}, {c + 1}]: {Rounded(before.weights[n][r, c]):.2f} → {Rounded(v):.2f}" for n, r, c, v in edits[:6]
    ]
    parts += ["…"] if len(edits) > 6 else []
    return ngettext("{n} cell typed in by you: {list}", "{n} cells typed in by you: {list}", len(edits)).format(
        n=len(edits), list=escape_markdown(join_clauses(parts))
    )


def _consequence(
    before: attention_by_hand.Result, result: attention_by_hand.Result, edits: list[inputs.CellEdit]
) -> None:
    view = config_form.current_view(result)
    h, b = view.head, view.batch
    if edits:
        h = int(np.abs(result.tensors["weights"][b] - before.tensors["weights"][b]).max((1, 2)).argmax())
    was, now = (np.asarray(r.tensors["weights"][b, h]) for r in (before, result))
    parts = [(_("random weights"), was), (_("yours"), now)] if edits else [(_("weights"), now)]
    rows, cols = result.q_words[b], result.k_words[b]
    show.figure(
        show.chart_of(side_by_side, parts, rows, cols, _("Attention of head {h}").format(h=h + 1), repeat_rows=False),
        name="edited-weights",
        key="b_edited",
        table={
            **cell_columns(rows, cols),
            "before": was.ravel().tolist(),
            "after": now.ravel().tolist(),
        },
        sentence=_describe_change(before, result, b, h)
        if edits
        else _("Nothing is edited yet: try 9 in a cell of $W_Q$."),
    )


def _describe_change(before: attention_by_hand.Result, after: attention_by_hand.Result, b: int, h: int) -> str:
    was, now = before.tensors["weights"][b, h], after.tensors["weights"][b, h]
    i, j = np.unravel_index(int(np.abs(now - was).argmax()), now.shape)
    output = f"{Rounded(float(np.abs(after.tensors['output'] - before.tensors['output']).max())):.2f}"
    if np.abs(now - was).max() < 1e-6:
        return _(
            "Who looks at whom is the same: $W_V$ and $W_O$ change only what is handed over. "
            "The output moved by at most {output}."
        ).format(output=output)
    return _("{query} now gives {now} to {key}, before {was}; the output moved by at most {output}.").format(
        query=quote_token(after.q_words[b][i]),
        key=quote_token(after.k_words[b][j]),
        now=f"{Rounded(now[i, j]):.0%}",
        was=f"{Rounded(was[i, j]):.0%}",
        output=output,
    )
