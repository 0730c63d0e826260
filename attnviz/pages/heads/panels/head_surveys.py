"""The form of a head scan, and its result: packaged, cached from another visitor, or computed now."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import streamlit as st

from attnviz.analysis.heads.scan import NAMED
from attnviz.app import live_run, presenting, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.page_parts import more_menu, paired_columns
from attnviz.app.panel import show_problem
from attnviz.app.sentence_input import require_model
from attnviz.app.workarounds.streamlit_adapter import upload_id
from attnviz.base.message import Problem
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, translate_message
from attnviz.models.loading import availabilities, availability, version
from attnviz.models.settings import current_settings
from attnviz.pages.heads import choices
from attnviz.pages.heads.maths import head_survey

NO_MODEL = "none"  #: no model beside
HOSTED_SENTENCES = 16  #: of a run of one's own, where strangers share the server
MOST_DIGITS = 5
_UPLOAD_ID = "_own_text_taken"  #: id of the last file that was opened: a rerun must not take the same upload again
_REQUESTED_COSTS = "_costs_asked_for"


@dataclass(frozen=True)
class HeadsRequest:
    """What a visitor has selected in the form; `second_model` None: one model alone."""

    model: str
    second_model: str | None
    names: dict[str, str]
    config: head_survey.Config
    measure: str


def draw_form() -> HeadsRequest | None:
    """Draw the form. None if there is no text, which the page then asks for."""
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
            choices.MEASURE,
            _("Measure"),
            by_names,
            style="select",
            help=_(
                "A pattern is the mean weight over all rows that have such a token. Under a causal mask the first row "
                "sees itself alone: on “first token” and on “the token itself” it has 1."
            ),
        )
        with more_menu():
            others = {NO_MODEL: _("none")} | {model_id: name for model_id, name in names.items() if model_id != model}
            second_model = widgets.select_one(choices.SECOND_MODEL, _("Model beside it"), others, style="select")
            config: head_survey.Config | None = _draw_seed() if kind == "repeated" else head_survey.Config("books")
    if kind == "own":
        config = _draw_own_text()
    presenting.draw_presenter(presenting.walk_choice(choices.MEASURE, by_names))
    if config is None:
        return None
    return HeadsRequest(model, None if second_model == NO_MODEL else second_model, names, config, by)


def offered_measures(decoder: bool) -> dict[str, str]:
    """Names on screen of the measures that a decoder, or an encoder, has."""
    left_out = ("next_token",) if decoder else head_survey.COSTS
    return {measure: name for measure, name in measure_names().items() if measure not in left_out}


def _sentence_limit() -> int:
    return HOSTED_SENTENCES if current_settings().hosted else head_survey.SENTENCES


def _draw_seed() -> head_survey.Config:
    seed = widgets.number_box(choices.SEED, _("Seed"), step=1)
    return head_survey.Config(
        "repeated", count=head_survey.SENTENCES if seed == choices.SEED.default else _sentence_limit(), seed=seed
    )


def _draw_own_text() -> head_survey.Config | None:
    with st.container(border=True):
        text = _enter_own_text()
        count = widgets.number_box(
            choices.COUNT,
            _("Sentences at most"),
            step=1,
            high=_sentence_limit(),
            help=_("Each is cut at 64 tokens; what is longer goes on as the next sentence."),
            width=170,
        )
    return head_survey.Config("own", text, count) if text else None


def _enter_own_text() -> str:
    """Draw the text box and the upload. An empty text asks for one."""
    typed, file = st.columns([1.7, 1], vertical_alignment="bottom")
    with file:
        uploaded = st.file_uploader(_("or a text file"), type=["txt", "md", "csv", "py"], key="hd_file")
    if uploaded is not None and st.session_state.get(_UPLOAD_ID) != upload_id(uploaded):
        st.session_state[_UPLOAD_ID] = upload_id(uploaded)
        _store_uploaded_text(uploaded.getvalue())
    with typed:
        text = widgets.text_box(choices.OWN_TEXT, _("Your text: a line is a sentence"), height=120)
    if not text.strip():
        st.info(_("Type a few lines or open a file: every head is measured on it."))
    return text.strip() and text


def _store_uploaded_text(data: bytes) -> None:
    """Store an uploaded file as the visitor's text, cut at the longest text."""
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
    link_state.set_and_push(choices.OWN_TEXT, text[:most])


def measure_names() -> dict[str, str]:
    """Names on screen of patterns and costs, by measure."""
    return {name: translate_message(pattern.label) for name, pattern in NAMED.items()} | {
        "silenced": _("cost of silencing it"),
        "mean": _("cost of its mean in its place"),
        "direct": _("what it adds to the right token"),
    }


def format_with_error(mean: float, stderr: float, digits: int, *, signed: bool = False) -> str:
    """Format a mean with its standard error, with enough digits that the error is not 0. NaN: no error."""
    if 0 < stderr < 0.5 * 10**-digits:
        digits = min(math.ceil(-math.log10(2 * stderr)), MOST_DIGITS)
    number = f"{Rounded(mean):{'+' if signed else ''}.{digits}f}"
    return number if math.isnan(stderr) else f"{number} ± {Rounded(stderr):.{digits}f}"


@dataclass(frozen=True)
class DisplayedScan:
    """Scan of one model over one text, as far as it is computed."""

    model: str
    name: str
    config: head_survey.Config
    result: head_survey.HeadScan
    decoder: bool
    live: tuple[live_run.LiveRun[head_survey.HeadScanProgress], ...] = ()
    section: str = "first"  #: "first", or "second" for the model beside it

    def has_measure(self, measure: str) -> bool:
        return measure in self.result.measures

    @property
    def n_cost_sentences(self) -> int:
        """Number of sentences with measured costs; 0 if there are none."""
        return int(self.result.measures["silenced"].counts.max()) if self.has_measure("silenced") else 0


def get_scan(section: str, model: str, name: str, config: head_survey.Config) -> DisplayedScan:
    """Get the scan of a model, drawing a progress bar while it runs. Problem if the model cannot be scanned."""
    decoder = availability(model).entry.kind == "decoder"
    engine = model_cache.process_caches().engine
    result = head_survey.find_prepared_scan(model, config)
    runs: list[live_run.LiveRun[head_survey.HeadScanProgress]] = []

    def advance(
        kind: str, steps: Callable[..., Iterator[head_survey.HeadScanProgress]], text: str, *costs_on: int
    ) -> head_survey.HeadScan | None:
        """Advance a run, draw its progress bar, and summarise its scores."""
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
        progress_text = text.format(name=name, share=so_far.share, done=done, all=len(so_far.sentences))
        live_run.draw_progress(f"{kind}-{section}", live, so_far.share, progress_text)
        return so_far.summarise()

    if result is None:
        result = advance("heads", head_survey.scan_patterns, _("{name}: {done} of {all} sentences"))
        assert result is not None  # the first sentence is always waited for
    requested_counts: dict[tuple[str, head_survey.Config], int] = st.session_state.get(_REQUESTED_COSTS, {})
    count = None if current_settings().hosted else requested_counts.get((model, config))
    has_costs = result.measures.keys() & set(head_survey.COSTS)
    if decoder and count is not None and not has_costs and not any(live.running or live.stopped for live in runs):
        costs = advance("costs", head_survey.scan_costs, _("costs: {share:.0%}, {done} of {all} sentences"), count)
        # over the same heads, its sentences being the first of these
        result = result if costs is None else replace(result, measures={**result.measures, **costs.measures})
    return DisplayedScan(model, name, config, result, decoder, tuple(runs), section)


def offer_costs(scan: DisplayedScan) -> None:
    """Draw the button that measures costs, or why it cannot be started; nothing if there are costs."""
    if not scan.decoder or scan.has_measure("silenced") or any(live.running or live.stopped for live in scan.live):
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
            choices.COSTS_ON, _("Sentences for costs"), step=1, high=len(scan.result.sentences), width=150
        )
        st.button(
            _("Measure what each head costs"),
            icon=":material/timer:",
            key=f"hd_measure_{scan.model}",
            on_click=_request_costs,
            args=(scan.model, scan.config, count),
        )
    st.caption(
        _("{heads} heads are taken away one by one: minutes on a small model, and what is done is kept.").format(
            heads=len(scan.result.places)
        )
    )


def _request_costs(model: str, config: head_survey.Config, count: int) -> None:
    """Remember that costs are requested. A callback."""
    st.session_state.setdefault(_REQUESTED_COSTS, {})[model, config] = count
