"""Where a survey comes from: prepared, finished by another visitor, or made now, with a bar and a stop."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from attnviz.app import live_run
from attnviz.app.cache import model_cache
from attnviz.app.widgets import number
from attnviz.base.words import _
from attnviz.models.loading import availability, version
from attnviz.models.settings import current
from attnviz.pages.heads import choices
from attnviz.pages.heads.maths import head_survey

HOSTED_SENTENCES = 16  #: of a run of one's own, where strangers share the server
_ASKED = "_costs_asked_for"


@dataclass(frozen=True)
class ShownSurvey:
    """One model's heads over one text, as far as they are known."""

    model: str
    name: str
    config: head_survey.Config
    survey: head_survey.Survey
    decoder: bool
    live: tuple[live_run.Live[head_survey.SurveySoFar], ...] = ()
    section: str = "first"  #: "first", or "second" for the model beside it

    def has(self, measure: str) -> bool:
        return measure in self.survey.measures

    @property
    def costs_on(self) -> int:
        """On how many sentences costs were measured."""
        return int(self.survey.measures["silenced"].counts.max()) if self.has("silenced") else 0


def obtain(section: str, model: str, name: str, config: head_survey.Config) -> ShownSurvey:
    """The survey of a model, with the bar of what is still being made drawn here; a Problem where it cannot be made."""
    decoder = availability(model).entry.kind == "decoder"
    prepared = head_survey.find(model, config)
    if prepared is not None and (prepared.measures.keys() & set(head_survey.COSTS) or not decoder):
        return ShownSurvey(model, name, config, prepared, decoder, section=section)
    runs: list[live_run.Live[head_survey.SurveySoFar]] = []
    survey = prepared
    if survey is None:
        live = _patterns(section, model, name, config)
        runs.append(live)
        survey = live.result.survey()
        assert survey is not None  # the first sentence is always waited for
        if not live.running and not live.stopped and decoder:
            survey = _with_costs(section, model, config, survey, runs)
    elif decoder:
        survey = _with_costs(section, model, config, survey, runs)
    return ShownSurvey(model, name, config, survey, decoder, tuple(runs), section)


def most_sentences() -> int:
    """How many sentences a visitor's own run may have."""
    return HOSTED_SENTENCES if current().hosted else head_survey.SENTENCES


def offer_costs(shown: ShownSurvey) -> None:
    """The button that measures costs, or why visitors cannot start it here; nothing where there are some."""
    if not shown.decoder or shown.has("silenced") or any(live.running or live.stopped for live in shown.live):
        return
    if current().hosted:
        st.info(
            _(
                "Costs take minutes of the whole machine, and this server is shared: they are shown where they were "
                "computed beforehand. The code below measures them on your machine."
            )
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        count = number(choices.COSTS_ON, _("Sentences for costs"), step=1, high=len(shown.survey.sentences), width=150)
        st.button(
            _("Measure what each head costs"),
            icon=":material/timer:",
            key=f"hd_measure_{shown.model}",
            on_click=_ask,
            args=((shown.model, shown.config, count),),
        )
    st.caption(
        _("{heads} heads are taken away one by one: minutes on a small model, and what is done is kept.").format(
            heads=len(shown.survey.places)
        )
    )


def go_on(*shown: ShownSurvey) -> None:
    """Run the page again where more is to come. Last on the page."""
    for each in shown:
        for live in each.live:
            live_run.again(live)


def _patterns(
    section: str, model: str, name: str, config: head_survey.Config
) -> live_run.Live[head_survey.SurveySoFar]:
    live = live_run.advance(
        f"heads-{section}",
        (model, version(model), config),
        lambda: head_survey.patterns(model_cache.model(model), config, model_cache.shared().engine),
        lambda progress: progress.done,
        elsewhere=not model_cache.shared().engine.loads_here,
    )
    said = _("{name}: {done} of {all} sentences").format(
        name=name, done=round(live.result.share * len(live.result.sentences)), all=len(live.result.sentences)
    )
    live_run.controls(f"heads-{section}", live, live.result.share, said)
    return live


def _with_costs(
    section: str,
    model: str,
    config: head_survey.Config,
    survey: head_survey.Survey,
    runs: list[live_run.Live[head_survey.SurveySoFar]],
) -> head_survey.Survey:
    """The survey with the costs that were asked for, as far as they are measured."""
    count = _asked(model, config)
    if count is None:
        return survey
    live = live_run.advance(
        f"costs-{section}",
        (model, version(model), config, count),
        lambda: head_survey.costs(model_cache.model(model), config, count, model_cache.shared().engine),
        lambda progress: progress.done,
        elsewhere=not model_cache.shared().engine.loads_here,
    )
    runs.append(live)
    done = 0 if live.result.scores is None else live.result.scores.sentences
    said = _("costs: {share:.0%}, {done} of {all} sentences").format(share=live.result.share, done=done, all=count)
    live_run.controls(f"costs-{section}", live, live.result.share, said)
    found = live.result.survey()
    return survey if found is None else survey.with_measures_of(found)


def _ask(what: tuple[str, head_survey.Config, int]) -> None:
    """Remember that costs were asked for. A callback."""
    model, config, count = what
    st.session_state.setdefault(_ASKED, {})[model, config] = count


def _asked(model: str, config: head_survey.Config) -> int | None:
    asked: dict[tuple[str, head_survey.Config], int] = st.session_state.get(_ASKED, {})
    return None if current().hosted else asked.get((model, config))
