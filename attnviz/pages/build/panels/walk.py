"""The walk: the strip of steps, what the step does, and the board with its numbers."""

from __future__ import annotations

import numpy as np
import streamlit as st

from attnviz.app import presenting, show, widgets
from attnviz.app.cache.kept_charts import chart_of
from attnviz.base.words import _
from attnviz.canvas import tensor_strip as canvas
from attnviz.pages.build import choices
from attnviz.pages.build.figures import building as figures
from attnviz.pages.build.figures.svg_board import BoardPicture
from attnviz.pages.build.maths import attention_by_hand, boards, cells, generated_code, inputs, steps
from attnviz.pages.build.panels import board_wording, config_form, numbers
from attnviz.pages.build.panels.board_wording import Seen
from attnviz.pages.build.panels.config_form import Place
from attnviz.pages.build.panels.formulas import formula

PARTS = {"x": "X", "y": "Y", "q": "Q", "k": "K", "v": "V", "qkv": "QKV", "kv": "KV"}
PER_HEAD = ("split", "qk_norm", "rotate", "scores", "scale", "bias", "mask", "softmax", "dropout", "sum")


# Who is looked at most in all: the columns of the weights do not sum to 1, as the rows do.
def panel(result: attention_by_hand.Result, vectors: inputs.Rows | None) -> None:
    """Draw the whole pipeline, from the strip of steps to the sum that makes the chosen number."""
    stops = steps.steps(result.config)
    here = config_form.read()
    step = next(s for s in stops if s.id == config_form.step(tuple(s.id for s in stops)))
    head, sentence = config_form.head(result), config_form.sentence(result)
    presenting.presenter(_walk(tuple(s.id for s in stops)))
    canvas.strip(config_form.STRIP, _chips(result, stops, sentence, head), step.id, config_form.walk_to)
    seen = board_wording.Seen(result, head, sentence, vectors)
    shown = boards.boards(result, step.id, sentence, head)
    part = min(here.part, len(shown) - 1)
    widgets.say_refusal(choices.STEP)
    _about(step, seen)
    at = Place(part, here.row, here.col, head, sentence)
    made = _board(step, result, shown, at)
    _under(step, shown[part], seen, numbers.picture(made[part], at.row, at.col, board_wording.name(step.id)))
    if step.id == "softmax":
        looked_at(seen)
    _written(step, result, shown[part])


def _walk(ids: tuple[str, ...]) -> presenting.Walk:
    """The steps, for next and previous of a presentation."""

    def at() -> int:
        return ids.index(config_form.step(ids))

    def go(by: int) -> None:
        config_form.walk_to(ids[min(max(at() + by, 0), len(ids) - 1)])

    here = at()
    last = len(ids) - 1
    return presenting.Walk(board_wording.name(ids[here]), f"{here + 1} / {last + 1}", here > 0, here < last, go)


def _chips(
    result: attention_by_hand.Result, stops: tuple[steps.WalkStep, ...], sentence: int, head: int
) -> list[canvas.Chip]:
    size = steps.sizes(result)
    chips = []
    for stop in stops:
        pictures = [numbers.thumb(board.result) for board in boards.boards(result, stop.id, sentence, head)]
        axes = steps.chain(stop, "qkv" if stop.tensors == ("packed",) else "q")[-1]
        shape = "×".join(str(size[a]) for a in axes if not isinstance(axes, str))
        chips.append(canvas.Chip(stop.id, board_wording.name(stop.id), shape, pictures))
    return chips


def _about(step: steps.WalkStep, seen: board_wording.Seen) -> None:
    """Draw the step's name, sentence and formula."""
    left, right = st.columns(2, gap="medium", vertical_alignment="center")
    left.markdown(f"**{board_wording.name(step.id)}** · {board_wording.sentence(step.id, seen)}")
    with right.container(key="step-formula"):  # it begins where the program below it does
        st.latex(formula(step.id, seen.result))


def _written(step: steps.WalkStep, result: attention_by_hand.Result, board: cells.Board) -> None:
    """Draw how the step changes the shapes, and the line of PyTorch that does it."""
    left, right = st.columns(2, gap="medium")
    letters, digits = _shapes(step, board.part, steps.sizes(result))
    left.markdown(_as_code(letters, digits))
    right.markdown(_as_code(*_line(step.id, result).splitlines()))


def _as_code(*lines: str) -> str:
    """Short lines that look like code. A block of code would have the browser read a highlighter before the board."""
    return "  \n".join(f"`{line}`" for line in lines)


def _shapes(step: steps.WalkStep, part: str, size: dict[str, int]) -> tuple[str, str]:
    """How the step changes the axes, in letters and in digits."""
    links = steps.chain(step, part)
    letters = [x if isinstance(x, str) else f"[{', '.join(numbers.LETTERS.get(a, a) for a in x)}]" for x in links]
    digits = [x if isinstance(x, str) else f"[{', '.join(str(size[a]) for a in x)}]" for x in links]
    return _arrows(letters), _arrows(digits)


def _arrows(links: list[str]) -> str:
    text = " → ".join(links)
    for sign in ("→", "+", "@"):
        text = text.replace(f" → {sign} → ", f" {sign} ")
    return text


def _line(step: str, result: attention_by_hand.Result) -> str:
    if step == "embed":
        return "x = embedding[words]  # B, Q, M" + ("\ny = embedding[others]  # B, K, M" if result.config.cross else "")
    lines = [line for name, line in generated_code.forward(result.config) if name == step]
    return "\n".join(lines) or "# " + _("nothing: the scores stay as they are")


def _board(
    step: steps.WalkStep, result: attention_by_hand.Result, shown: tuple[cells.Board, ...], at: Place
) -> list[canvas.StripBoard]:
    """Draw the board, and return what is drawn: one operation for each part."""
    size = steps.sizes(result)
    label = _("{step}: numbers; arrow keys choose one").format(step=board_wording.name(step.id))
    made = [numbers.board(board, size, label) for board in shown]
    canvas.board(
        "build_board",
        step.id,
        made,
        _tabs(step, result, shown, at),
        canvas.Pick(at.part, at.row, at.col),
        on_pick=lambda pick: config_form.change(part=pick.part, row=pick.row, col=pick.col),
        on_tab=lambda name, i: config_form.change(**{name: i}),
    )
    return made


def _tabs(
    step: steps.WalkStep, result: attention_by_hand.Result, shown: tuple[cells.Board, ...], at: Place
) -> list[canvas.Tabs]:
    parts = [(PARTS.get(board.part, board.part), board.result.role) for board in shown]
    tabs = [canvas.Tabs("part", _("Matrix"), parts, at.part)]
    if step.id in PER_HEAD:
        heads = [(str(h + 1), "plain") for h in range(result.config.n_heads)]
        tabs.append(canvas.Tabs("head", _("Head"), heads, at.head))
    sentences = [(str(b + 1), "plain") for b in range(result.config.batch)]
    return [*tabs, canvas.Tabs("sentence", _("Sentence"), sentences, at.sentence)]


def _under(step: steps.WalkStep, board: cells.Board, seen: board_wording.Seen, picture: BoardPicture) -> None:
    """Draw where the numbers come from, and the export of the board."""
    sheet = board.result

    def table() -> dict[str, list[object]]:
        at = [(r, c) for r in range(len(sheet.rows)) for c in range(len(sheet.cols))]
        return {
            "row": [sheet.rows[r] for r, _c in at],
            "column": [sheet.cols[c] for _r, c in at],
            sheet.name: [float(sheet.values[r, c]) for r, c in at],
        }

    words = board_wording.origin(seen)
    show.under(picture, name=f"build-{step.id}", key="build_step", table=table, words=words, caption=words)


def looked_at(seen: Seen) -> None:
    """Draw the sums of rows and columns of the head on show."""
    weights = seen.cut("weights").astype(np.float64)  # (Q, K)
    rows, cols = weights.sum(1), weights.sum(0)
    result, place = seen.result, seen.sentence
    show.figure(
        chart_of(figures.sums, rows, cols, result.q_words[place], result.k_words[place]),
        name="build-sums",
        key="build_sums",
        words=_words(seen, cols),
        table={"key": list(result.k_words[place]), "column sum": cols.tolist()},
    )


def _words(seen: Seen, cols: np.ndarray) -> str:
    """A sentence that names who gets most and least of what all queries give together."""
    most, least = int(cols.argmax()), int(cols.argmin())
    if np.ptp(cols) < 0.005:
        return _("Every row sums to 1, and here every column does to {sum:.2f} too: nobody is looked at more.").format(
            sum=cols[most]
        )
    said = _(
        "A row sums to 1, a column need not: of the {given:.0f} that all rows of head {h} give together, {most} gets "
        "{top:.2f}, most of all, and {least} gets {low:.2f}, least."
    )
    if seen.result.config.mask == "causal":
        said = _(
            "A row sums to 1, a column need not: of the {given:.0f} that all rows of head {h} give together, {most} "
            "gets {top:.2f}, most of all, and {least} gets {low:.2f}, least. Under a causal mask more words may look "
            "at an early word than at a late one."
        )
    return said.format(
        given=cols.sum(),
        h=seen.head + 1,
        most=seen.key(most),
        top=cols[most],
        least=seen.key(least),
        low=cols[least],
    )
