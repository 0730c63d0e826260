"""The page about which head does what, as a visitor uses it: prepared, on a text of one's own, beside another model."""

import sys
from typing import Any

import numpy as np
import pytest

from attnviz.base.packed import unpack_blob
from attnviz.models.loading import load
from attnviz.pages.heads.maths import head_survey
from attnviz.pages.heads.panels import map
from tests.models.tiny import eager
from tests.pages.conftest import said, sound

MINI = {"hd_model": "minilm-l6"}
OWN = "the cat saw the dog and the cat ran\na bird and a fish and a bird"
PREPARED = head_survey.Config("repeated")


def strongest(survey: head_survey.HeadScan, by: str) -> tuple[int, int]:
    return survey.places[int(np.nanargmax(survey.measures[by].mean))]


def test_the_first_picture_is_the_prepared_one_and_needs_no_model(visit, monkeypatch):
    monkeypatch.setattr(map, "_draw_example", lambda *given: None)
    monkeypatch.setattr(sys.modules["attnviz.app.cache.model_cache"], "load", lambda *given: pytest.fail("a model"))
    page = sound(visit("heads"))
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


def test_the_map_is_sent_every_head_with_its_pattern_cost_and_tenths_and_an_example_has_its_sentence(visit):
    page = visit("heads", hd_text="books", hd_by="previous_token", hd_example="2", **MINI)
    survey = head_survey.find_prepared_scan("minilm-l6", head_survey.Config("books"))
    header, numbers = sent_map(page)
    patterns = header["patterns"]
    assert patterns == list(head_survey.PATTERNS)
    for column, (place, row) in enumerate(zip(survey.places, numbers, strict=True)):
        means = [survey.measures[kind].mean[column] for kind in patterns]
        best = int(np.nanargmax(means))
        held = survey.measures[patterns[best]]
        assert tuple(row[:2]) == place
        assert row[2] == best
        assert row[3] == (means[best] >= 0.5)
        np.testing.assert_allclose(row[4], held.stderr[column], rtol=1e-6)
        assert np.isnan(row[5]), "an encoder has no cost"
        np.testing.assert_allclose(row[6:8], [held.explained[column], held.best[column, 0]], rtol=1e-6)
        np.testing.assert_allclose(row[8:14], means, rtol=1e-6)
        np.testing.assert_allclose(row[14:], held.best_scores[column], rtol=1e-6)
    unnamed = int((numbers[:, 3] == 0).sum())
    assert f"**{unnamed} of 72** heads have no name" in said(page)
    assert header["at"] == survey.column(*strongest(survey, "previous_token"))
    text = survey.sentences[survey.measures["previous_token"].best[header["at"], 1]]
    assert text[:40] in said(page)
    assert "in the public domain" in said(page)


@pytest.mark.parametrize("model, text", [("smollm2-135m", "repeated"), ("minilm-l6", "books")])
def test_where_most_sinks_are_is_asked_until_the_heads_stand_in_their_layers(visit, model, text):
    survey = head_survey.find_prepared_scan(model, head_survey.Config(text))
    n_layers, counts = max(layer for layer, _head in survey.places) + 1, [0, 0, 0]
    for column, (layer, _head) in enumerate(survey.places):
        means = {kind: survey.measures[kind].mean[column] for kind in head_survey.PATTERNS if kind in survey.measures}
        rest = [mean for kind, mean in means.items() if kind != "first_token" and not np.isnan(mean)]
        counts[3 * layer // n_layers] += means["first_token"] >= 0.5 and means["first_token"] > max(rest)
    page = visit("heads", hd_model=model, hd_text=text)
    page.button(key=f"hd_guess-{counts.index(max(counts))}").click().run()
    assert sent_map(page)[0]["by"] == "layer"
    assert "**So it is.** First-token heads: " + "".join(
        f"{n} in layers {third * n_layers // 3} to {(third + 1) * n_layers // 3 - 1}{', ' if third < 2 else '.'}"
        for third, n in enumerate(counts)
    ) in said(page)
    asked = visit("heads", hd_model=model, hd_text=text, hd_order="layer")
    assert not [button for button in asked.button if "hd_guess" in button.key]


def sent_map(page: Any, key: str = "hd_map_canvas") -> tuple[dict[str, Any], np.ndarray]:
    """What the map was sent: its header, and a row of numbers for each head."""
    _name, data = page.session_state["_canvas_sent"][key]
    header, payload = unpack_blob(data)
    numbers = np.frombuffer(bytes(payload), "<f4")
    return header, numbers.reshape(-1, 18 + len(header["patterns"]))


@pytest.mark.parametrize(
    "sentence, asleep", [("A fox ran over ten hills by day", True), ("a fox ran on a fox ran on", False)]
)
def test_on_ones_own_sentence_a_head_sleeps_or_works_and_one_that_wakes_it_is_a_click_away(visit, sentence, asleep):
    page = visit("heads", hd_at="18.6", hd_example="0", hd_sentence=sentence)
    loaded = load("smollm2-135m")
    ids = loaded.tokenizer(sentence, return_tensors="pt").input_ids
    weights = eager(loaded.model, input_ids=ids).attentions[18][0, 6]
    tokens = ids[0].tolist()
    rows = [sum(float(weights[q, k + 1]) for k in range(q) if tokens[k] == tokens[q]) for q in range(len(tokens))]
    explained = sum(mass >= 0.5 for mass in rows)
    assert (explained == 0) == asleep
    if not asleep:
        assert f"in {explained} of {len(tokens)} rows" in said(page)
        return
    assert f"none of {len(tokens)} rows; {float(weights[:, 0].mean()):.0%} rest on the first token" in said(page)
    page.button(key="hd_wake").click().run()
    survey = head_survey.find_prepared_scan("smollm2-135m", PREPARED)
    best = survey.measures["induction"].best[survey.column(18, 6), 0]
    assert survey.sentences[best][:40] in said(page)


def test_two_models_stand_below_each_other_and_a_head_is_shown_as_that_models(visit):
    page = sound(visit("heads", hd_other="minilm-l6", hd_by="previous_token", hd_of="second", hd_at="5.11"))
    first, second = sent_map(page), sent_map(page, "hd_map_beside_canvas")
    assert (len(first[1]), first[0]["at"], len(second[1])) == (270, None, 72)
    assert second[1][second[0]["at"], :2].tolist() == [5, 11]
    assert "have at least half of their weight on this pattern" in said(page)
    assert "**MiniLM L6, layer 5, head 11**" in said(page)


def test_a_host_reads_fewer_sentences(visit, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    page = visit("heads", hd_text="own", hd_own="\n".join([OWN] * 20), hd_count="64", **MINI)
    assert page.number_input(key="hd_count").max == 16
