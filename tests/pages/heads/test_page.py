"""The page about which head does what, as a visitor uses it: prepared, on a text of one's own, beside another model."""

import sys
import types
from typing import Any

import numpy as np
import pytest

from attnviz.app import live_run
from attnviz.pages.heads import choices
from attnviz.pages.heads.maths import head_survey
from attnviz.pages.heads.panels import head_surveys, map
from tests.pages.conftest import charts, said, sound

MINI = {"hd_model": "minilm-l6"}
OWN = "the cat saw the dog and the cat ran\na bird and a fish and a bird"
PREPARED = head_survey.Config("repeated")


@pytest.fixture(autouse=True)
def nothing_kept():
    live_run.finished_results.cache_clear()


def strongest(survey: head_survey.HeadScan, by: str) -> tuple[int, int]:
    return survey.places[int(np.nanargmax(survey.measures[by].mean))]


def test_the_first_picture_is_the_prepared_one_and_needs_no_model(visit, monkeypatch):
    monkeypatch.setattr(map, "_draw_example", lambda *given: None)
    monkeypatch.setattr(sys.modules["attnviz.app.cache.model_cache"], "load", lambda *given: pytest.fail("a model"))
    page = sound(visit("heads"))
    assert len(page.title) == 1
    survey = head_survey.find_prepared_scan("smollm2-135m", PREPARED)
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
    survey = head_survey.find_prepared_scan("minilm-l6", head_survey.Config("books"))
    shown = [[float(part) for part in text.split(" ± ")] for text in table["weight"]]
    for (mean, error), (kind, column) in zip(shown, head_survey.strongest_by_kind(survey), strict=True):
        assert mean == pytest.approx(survey.measures[kind].mean[column], abs=0.005)
        assert error == pytest.approx(survey.measures[kind].stderr[column], abs=0.005)
        assert error > 0
    assert 64 in set(page.dataframe[1].value["sentences"])
    column = survey.column(*strongest(survey, "previous_token"))
    text = survey.sentences[survey.measures["previous_token"].best[column, 1]]
    assert text[:40] in said(page)
    assert "in the public domain" in said(page)
    assert any(each.proto.bytes for each in page.get("bidi_component"))


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


def test_a_host_lets_nobody_measure_costs_and_reads_fewer_sentences(visit, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    page = visit("heads", hd_text="own", hd_own="\n".join([OWN] * 20), hd_count="64", **MINI)
    assert page.number_input(key="hd_count").max == 16
    config = head_survey.Config("repeated", count=16, seed=5)
    assert head_survey.find_prepared_scan("smollm2-135m", config) is None
    shown = types.SimpleNamespace(decoder=True, has_measure=lambda name: False, live=(), model="x", config=config)
    heard: list[str] = []
    monkeypatch.setattr(head_surveys.st, "info", heard.append)
    head_surveys.offer_costs(shown)
    assert "this server is shared" in heard[0]


def test_a_picked_point_chooses_its_head(monkeypatch):
    survey = head_survey.find_prepared_scan("minilm-l6", PREPARED)
    put: list[dict[Any, Any]] = []
    monkeypatch.setattr(map.link_state, "set_many", put.append)
    shown = types.SimpleNamespace(result=survey, section="second")
    map.choose_head(shown, 17)
    wanted = {choices.MODEL_OF_HEAD: "second", choices.CHOSEN_HEAD: survey.places[17], choices.EXAMPLE: 1}
    assert put == [wanted]
    map.choose_head(shown, 10_000)
    assert len(put) == 1
