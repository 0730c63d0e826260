"""Pictures of the sentence with small random vectors: tokens, matrices, a mask to paint, another order."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import streamlit as st

from attnviz.app import show
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown
from attnviz.base.head_edit import SCALES
from attnviz.base.packed import pack_bits
from attnviz.base.words import _
from attnviz.canvas import tensor_board
from attnviz.canvas.mask import mask_grid
from attnviz.canvas.shared.packing import parse_bits
from attnviz.canvas.word_dial import word_dial
from attnviz.figures import heatmap
from attnviz.pages.born import choices as born_choices
from attnviz.pages.build.maths import boards
from attnviz.pages.build.panels import numbers
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths import hand_facts
from attnviz.pages.lessons.maths.lesson_parts import PictureSettings, Subject
from attnviz.pages.lessons.panels import model_pictures
from attnviz.pages.masks.maths import mask_lab, mask_rules
from attnviz.pages.positions.maths.turning_words import read_prepared
from attnviz.pages.positions.panels.turning_words import make_figure


def draw_tokens(subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw the sentence cut into tokens; in lessons that were saved earlier, also with their vectors."""
    if (stage := settings.get("show", "pieces")) != "pieces":
        model_pictures.draw_story(subject, {"to": stage}, key)
        return
    with st.container(key="l-tokens"):
        st.markdown(" ".join(escape_markdown(token.strip() or "␣") for token in subject.tokens))


def draw_board(subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw one operation of Build, with a number of the last word selected.

    That is the first number of the row, or the largest where columns are keys.
    """
    step = settings.get("step", "scores")
    result = subject.attend_by_hand(mask=settings.get("mask", "none"), heads=int(settings.get("heads", "1")))  # type: ignore[arg-type]
    step_boards = boards.make_boards(boards.View(result), step)
    board_index, row, col = link_state.value(choices.CELL)
    board_index = min(board_index, len(step_boards) - 1)
    rows, cols = step_boards[board_index].result.values.shape
    row = rows - 1 if row < 0 else min(row, rows - 1)
    if col < 0:  # lessons speak of the key that the last word looks at most
        col = int(step_boards[board_index].result.values[row].argmax()) if step in OF_KEYS else 0
    col = min(col, cols - 1)
    tabs = [
        (
            {"q": "Q", "k": "K", "v": "V", "x": "X"}.get(step_board.tensor_id, step_board.tensor_id),
            step_board.result.role,
        )
        for step_board in step_boards
    ]
    tensor_board.board(
        key,
        step,
        [
            numbers.operation_board(step_board, _("Numbers of this step; arrow keys choose one"))
            for step_board in step_boards
        ],
        [tensor_board.Tabs("part", _("Matrix"), tabs, board_index)] if len(step_boards) > 1 else [],
        tensor_board.Pick(board_index, row, col),
        on_pick=lambda pick: link_state.set_and_push(choices.CELL, (pick.part, pick.row, pick.col)),
        on_tab=lambda _name, i: link_state.set_and_push(choices.CELL, (i, -1, -1)),
    )
    st.caption(
        _("Vectors and weights: random with a seed, for “{words}”.").format(
            words=escape_markdown(" ".join(subject.hand_words))
        )
    )


def draw_mask(subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw a mask to paint on, and the weights that it leaves."""
    tokens = subject.first_words
    rules = (mask_rules.Rule("causal"),) if settings.get("mask") == "causal" else ()
    result = mask_lab.run(mask_lab.Config(tokens, rules=rules))
    painted = parse_bits(link_state.value(choices.PAINTED), result.mask.shape)
    if painted is not None:  # else it was painted on a longer or shorter sentence
        result = mask_lab.run(
            mask_lab.Config(tokens, rules=rules, paint=mask_lab.find_paint(result.rules_alone, painted))
        )
    mask_grid(
        key,
        result.mask,
        tokens,
        on_change=lambda grid: link_state.set_and_push(choices.PAINTED, base64.b64encode(pack_bits(grid)).decode()),
        label=_("Who may look at whom"),
        scores=result.scores,
        scale=mask_lab.SCALE,
        word=result.telling_row,
    )
    st.caption(
        _("Random vectors with a seed. Scores kept: {kept} of {all}.").format(kept=result.pairs, all=result.square)
    )


def draw_order(subject: Subject, settings: PictureSettings, key: str) -> None:
    """Draw the weights of the sentence as typed, and of its reverse, sorted back."""
    kind, causal = settings.get("kind", "none"), settings.get("mask") == "causal"
    result = hand_facts.reverse_sentence(subject, kind, causal)
    tokens = result.config.words
    hidden = ~np.tri(len(tokens), dtype=bool) & causal
    places = result.order.argsort()
    pictures = (
        ("before", _("As typed"), result.before, hidden),
        ("after", _("Read backwards, then sorted back"), result.after, hidden[places][:, places]),
    )
    for column, (name, title, weights, masked) in zip(st.columns(2, gap="medium"), pictures, strict=True):
        with column:
            st.markdown(f"**{title}**")
            show.chart(
                show.chart_of(
                    heatmap.matrix, weights, tokens, tokens, masked=masked, height=340, numbers=len(tokens) <= 8
                ),
                key=f"{key}-{name}",
                alt=title,
            )
    st.caption(
        _("Random vectors with a seed. Largest difference between the two pictures: {difference:.2g}.").format(
            difference=np.abs(result.before - result.after).max()
        )
    )


def draw_dial(_subject: Subject, _settings: PictureSettings, key: str) -> None:
    """Draw the words of a real head on a dial, to be dragged along the sentence."""
    turned, row, pair, *order = link_state.value(choices.DIAL)
    word_dial(
        key,
        make_figure(read_prepared(), turned, order, row, pair),
        on_turn=lambda state: link_state.set_and_push(
            choices.DIAL, (state.turned, state.row, state.pair, *state.order)
        ),
    )


OF_KEYS = ("scores", "scale", "mask", "softmax")  #: boards with a column for each key
BOARDS = ("embed", "project", "scores", "scale", "mask", "softmax", "sum", "merge", "output", "residual", "norm", "ffn")


@dataclass(frozen=True)
class PictureKind:
    """A kind of picture: how it is drawn, the settings that it allows, and whether it shows the sentence.

    `is_wide`: it always has the page's width, below the text. `is_wide_on_page`: only when not presented,
    because a projected screen has less height.
    """

    draw: Callable[[Subject, PictureSettings, str], None]
    allowed_settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shows_sentence: bool = True
    is_wide: bool = False
    is_wide_on_page: bool = False


PICTURES: dict[str, PictureKind] = {
    "tokens": PictureKind(draw_tokens, {"show": ("pieces", "vectors", "asked")}),
    "board": PictureKind(draw_board, {"step": BOARDS, "mask": ("none", "causal"), "heads": ("1", "2")}),
    "head": PictureKind(
        model_pictures.draw_head,
        {"mask": choices.MASKS, "scale": tuple(scale for scale in SCALES if scale != "factor")},
    ),
    "story": PictureKind(model_pictures.draw_story, model_pictures.STORY_SETTINGS),
    "heads": PictureKind(model_pictures.draw_heads, {"layer": tuple(str(n) for n in range(30))}),
    "mask": PictureKind(draw_mask, {"mask": ("none", "causal")}),
    "spread": PictureKind(model_pictures.draw_spread, {"d_k": ("1", "4", "16", "64", "256")}, shows_sentence=False),
    "bars": PictureKind(
        model_pictures.draw_bars,
        {"d_k": ("1", "4", "16", "64", "256", "512", "1024"), "also": ("inverse",)},
        shows_sentence=False,
    ),
    "curves": PictureKind(
        model_pictures.draw_curves, {"d_k": ("16", "64", "256", "512", "1024")}, shows_sentence=False
    ),
    "order": PictureKind(
        draw_order, {"kind": ("none", "sinusoidal", "rope-half", "alibi"), "mask": ("none", "causal")}
    ),
    "circle": PictureKind(draw_dial, shows_sentence=False),
    "player": PictureKind(model_pictures.draw_player, {"decoder": ("core", "trained")}, is_wide_on_page=True),
    "growth": PictureKind(model_pictures.draw_growth, shows_sentence=False),
    "sharing": PictureKind(model_pictures.draw_sharing, shows_sentence=False, is_wide=True),
    "next": PictureKind(model_pictures.draw_next_tokens),
    "parts": PictureKind(model_pictures.draw_parts),
    "pair": PictureKind(model_pictures.draw_pair, {"show": ("reader", "writer", "table", "cut")}),
    "birth": PictureKind(
        model_pictures.draw_birth,
        {"step": ("0", "100", "274", "333", "356", "1500"), "off": ("0.0",), "whole": ("yes",)},
        is_wide_on_page=True,
    ),
    "runs": PictureKind(model_pictures.draw_runs, {"changed": born_choices.CHANGED.ids}, shows_sentence=False),
    "tiles": PictureKind(
        model_pictures.draw_tile_film,
        {"pass": ("forward", "backward"), "at": ("before",)},
        shows_sentence=False,
        is_wide_on_page=True,
    ),
    "traffic": PictureKind(model_pictures.draw_traffic, shows_sentence=False),
    "roof": PictureKind(model_pictures.draw_roofline, shows_sentence=False),
    "rounding": PictureKind(model_pictures.draw_rounding, shows_sentence=False),
    "blocks": PictureKind(model_pictures.draw_blocks, shows_sentence=False),
}
