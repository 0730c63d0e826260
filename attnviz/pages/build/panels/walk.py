"""The walk: all tensors, the chosen step's with their numbers, and what the step does."""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import streamlit as st

from attnviz.app import guess, presenting, show, widgets
from attnviz.app.links import link_state
from attnviz.app.panel import fragment, show_problems
from attnviz.app.text import escape_markdown, strip_markdown
from attnviz.base.largest import find_largest
from attnviz.base.words import _
from attnviz.canvas import tensor_board as canvas
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.build import choices, figures
from attnviz.pages.build.maths import attention_by_hand, boards, cells, generated_code, inputs
from attnviz.pages.build.panels import board_wording, config_form, numbers, weights
from attnviz.pages.build.panels.formulas import step_formula

PARTS = {"x": "X", "y": "Y", "q": "Q", "k": "K", "v": "V", "qkv": "QKV", "kv": "KV"}
PER_HEAD = ("split", "qk_norm", "rotate", "scores", "scale", "bias", "mask", "softmax", "dropout", "sum")


@fragment
def panel(result: attention_by_hand.Result, vectors: inputs.Rows | None) -> None:
    """Draw the strip of steps, and the chosen step down to the arithmetic of the chosen cell."""
    if link_state.value(choices.EDITS) != result.config.edits:  # a hand has changed a weight: the whole page follows
        st.rerun(scope="app")
    with show_problems(), st.container(key="canvas-of-walk"):
        chains = attention_by_hand.steps(result.config)
        step, at = config_form.current_step(tuple(chains)), config_form.displayed_cell()
        view = config_form.current_view(result)
        presenting.draw_presenter(_walk(tuple(chains)))
        label = _("{step}: numbers; arrow keys choose one").format(step=board_wording.name(step))
        step_boards, operation_boards = _boards(view.result.config, view.batch, view.head, step, label)
        board_index = min(at.part, len(step_boards) - 1)
        whole = _whole_board(result.config, view.batch, view.head, _names(chains))
        widgets.show_refusal(choices.STEP)
        canvas.board(
            "build_board",
            step,
            operation_boards,
            _tabs(step, view, step_boards, board_index),
            canvas.Pick(board_index, at.row, at.col),
            on_pick=lambda pick: config_form.set_choice(part=pick.part, row=pick.row, col=pick.col),
            on_tab=lambda name, i: config_form.set_choice(**{name: i}),
            editable=(*inputs.MATRICES, "W_" + "".join(view.packed_widths)),
            largest=weights.LARGEST,
            on_edit=lambda edit: weights.keep_edit(edit, result),
            map=whole,
            on_step=config_form.go_to_step,
        )
        _ask(step, tuple(chains), view, at.row)
        chain = attention_by_hand.axis_changes(step_boards[board_index].tensor_id, chains[step])
        _draw_explanation(step, view, vectors, chain)
        origin = board_wording.tensor_origin(view, vectors)
        show.footer(
            lambda: SceneFigure(
                (
                    canvas.BoardFigure(
                        operation_boards[board_index],
                        at.row,
                        at.col,
                        map=whole,
                        place=(list(chains).index(step), board_index),
                    ),
                ),
                strip_markdown(board_wording.step_sentence(step, view, vectors)).rstrip(".。"),
            ),
            name=f"build-{step}",
            key="build_step",
            canvas=show.live_canvas("build_board"),
            table=lambda: _table(step_boards[board_index].result),
            sentence=origin,
            caption=origin,
        )
        if step == "softmax":
            _sums(view)


def _ask(step: str, ids: tuple[str, ...], view: boards.View, row: int) -> None:
    """Ask before the softmax which word a row looks at most; an answer goes there, where it is kept."""
    softmax, result = ids.index("softmax"), view.result
    queries, keys = result.q_words[view.batch], result.k_words[view.batch]
    row = min(row, len(queries) - 1)
    about = f"{view.batch}.{view.head}.{row}"
    if ids.index(step) > softmax or (step == "softmax" and guess.asked_about(choices.GUESS) != about):
        return
    weights_of_row = board_wording.displayed_matrix(view, "weights")[row]
    most = find_largest(weights_of_row)
    if not most.alone or np.count_nonzero(weights_of_row) == 1:  # no answer alone is right, or no other can be
        return
    key, scores = most.index, _scores_before_softmax(view)
    labels = [word if keys.count(word) == 1 else f"{word} ({i + 1})" for i, word in enumerate(keys)]
    because = _(
        "In head {h}, {query} gives {key} {share:.0%}: its score, {score}, is the largest of the row, "
        "and softmax keeps their order."
    )
    guess.ask(
        choices.GUESS,
        _("Softmax will share 100% of {query}’s attention in head {h}: which word gets most?").format(
            query=escape_markdown(queries[row]), h=view.head + 1
        ),
        {str(i): escape_markdown(label) for i, label in enumerate(labels)},
        lambda: (
            str(key),
            because.format(
                h=view.head + 1,
                query=board_wording.query_sentence(view, row),
                key=board_wording.key_sentence(view, key),
                share=most.value,
                score=numbers.format_cell(float(scores[row, key]), 2),
            ),
        ),
        about=about,
        shows=lambda answered: {choices.STEP: ids[softmax - (not answered)], choices.AT["part"]: 0},
    )


def _scores_before_softmax(view: boards.View) -> np.ndarray:
    """What the softmax of the head takes, (Q, K)."""
    return next(
        board_wording.displayed_matrix(view, name)
        for name in ("masked", "biased", "scaled")
        if name in view.result.tensors
    )


def _walk(ids: tuple[str, ...]) -> presenting.Walk:
    """The steps, for next and previous of a presentation."""

    def go(by: int) -> None:
        config_form.go_to_step(ids[min(max(ids.index(config_form.current_step(ids)) + by, 0), len(ids) - 1)])

    here, count = ids.index(config_form.current_step(ids)), len(ids)
    return presenting.Walk(board_wording.name(ids[here]), f"{here + 1} / {count}", here > 0, here < count - 1, go)


def _names(chains: Mapping[str, attention_by_hand.Chain]) -> tuple[str, ...]:
    return tuple(board_wording.name(step) for step in chains)


@lru_cache(maxsize=64)
def _whole_board(config: inputs.Config, batch: int, head: int, names: tuple[str, ...]) -> canvas.BoardMap:
    """All tensors, small, computed once for all visitors. `names` of the steps, in the visitor's language."""
    result = attention_by_hand.run(config)
    chains, size = attention_by_hand.steps(config), attention_by_hand.axis_sizes(result)
    tensors, walk = boards.all_tensors(boards.View(result, batch, head), chains)
    steps = [
        canvas.MapStep(step, name, "×".join(str(size[axis]) for axis in chain[-1]), walk[step])
        for (step, chain), name in zip(chains.items(), names, strict=True)
    ]
    return canvas.BoardMap(steps, [numbers.thumbnail(tensor) for tensor in tensors])


@lru_cache(maxsize=64)
def _boards(
    config: inputs.Config, batch: int, head: int, step: str, label: str
) -> tuple[boards.Boards, list[canvas.StripBoard]]:
    """The boards of a step, and their messages, computed once for all visitors."""
    step_boards = boards.make_boards(boards.View(attention_by_hand.run(config), batch, head), step)
    return step_boards, [numbers.operation_board(board, label) for board in step_boards]


def _draw_explanation(
    step: str, view: boards.View, vectors: inputs.Rows | None, chain: attention_by_hand.Chain
) -> None:
    """Draw the step in words and its axes, beside its formula and its lines of the program."""
    left, right = st.columns(2, gap="medium")
    left.markdown(f"**{board_wording.name(step)}** · {board_wording.step_sentence(step, view, vectors)}")
    right.latex(step_formula(step, view.result))
    size = attention_by_hand.axis_sizes(view.result)
    letters = {axis: numbers.LETTERS.get(axis, axis) for axis in size}
    left.markdown(_format_code(_arrows(chain, letters), _arrows(chain, size)))
    right.markdown(_format_code(*_lines(step, view.result)))


def _tabs(step: str, view: boards.View, step_boards: tuple[cells.Board, ...], board_index: int) -> list[canvas.Tabs]:
    config = view.result.config
    heads, sentences = ([(str(i + 1), "plain") for i in range(count)] for count in (config.n_heads, config.batch))
    parts = [(PARTS.get(board.tensor_id, board.tensor_id), board.result.role) for board in step_boards]
    return [
        canvas.Tabs("part", _("Matrix"), parts, board_index),
        *([canvas.Tabs("head", _("Head"), heads, view.head)] if step in PER_HEAD else []),
        canvas.Tabs("sentence", _("Sentence"), sentences, view.batch),
    ]


def _table(sheet: cells.Sheet) -> dict[str, list[object]]:
    """Every number of a sheet, with its row and its column."""
    return {
        "row": [row for row in sheet.rows for _col in sheet.cols],
        "column": [col for _row in sheet.rows for col in sheet.cols],
        sheet.name: [float(value) for value in sheet.values.ravel()],
    }


def _format_code(*lines: str) -> str:
    """Short lines that look like code. A block of code would have the browser read a highlighter before the board."""
    return "  \n".join(f"`{line}`" for line in lines)


def _arrows(chain: attention_by_hand.Chain, names: Mapping[str, object]) -> str:
    text = " → ".join(
        link if isinstance(link, str) else f"[{', '.join(str(names[axis]) for axis in link)}]" for link in chain
    )
    for sign in ("→", "+", "@"):
        text = text.replace(f" → {sign} → ", f" {sign} ")
    return text


def _lines(step: str, result: attention_by_hand.Result) -> list[str]:
    if step == "embed":
        return ["x = embedding[words]  # B, Q, M", "y = embedding[others]  # B, K, M"][: 1 + result.config.cross]
    lines = [line for name, line in generated_code.forward(result.config) if name == step]
    return lines or ["# " + _("nothing: the scores stay as they are")]


def _sums(view: boards.View) -> None:
    weights = board_wording.displayed_matrix(view, "weights").astype(np.float64)  # (Q, K)
    rows, cols = weights.sum(1), weights.sum(0)
    result, batch_index = view.result, view.batch
    show.figure(
        show.chart_of(
            figures.row_and_column_sums, rows, cols, result.q_words[batch_index], result.k_words[batch_index]
        ),
        name="build-sums",
        key="build_sums",
        sentence=_describe_received_weight(view, cols),
        table={"key": list(result.k_words[batch_index]), "column sum": cols.tolist()},
    )


def _describe_received_weight(view: boards.View, cols: np.ndarray) -> str:
    """A sentence that names the keys with the largest and the smallest total weight."""
    top, low = find_largest(cols), find_largest(-cols)
    most, least = top.index, low.index
    if np.ptp(cols) < 0.005:
        return _(
            "Every row sums to 1, and here every column sums to {sum:.2f} too: no word is looked at more than another."
        ).format(sum=cols[most])
    if not (top.alone and low.alone):
        template = _(
            "A row sums to 1, a column need not: of the {given:.0f} that all rows of head {h} give together, {most} "
            "gets {top:.2f}, and {least} gets {low:.2f}."
        )
    elif view.result.config.mask != "causal":
        template = _(
            "A row sums to 1, a column need not: of the {given:.0f} that all rows of head {h} give together, {most} "
            "gets "
            "{top:.2f}, most of all, and {least} gets {low:.2f}, least."
        )
    else:
        template = _(
            "A row sums to 1, a column need not: of the {given:.0f} that all rows of head {h} give together, {most} "
            "gets {top:.2f}, most of all, and {least} gets {low:.2f}, least. Under a causal mask more words may look "
            "at an early word than at a late one."
        )
    return template.format(
        given=cols.sum(),
        h=view.head + 1,
        most=board_wording.key_sentence(view, most),
        top=cols[most],
        least=board_wording.key_sentence(view, least),
        low=cols[least],
    )
