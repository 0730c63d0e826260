"""The page about which head does what, as a visitor uses it: prepared, on a text of one's own, beside another model."""

import html
import sys
import types
from typing import Any

import numpy as np
import pytest

from attnviz.app import live_run
from attnviz.app.mends.streamlit_adapter import SESSION
from attnviz.pages.heads import choices
from attnviz.pages.heads.maths import head_survey
from attnviz.pages.heads.panels import head_surveys, map
from tests.pages.conftest import charts, ran, said, sound

MINI = {"hd_model": "minilm-l6"}
OWN = "the cat saw the dog and the cat ran\na bird and a fish and a bird"
PREPARED = head_survey.Config("repeated")


@pytest.fixture(autouse=True)
def nothing_kept():
    live_run.finished.cache_clear()


def strongest(survey: head_survey.Survey, by: str) -> tuple[int, int]:
    return survey.places[int(np.nanargmax(survey.measures[by].mean))]


def test_the_first_picture_is_the_prepared_one_and_needs_no_model(visit, monkeypatch):
    from attnviz.pages.heads.panels import example

    monkeypatch.setattr(example, "_picture", lambda *given: None)
    monkeypatch.setattr(sys.modules["attnviz.app.cache.model_cache"], "load", lambda *given: pytest.fail("a model"))
    page = sound(visit("heads"))
    assert len(page.title) == 1
    survey = head_survey.find("smollm2-135m", PREPARED)
    layer, head = strongest(survey, "induction")
    held = survey.measures["induction"]
    column = survey.column(layer, head)
    wanted = f"Most in **layer {layer}, head {head}: {held.mean[column]:.3f} ± {held.stderr[column]:.3f}**"
    assert f"{held.stderr[column]:.2f}" == "0.00", "two digits would say that there is no error"
    assert wanted in said(page)
    assert (
        f"64 texts of random words twice over, 64 tokens each, seed 0. Computed beforehand on {survey.about['made']}"
        in said(page)
    )


def test_the_table_names_heads_with_their_evidence_and_an_example_has_its_sentence_source_and_picture(visit):
    page = visit("heads", hd_text="books", hd_by="previous_token", hd_example="2", **MINI)
    table = page.dataframe[0].value
    survey = head_survey.find("minilm-l6", head_survey.Config("books"))
    shown = [[float(part) for part in text.split(" ± ")] for text in table["weight"]]
    for (mean, error), (kind, column) in zip(shown, head_survey.named(survey), strict=True):
        assert mean == pytest.approx(survey.measures[kind].mean[column], abs=0.005)
        assert error == pytest.approx(survey.measures[kind].stderr[column], abs=0.005)
        assert error > 0
    assert 64 in set(page.dataframe[1].value["sentences"])
    column = survey.column(*strongest(survey, "previous_token"))
    text = survey.sentences[survey.measures["previous_token"].best[column, 1]]
    assert text[:40] in said(page)
    assert "in the public domain" in said(page)
    assert any(each.proto.bytes for each in page.get("bidi_component"))


def test_the_explorer_opens_at_the_head_with_the_sentence(visit):
    page = visit("heads", hd_by="previous_token", hd_at="3.2", **MINI)
    page.button(key="hd_explore").click().run()
    assert not page.exception
    survey = head_survey.find("minilm-l6", PREPARED)
    text = survey.sentences[survey.measures["previous_token"].best[survey.column(3, 2), 0]]
    chosen = page.session_state[SESSION]["_chosen"]
    assert chosen["at"] == (3, 2)
    assert chosen["model"] == "minilm-l6"
    assert chosen["sentence"] == text


def test_two_models_stand_beside_each_other_on_one_scale_and_a_head_is_shown_as_that_models(visit):
    page = sound(visit("heads", hd_other="minilm-l6", hd_by="previous_token", hd_of="second", hd_at="5.11"))
    first, second, *_others = charts(page)
    assert [first["data"][0][end] for end in ("zmin", "zmax")] == [second["data"][0][end] for end in ("zmin", "zmax")]
    assert "have at least half of their weight on this pattern" in said(page)
    assert "**MiniLM L6, layer 5, head 11**" in said(page)


def finished(page: Any) -> Any:
    """The page when all sentences are read."""
    for _run in range(10):
        if not page.get("progress"):
            break
        page.run()
    return sound(page)


def test_a_text_of_ones_own_is_scanned_and_a_single_sentence_has_no_standard_error(visit):
    page = finished(visit("heads", hd_text="own", hd_own=OWN, **MINI))
    assert "2 sentences of your own text" in said(page)
    assert set(page.dataframe[1].value["sentences"]) == {2}
    page.text_area(key="hd_own").set_value("the cat saw the dog and the cat ran").run()
    assert "(from a single sentence; among the first ten" in said(page)
    shown = said(page) + "".join(table.value.to_string() for table in page.dataframe)
    assert "nan" not in shown.split()
    assert "±" not in said(page)


def test_stop_keeps_what_is_done_and_go_on_goes_on(visit, monkeypatch):
    monkeypatch.setattr(live_run, "AT_A_TIME", 0.0)
    monkeypatch.setattr(live_run, "FIRST_AFTER", 0.0)
    monkeypatch.setattr(live_run.st, "rerun", lambda *given, **named: None)
    page = visit("heads", hd_text="own", hd_own="\n".join([OWN] * 3), hd_count="63", **MINI)
    page.run()
    page.button(key="live_stop_heads-first").click().run()
    done = len(page.dataframe[1].value)
    assert done
    counts = max(page.dataframe[1].value["sentences"])
    assert counts < 6
    page.run()
    assert max(page.dataframe[1].value["sentences"]) == counts, "stopped is stopped"
    assert f"{counts} of 6 sentences" in page.get("progress")[0].proto.text
    assert f"{counts} sentences of your own text" in said(page), "what is shown says of how many it is"
    page.button(key="live_go_heads-first").click().run()
    for _run in range(8):
        page.run()
    assert max(page.dataframe[1].value["sentences"]) == 6


NONSENSE = [
    ({"hd_by": "<b>", "hd_at": "99.99"}, ("it must be one of: “induction”", "has no head 99.99")),
    (
        {"hd_at": "x", "hd_by": "silenced", "hd_other": "nobody"},
        ("“Head (layer.head)” = “x”", "“silenced” does not exist here", "“nobody” does not exist here"),
    ),
    (
        {"hd_model": "../../etc", "hd_text": "own", "hd_count": "1000"},
        ("etc” does not exist here", "must be a whole number from 2 to 64", "Type a few lines or open a file"),
    ),
    ({"hd_text": "own", "hd_own": "  \n "}, ("Type a few lines or open a file",)),
    ({"hd_text": "own", "hd_own": "one"}, ("give at least one line of two words",)),
]


@pytest.mark.parametrize("link, sentences", NONSENSE)
def test_nonsense_is_answered_in_sentences(visit, link, sentences):
    page = visit("heads", **(MINI | link))
    for words in sentences:
        assert words in html.unescape(said(page))
    assert "<b>" not in said(page)


@pytest.mark.parametrize(
    "data, words",
    [(b"\xff\xfe\x00", "not text in UTF-8"), (b"ab\x00cd", "holds bytes that no text contains")],
)
def test_a_file_that_is_no_text_is_refused(monkeypatch, data, words):
    heard: list[Any] = []
    monkeypatch.setattr(head_surveys, "show_problem", lambda problem: heard.append(str(problem)))
    monkeypatch.setattr(head_surveys.link_state, "put", lambda *given: pytest.fail("taken"))
    head_surveys._take(data)
    assert words in heard[0]


def test_a_host_lets_nobody_measure_costs_and_reads_fewer_sentences(visit, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    page = visit("heads", hd_text="own", hd_own="\n".join([OWN] * 20), hd_count="64", **MINI)
    assert page.number_input(key="hd_count").max == 16
    config = head_survey.Config("repeated", count=16, seed=5)
    assert head_survey.find("smollm2-135m", config) is None
    shown = types.SimpleNamespace(decoder=True, has=lambda name: False, live=(), model="x", config=config)
    heard: list[str] = []
    monkeypatch.setattr(head_surveys.st, "info", heard.append)
    head_surveys.offer_costs(shown)
    assert "this server is shared" in heard[0]


def test_a_picked_point_chooses_its_head(monkeypatch):
    survey = head_survey.find("minilm-l6", PREPARED)
    put: list[dict[Any, Any]] = []
    monkeypatch.setattr(map.link_state, "put_all", put.append)
    shown = types.SimpleNamespace(survey=survey, section="second")
    map.pick(shown, 17)
    wanted = {choices.OF: "second", choices.AT: survey.places[17], choices.EXAMPLE: 1}
    assert put == [wanted]
    map.pick(shown, 10_000)
    assert len(put) == 1


@pytest.mark.parametrize("config", [head_survey.Config("own", OWN), head_survey.Config("repeated", count=3, seed=2)])
def test_the_program_prints_the_scores_of_the_page(config):
    from attnviz.models.loading import load

    _names, printed = ran(head_survey.program("minilm-l6", config, "previous_token", 1))
    *_, last = head_survey.patterns(load("minilm-l6"), config)
    survey = last.survey()
    layer, head = strongest(survey, "previous_token")
    assert f"layer {layer:>2} head {head:>2}   {np.nanmax(survey.measures['previous_token'].mean):.3f}" in printed
