"""Section 4: a training of one's own that `av.watch` records, while it runs."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.panel import show_problems
from attnviz.base.head_record import HeadGrid
from attnviz.base.words import _, join_sentences
from attnviz.canvas.head.attention_view import overview_grid
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.blobs import Overview
from attnviz.models import settings
from attnviz.pages.born import choices, figures
from attnviz.pages.born.maths import life, watched_run
from attnviz.pages.born.maths.watched_run import WatchedRun

OFTEN, QUIET = 2.0, 120.0  #: seconds between two looks at a file, and without growth until nobody looks any more
_AT, _END = "born_watch_at", "_born_watch_end"
PROGRAM = """import attnviz as av

with av.watch(model, "the cat sat, the cat sat", every=100, path="heads.jsonl", tokenizer=tokenizer):
    trainer.train()  # or any loop with an optimizer of torch
"""


def panel() -> None:
    """Draw the section."""
    picture_area = page_parts.main_picture()
    uploaded = st.file_uploader(_("Open a file of av.watch"), type=["jsonl"], key="born_watch_file")
    path = ""
    if not settings.current_settings().hosted:
        path = widgets.text_box(choices.WATCH, _("or its path on this machine"), placeholder="heads.jsonl")
    show.program(PROGRAM, "born-watched", about=_("This code records your own training: this page opens its file."))
    with picture_area:
        if uploaded is not None:
            text = uploaded.getvalue().decode("utf-8", "replace")
            with show_problems():
                draw_run(lambda: watched_run.parse(text))
        elif path:
            grows = _grows(Path(path))
            _draw_growing(path) if grows else _draw_file(path)
        else:
            st.info(_("Train a model inside av.watch, and open the file that it writes: here its heads are born."))


def _grows(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime < QUIET
    except OSError:
        return False


def _draw_file(path: str) -> None:
    with show_problems():
        draw_run(lambda: watched_run.read(Path(path)))


@st.fragment(run_every=OFTEN)
def _draw_growing(path: str) -> None:
    """Draw the file, again and again while it grows."""
    _draw_file(path)
    if _grows(Path(path)):
        st.caption(_("The file is read again every {n} seconds, while it grows.").format(n=int(OFTEN)))
    else:
        st.rerun()  # the page draws it without a clock, which would go on for ever


def draw_run(read: Callable[[], WatchedRun]) -> None:
    """Draw loss and best scores over training, and the small pictures of all heads at the chosen record."""
    run = read()
    at = _chosen_record(run)
    curve = figures.RunCurve(_("your run"), run.steps, run.loss, run.steps, best_scores(run))
    show.figure(
        figures.draw_runs([curve], 320, earliest=1),
        name="watched-training",
        key="born-watched",
        sentence=describe(run, at),
        table=lambda: to_table(run),
    )
    if len(run.steps) > 1:
        st.select_slider(_("Training step"), [int(step) for step in run.steps], key=_AT)
    codes = packing.thumbnail_codes(run.thumbnails[at])
    tiles = Overview(codes, HeadGrid.of(run.counts))
    overview_grid("born-watched-heads", tiles, [""] * codes.shape[1], selected=_best_head(run, at), on_pick=_ignore)


def _chosen_record(run: WatchedRun) -> int:
    """The record that the slider stands on; one that stands at the end follows the end."""
    state, steps = st.session_state, run.steps
    if state.get(_AT) in (None, state.get(_END)):
        state[_AT] = int(steps[-1])
    at = int(np.abs(steps - state[_AT]).argmin())
    state[_AT], state[_END] = int(steps[at]), int(steps[-1])
    return at


def _ignore(_layer: int, _head: int) -> None:
    pass


def best_scores(run: WatchedRun) -> np.ndarray:
    """The best induction score of each record, 0 where no head has one: the sentence repeats nothing."""
    return np.nan_to_num(run.measures["induction"]).max(axis=1)


def _best_head(run: WatchedRun, at: int) -> tuple[int, int]:
    layer, head = run.names[int(np.nan_to_num(run.measures["induction"][at], nan=-1.0).argmax())].split(".")
    return int(layer), int(head)


def describe(run: WatchedRun, at: int) -> str:
    """Sentences on a record: its loss, the best induction head, and the head that rests on the first token most."""
    induction, sink = (np.nan_to_num(run.measures[name][at], nan=-1.0) for name in ("induction", "sink_mass"))
    sentences = [
        _("At step {step:,} the loss on the watched sentence is **{loss:.2f}** nats.").format(
            step=int(run.steps[at]), loss=float(run.loss[at])
        )
        if np.isfinite(run.loss[at])
        else ""
    ]
    if induction.max() >= 0:
        sentences.append(
            _("Head {head} gives **{share:.0%}** to what came after the same token last time.").format(
                head=run.names[int(induction.argmax())], share=float(induction.max())
            )
        )
        sentences.append(name_moment(run))
    if sink.max() >= 0:
        sentences.append(
            _("Head {head} gives {share:.0%} to the first token, more than any other.").format(
                head=run.names[int(sink.argmax())], share=float(sink.max())
            )
        )
    return join_sentences(*sentences)


def name_moment(run: WatchedRun) -> str:
    """Sentence on the record from which a head gives half of its weight to what came after the same token."""
    step = life.first_lasting_step(run.steps, best_scores(run))
    if step is None:
        return _("No head is born by step {step:,}: none gives half of its weight there.").format(step=run.steps[-1])
    earlier = run.steps[run.steps < step]
    if not len(earlier):
        return _("At least half of it goes there from the first record on.")
    return _(
        "**It is born between steps {before:,} and {step:,}**: from then on a head gives at least half there."
    ).format(before=earlier[-1], step=step)


def to_table(run: WatchedRun) -> dict[str, list[object]]:
    """One row for each record and head."""
    table: dict[str, list[object]] = {
        "step": [int(step) for step in run.steps for _name in run.names],
        "loss": [float(loss) for loss in run.loss for _name in run.names],
        "head": [name for _step in run.steps for name in run.names],
    }
    return table | {name: [float(number) for number in values.flat] for name, values in run.measures.items()}
