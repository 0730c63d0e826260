"""The controls at the top: the model, the text, what colours the map, and the model beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import streamlit as st

from attnviz.app import presenting
from attnviz.app.guarding import show_problem
from attnviz.app.links import link_state
from attnviz.app.mends.streamlit_adapter import upload_id
from attnviz.app.widgets import number, one_of, text_area, two_in_a_row
from attnviz.base.message import Problem
from attnviz.base.words import _
from attnviz.models.loading import availabilities
from attnviz.pages.heads import choices
from attnviz.pages.heads.maths import head_survey
from attnviz.pages.heads.panels import head_surveys

NOBODY = "none"  #: no model beside
_TAKEN = "_own_text_taken"  #: id of the last file that was opened: a rerun must not take the same upload again


@dataclass(frozen=True)
class HeadsRequest:
    """What a visitor asked for."""

    model: str
    other: str | None
    names: dict[str, str]
    config: head_survey.Config
    by: str


def ask() -> HeadsRequest | None:
    """Draw the controls. None where no model is on this machine, or no text was given; the page then says so."""
    here = [s for s in availabilities() if s.on_this_machine and s.entry.kind in ("decoder", "encoder")]
    if not here:
        st.info(_("No trained model is on this machine yet: the page “Explore” says how to get one."))
        return None
    names = {s.entry.id: s.name for s in here}
    repeated = link_state.value(choices.TEXT) == "repeated"
    with two_in_a_row("hd"):
        model_at, text_at, by_at, other_at, seed_at = st.columns(
            [1.6, 1.15, 1.15, 1.1, 0.6 if repeated else 0.01], vertical_alignment="bottom"
        )
    with model_at:
        model = one_of(choices.MODEL, _("Model"), names, style="select")
    with text_at:
        kind = one_of(choices.TEXT, _("Read"), texts(), style="select")
    decoder = next(s for s in here if s.entry.id == model).entry.kind == "decoder"
    with by_at:
        by = one_of(choices.BY, _("Colour the heads by"), offered(decoder), style="select")
    with other_at:
        others = {NOBODY: _("none")} | {each: name for each, name in names.items() if each != model}
        other = one_of(choices.OTHER, _("Model beside it"), others, style="select")
    with seed_at if kind == "repeated" else st.container():
        config = _config(kind)
    presenting.presenter(presenting.through(choices.BY, offered(decoder)))
    if config is None:
        return None
    return HeadsRequest(model, None if other == NOBODY else other, names, config, by)


def offered(decoder: bool) -> dict[str, str]:
    """Measures of a kind of model: an encoder has no next token to lose, a decoder cannot look ahead."""
    left_out = ("next_token",) if decoder else head_survey.COSTS
    return {name: said for name, said in measures().items() if name not in left_out}


def _config(kind: str) -> head_survey.Config | None:
    if kind == "repeated":
        seed = number(choices.SEED, _("Seed"), step=1)
        count = head_survey.SENTENCES if seed == choices.SEED.default else head_surveys.most_sentences()
        return head_survey.Config("repeated", count=count, seed=seed)
    if kind == "own":
        with st.container(border=True):
            own = _own_text()
            count = _count()
        return head_survey.Config("own", own, count) if own else None
    return head_survey.Config("books")


def _count() -> int:
    """How many sentences are read when a visitor runs their own."""
    return number(
        choices.COUNT,
        _("Sentences at most"),
        step=1,
        high=head_surveys.most_sentences(),
        help=_("Each is cut at 64 tokens; what is longer goes on as the next sentence."),
        width=170,
    )


def _own_text() -> str:
    """A text that is typed, or read from a file; a sentence that asks for it where there is none."""
    typed, file = st.columns([1.7, 1], vertical_alignment="bottom")
    with file:
        uploaded = st.file_uploader(_("or a text file"), type=["txt", "md", "csv", "py"], key="hd_file")
    if uploaded is not None and st.session_state.get(_TAKEN) != upload_id(uploaded):
        st.session_state[_TAKEN] = upload_id(uploaded)
        _take(uploaded.getvalue())
    with typed:
        text = text_area(choices.OWN, _("Your text: a line is a sentence"), height=120)
    if not text.strip():
        st.info(_("Type a text of a few lines or open a file: every head is looked for in it."))
        return ""
    return text


def _take(data: bytes) -> None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        show_problem(Problem("This file is not text in UTF-8"))
        return
    if "\x00" in text:
        show_problem(Problem("This file is not text: it holds bytes that no text has"))
        return
    if len(text) > choices.LONGEST_TEXT:
        st.info(
            _("The file has {n:,} characters; the first {most:,} are read.").format(
                n=len(text), most=choices.LONGEST_TEXT
            )
        )
    link_state.put(choices.OWN, text[: choices.LONGEST_TEXT])


# What patterns, costs and texts are called on the page.
MOST_DIGITS = 5


def measures() -> dict[str, str]:
    """Pattern or cost -> its name."""
    return {
        "induction": _("induction"),
        "previous_token": _("previous token"),
        "duplicate_token": _("earlier copies"),
        "first_token": _("first token"),
        "same_token": _("the token itself"),
        "next_token": _("next token"),
        "silenced": _("cost of silencing it"),
        "mean": _("cost of its mean in its place"),
        "direct": _("what it adds to the right token"),
    }


def with_error(mean: float, stderr: float, digits: int, *, signed: bool = False) -> str:
    """A mean with its standard error, to so many digits that the error is not 0; a single sentence has none."""
    if 0 < stderr < 0.5 * 10**-digits:
        digits = min(math.ceil(-math.log10(2 * stderr)), MOST_DIGITS)
    number = f"{mean:{'+' if signed else ''}.{digits}f}"
    return number if math.isnan(stderr) else f"{number} ± {stderr:.{digits}f}"


def texts() -> dict[str, str]:
    return {
        "repeated": _("random words, twice"),
        "books": _("passages of novels"),
        "own": _("your own text"),
    }
