"""What is asked of a survey of heads, and where it comes from: prepared, finished by another visitor, or made now."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import streamlit as st

from attnviz.app import live_run, presenting, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.page_parts import more_menu, paired_columns
from attnviz.app.panel import show_problem
from attnviz.app.sentence_input import require_model
from attnviz.app.workarounds.streamlit_adapter import upload_id
from attnviz.base.message import Problem
from attnviz.base.rounding import Rounded
from attnviz.base.words import _
from attnviz.models.loading import availabilities, availability, version
from attnviz.models.settings import current_settings
from attnviz.pages.heads import choices
from attnviz.pages.heads.maths import head_survey

NOBODY = "none"  #: no model beside
HOSTED_SENTENCES = 16  #: of a run of one's own, where strangers share the server
MOST_DIGITS = 5
_TAKEN = "_own_text_taken"  #: id of the last file that was opened: a rerun must not take the same upload again
_ASKED = "_costs_asked_for"


@dataclass(frozen=True)
class HeadsRequest:
    """What a visitor asked for."""

    model: str
    other: str | None
    names: dict[str, str]
    config: head_survey.Config
    by: str


def draw_form() -> HeadsRequest | None:
    """Draw the controls. None where no text was given; the page then says so."""
    here = [s for s in availabilities() if s.on_this_machine and s.entry.kind in ("decoder", "encoder")]
    kinds, names = {s.entry.id: s.entry.kind for s in here}, {s.entry.id: s.name for s in here}
    require_model(bool(here))
    row = paired_columns("hd")
    with row:
        model = widgets.select_one(choices.MODEL, _("Model"), names, style="select")
        texts = {
            "repeated": _("random words, twice"),
            "books": _("passages of novels"),
            "own": _("your own text"),
        }
        kind = widgets.select_one(choices.TEXT, _("Read"), texts, style="select")
        by_names = offered_measures(kinds[model] == "decoder")
        by = widgets.select_one(
            choices.BY,
            _("Colour the heads by"),
            by_names,
            style="select",
            help=_(
                "A pattern is the mean weight over all rows that have such a token. Under a causal mask the first row "
                "sees itself alone: on “first token” and on “the token itself” it has 1."
            ),
        )
        with more_menu():
            others = {NOBODY: _("none")} | {each: name for each, name in names.items() if each != model}
            other = widgets.select_one(choices.OTHER, _("Model beside it"), others, style="select")
            config: head_survey.Config | None = _repeated() if kind == "repeated" else head_survey.Config("books")
    if kind == "own":
        config = _own()
    presenting.draw_presenter(presenting.walk_choice(choices.BY, by_names))
    if config is None:
        return None
    return HeadsRequest(model, None if other == NOBODY else other, names, config, by)


def offered_measures(decoder: bool) -> dict[str, str]:
    """Measures of a kind of model: an encoder has no next token to lose, a decoder cannot look ahead."""
    left_out = ("next_token",) if decoder else head_survey.COSTS
    return {measure: name for measure, name in measure_names().items() if measure not in left_out}


def _most() -> int:
    return HOSTED_SENTENCES if current_settings().hosted else head_survey.SENTENCES


def _repeated() -> head_survey.Config:
    seed = widgets.number_box(choices.SEED, _("Seed"), step=1)
    return head_survey.Config(
        "repeated", count=head_survey.SENTENCES if seed == choices.SEED.default else _most(), seed=seed
    )


def _own() -> head_survey.Config | None:
    with st.container(border=True):
        own = _own_text()
        count = widgets.number_box(
            choices.COUNT,
            _("Sentences at most"),
            step=1,
            high=_most(),
            help=_("Each is cut at 64 tokens; what is longer goes on as the next sentence."),
            width=170,
        )
    return head_survey.Config("own", own, count) if own else None


def _own_text() -> str:
    """A text that is typed, or read from a file; a sentence that asks for it where there is none."""
    typed, file = st.columns([1.7, 1], vertical_alignment="bottom")
    with file:
        uploaded = st.file_uploader(_("or a text file"), type=["txt", "md", "csv", "py"], key="hd_file")
    if uploaded is not None and st.session_state.get(_TAKEN) != upload_id(uploaded):
        st.session_state[_TAKEN] = upload_id(uploaded)
        _take(uploaded.getvalue())
    with typed:
        text = widgets.text_box(choices.OWN, _("Your text: a line is a sentence"), height=120)
    if not text.strip():
        st.info(_("Type a few lines or open a file: every head is measured on it."))
    return text.strip() and text


def _take(data: bytes) -> None:
    """Make a file the visitor's own text, as far as it is not too long."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        show_problem(Problem("This file is not text in UTF-8"))
        return
    if "\x00" in text:
        show_problem(Problem("This file is not text: it holds bytes that no text contains"))
        return
    most = choices.LONGEST_TEXT
    if len(text) > most:
        st.info(_("The file has {n:,} characters; the first {most:,} are read.").format(n=len(text), most=most))
    link_state.set_and_push(choices.OWN, text[:most])


def measure_names() -> dict[str, str]:
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
    number = f"{Rounded(mean):{'+' if signed else ''}.{digits}f}"
    return number if math.isnan(stderr) else f"{number} ± {Rounded(stderr):.{digits}f}"


@dataclass(frozen=True)
class DisplayedScan:
    """One model's heads over one text, as far as they are known."""

    model: str
    name: str
    config: head_survey.Config
    survey: head_survey.HeadScan
    decoder: bool
    live: tuple[live_run.LiveRun[head_survey.HeadScanProgress], ...] = ()
    section: str = "first"  #: "first", or "second" for the model beside it

    def has(self, measure: str) -> bool:
        return measure in self.survey.measures

    @property
    def costs_on(self) -> int:
        """On how many sentences costs were measured."""
        return int(self.survey.measures["silenced"].counts.max()) if self.has("silenced") else 0


def get_scan(section: str, model: str, name: str, config: head_survey.Config) -> DisplayedScan:
    """The survey of a model, with the bar of what is still being made drawn here; a Problem where it cannot be made."""
    decoder = availability(model).entry.kind == "decoder"
    engine = model_cache.process_caches().engine
    survey = head_survey.find(model, config)
    runs: list[live_run.LiveRun[head_survey.HeadScanProgress]] = []

    def advance(
        kind: str, steps: Callable[..., Iterator[head_survey.HeadScanProgress]], text: str, *costs_on: int
    ) -> head_survey.HeadScan | None:
        """Go on with a run of this model, draw its bar, and sum up what has come."""
        live = live_run.advance(
            f"{kind}-{section}",
            (model, version(model), config, *costs_on),
            lambda: steps(model_cache.get_model(model), config, *costs_on, by=engine),
            lambda so_far: so_far.share >= 1.0,
            is_remote=not engine.loads_here,
        )
        runs.append(live)
        so_far = live.result
        done = 0 if so_far.scores is None else so_far.scores.sentences
        said = text.format(name=name, share=so_far.share, done=done, all=len(so_far.sentences))
        live_run.draw_progress(f"{kind}-{section}", live, so_far.share, said)
        return so_far.survey()

    if survey is None:
        survey = advance("heads", head_survey.scan_patterns, _("{name}: {done} of {all} sentences"))
        assert survey is not None  # the first sentence is always waited for
    asked: dict[tuple[str, head_survey.Config], int] = st.session_state.get(_ASKED, {})
    count = None if current_settings().hosted else asked.get((model, config))
    has_costs = survey.measures.keys() & set(head_survey.COSTS)
    if decoder and count is not None and not has_costs and not any(live.running or live.stopped for live in runs):
        costs = advance("costs", head_survey.scan_costs, _("costs: {share:.0%}, {done} of {all} sentences"), count)
        # over the same heads, its sentences being the first of these
        survey = survey if costs is None else replace(survey, measures={**survey.measures, **costs.measures})
    return DisplayedScan(model, name, config, survey, decoder, tuple(runs), section)


def offer_costs(shown: DisplayedScan) -> None:
    """The button that measures costs, or why visitors cannot start it here; nothing where there are some."""
    if not shown.decoder or shown.has("silenced") or any(live.running or live.stopped for live in shown.live):
        return
    if current_settings().hosted:
        st.info(
            _(
                "Costs take minutes of the whole machine, and this server is shared: they are shown where they were "
                "computed beforehand. The code below measures them on your machine."
            )
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        count = widgets.number_box(
            choices.COSTS_ON, _("Sentences for costs"), step=1, high=len(shown.survey.sentences), width=150
        )
        st.button(
            _("Measure what each head costs"),
            icon=":material/timer:",
            key=f"hd_measure_{shown.model}",
            on_click=_ask,
            args=(shown.model, shown.config, count),
        )
    st.caption(
        _("{heads} heads are taken away one by one: minutes on a small model, and what is done is kept.").format(
            heads=len(shown.survey.places)
        )
    )


def _ask(model: str, config: head_survey.Config, count: int) -> None:
    """Remember that costs were asked for. A callback."""
    st.session_state.setdefault(_ASKED, {})[model, config] = count
