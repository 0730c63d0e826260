"""Edit weights by hand, and see what changes."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import pandas as pd
import streamlit as st

from attnviz.app import show, widgets
from attnviz.app.exports import cell_columns
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown, quote_token
from attnviz.base.message import NONSENSE
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_clauses, ngettext
from attnviz.canvas.shared.component import last_sent
from attnviz.figures.attention_figures import side_by_side
from attnviz.pages.build import choices
from attnviz.pages.build.maths import attention_by_hand, inputs
from attnviz.pages.build.panels import config_form

_EDITORS = "_build_editors"
LARGEST = 99.0  #: that a weight may be changed to


def panel(result: attention_by_hand.Result) -> None:
    """Draw the editor of one matrix, and attention before and after the edits."""
    config, before = result.config, attention_by_hand.run(replace(result.config, edits=()))
    st.markdown(_("Type into a cell: the steps and the board above and the code below change at once."))
    left, right = st.columns([1, 1.35], gap="large")
    with left, st.container(key="b-weights"):
        makes = {"W_Q": _("queries"), "W_K": _("keys"), "W_V": _("values"), "W_O": _("output")}
        names = {name: f"{makes[name]} ${name}$" for name in inputs.MATRICES}  # a formula alone is not read out
        name = widgets.select_one(choices.MATRIX, _("Matrix"), names)
        _editor(config, name)
        edits = [  # those that lie inside the matrices of this configuration and change a number
            (matrix, r, c, value)
            for matrix, r, c, value in config.edits
            if r < len(before.weights[matrix])
            and c < before.weights[matrix].shape[1]
            and abs(before.weights[matrix][r, c] - value) > 1e-6
        ]
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                _("Undo all edits"),
                icon=":material/undo:",
                on_click=link_state.set_and_push,
                args=(choices.EDITS, ()),
                disabled=not edits,
            )
            st.caption(_describe_edits(before, edits))
    with right:
        _consequence(before, result, edits)


def _editor(config: inputs.Config, name: str) -> None:
    """Draw a data editor on the edits known when it opened; `_merge_typed_edits` merges the later ones."""
    session = _session()
    rows, cols = attention_by_hand.run(config).weights[name].shape
    key = f"b_edit_{name}_{rows}x{cols}_{config.seed}_{session.version}"
    if key not in st.session_state:
        session.bases[key] = session.edits
    base = session.bases.setdefault(key, session.edits)
    columns = [str(c + 1) for c in range(cols)]
    number = st.column_config.NumberColumn(min_value=-LARGEST, max_value=LARGEST, step=0.01, format="%.2f", width=58)
    st.data_editor(
        _table(replace(config, edits=base), name),
        key=key,
        column_config=dict.fromkeys(columns, number) | {name: st.column_config.TextColumn(width=44)},
        disabled=[name],
        hide_index=True,
        on_change=_merge_typed_edits,
        args=(key, name),
        width="content",
    )
    st.caption(
        _(
            "Rows stand for the numbers that come in ({rows}), columns for those that go out ({cols}). nn.Linear "
            "stores the transpose: (out, in)."
        ).format(rows=rows, cols=cols)
    )


@lru_cache(maxsize=32)
def _table(config: inputs.Config, name: str) -> pd.DataFrame:
    """A matrix as its editor takes it, made once for all visitors: Streamlit edits a copy."""
    values = np.asarray(attention_by_hand.run(config).weights[name], float).round(4)
    rows, cols = ([str(i + 1) for i in range(n)] for n in values.shape)
    return pd.DataFrame({name: rows} | dict(zip(cols, values.T, strict=True)))


@dataclass
class _Session:
    """The open editors: the edits that each started from, and the edits of all together.

    `version` grows when the edits come from elsewhere (a link, an undo, Back): the editors then start anew.
    """

    edits: tuple[inputs.CellEdit, ...] = ()
    version: int = 0
    bases: dict[str, tuple[inputs.CellEdit, ...]] = field(default_factory=dict)


def _session() -> _Session:
    session: _Session = st.session_state.setdefault(_EDITORS, _Session())
    edits = link_state.value(choices.EDITS)
    if session.edits != edits:
        session.edits, session.version, session.bases = edits, session.version + 1, {}
    return session


def _merge_typed_edits(key: str, name: str) -> None:
    """Merge what was typed into an editor with the edits that it started from. A callback."""
    session = _session()
    merged = {(m, r, c): v for m, r, c, v in session.bases.get(key, ()) if m == name}
    merged |= {(m, r, c): v for m, r, c, v in session.edits if m != name}
    for row, cells in (last_sent(dict, key, "edited_rows") or {}).items():
        for col, value in (cells if isinstance(cells, dict) else {}).items():
            with suppress(*NONSENSE):
                ((_name, r, c, number),) = choices.EDITS.read([(name, int(row), int(col) - 1, value or 0.0)])
                merged[name, r, c] = round(number, 4)
    session.edits = tuple((*cell, value) for cell, value in sorted(merged.items()))[: choices.MOST_EDITS]
    link_state.set_and_push(choices.EDITS, session.edits)


def keep_edit(edit: Mapping[str, object], edits: tuple[inputs.CellEdit, ...]) -> None:
    """Add to `edits` the number that a hand has left on the board. A callback."""
    with suppress(*NONSENSE):
        ((name, row, col, value),) = choices.EDITS.read([[edit[part] for part in ("name", "row", "col", "value")]])
        merged = {(m, r, c): v for m, r, c, v in edits} | {(name, row, col): round(value, 4)}
        kept = tuple((*cell, number) for cell, number in sorted(merged.items()))
        link_state.set_many({choices.EDITS: kept[: choices.MOST_EDITS], choices.AT["col"]: col})


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
