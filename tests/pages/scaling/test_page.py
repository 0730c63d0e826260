"""The scaling page as a visitor uses it: every section, links, extreme values, and no warning in the log."""

import logging
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from attnviz.app.cache import waiting_line
from attnviz.pages.scaling.maths import growing_width, retrieval_training, saturation, variance
from attnviz.pages.scaling.panels import retrieval_training as training_panel
from attnviz.pages.scaling.panels import variance as variance_panel
from tests.pages.conftest import drawn, said, sound

WAYS = {"raw": 1.0, "scaled": 64**-0.5}


def figures(page):
    return len(page.get("plotly_chart"))


@pytest.fixture
def quick(monkeypatch):
    """Make training take only a few steps."""
    monkeypatch.setattr(training_panel, "BETWEEN_PICTURES", 0.0)
    training_panel.trained.cache_clear()
    return {"s_section": "training", "s_steps": "20", "s_seeds": "2"}


def test_the_page_opens_with_its_numbers_and_follows_what_the_visitor_changes(visit):
    page = visit("scaling")
    assert [metric.value for metric in page.metric] == ["63.867", "0.9979"]
    assert figures(page) == 2
    assert "100,000 random pairs at d_k = 64" in said(page)
    page.select_slider(key="s_dk_slider").set_value(256).run()
    assert page.number_input(key="s_dk").value == 256, "the slider and the box hold one number"
    page.number_input(key="s_dk").set_value(100).run()
    assert page.select_slider(key="s_dk_slider").value == 100
    assert "at d_k = 100" in said(page)
    page.selectbox(key="s_components").select("uniform").run()
    assert (page.query_params["s_dk"], page.query_params["s_components"]) == ("100", "uniform")
    page.segmented_control(key="s_section").set_value("gradient").run()
    assert page.number_input(key="s_dk").value == 100, "and another section holds it, too"
    page.number_input(key="s_dk").set_value(64).run()
    assert "s_dk" not in page.query_params


def test_only_the_chosen_section_computes_and_only_for_the_first_who_asks(visit, monkeypatch, caplog):
    visit("scaling", s_seed="77")

    def never(*_args, **_kwargs):
        raise AssertionError("computed")

    for experiment, name in ((saturation, "run"), (retrieval_training, "train"), (variance, "draw")):
        monkeypatch.setattr(experiment, name, never)
    page = sound(visit("scaling", s_seed="77"))
    page.number_input(key="s_seed").set_value(7878).run()
    assert "computed" in page.error[0].value, "nobody asked this before"
    chosen = visit("scaling", s_section="saturation", s_seed="4321")
    assert "computed" in chosen.error[0].value
    caplog.clear()


def test_the_link_sets_every_number_and_choice(visit):
    page = visit(
        "scaling", s_section="saturation", s_dk="100", s_keys="9", s_seed="4", s_alternative="softcap", s_softcap="3"
    )
    expected = growing_width.run(growing_width.Config(100, 9, 4, "softcap", 3.0))
    assert f"{expected.raw.largest:.1%}" in said(page)
    header, payload = drawn(page)
    assert (header["at"], header["n"], header["parameter"]["value"]) == (100, 9, 3.0)
    scores = np.frombuffer(payload, "<f4").reshape(len(header["d_k"]), 9)
    assert scores[header["d_k"].index(100)] == pytest.approx(expected.raw.logits, abs=1e-4)


def test_a_broken_assumption_says_how_the_prediction_fails(visit):
    page = visit("scaling", s_components="correlated", s_correlation="0.5")
    assert "the prediction fails" in said(page)
    assert "mean 32 and variance 80" in said(page)
    page = visit("scaling", s_components="shifted", s_mean="0")
    assert "fails" not in said(page)


def test_a_button_draws_the_pairs_that_would_take_too_long_at_first(visit):
    variance_panel.all_pairs.cache_clear()
    page = visit("scaling", s_dk="4096", s_pairs="2000")
    assert "1,562 of 2,000 pairs" in said(page)
    page.button(key="s_draw_all").click().run()
    assert "2,000 random pairs" in said(page)
    assert "1,562" not in said(page)


def test_training_draws_itself_ends_with_a_verdict_and_keeps_what_it_had_when_it_was_stopped(visit, quick):
    page = visit("scaling", **quick)
    config = retrieval_training.Config(steps=20, seeds=2)
    *_partial, result = retrieval_training.train(config)
    assert str(result.verdict())[:30] in said(page)
    assert "Stop" not in [button.label for button in page.button]
    other = replace(config, d_k=65, alternative="sqrt", parameter=1.0)
    page.session_state["s_partial"] = next(retrieval_training.train(other))
    page.number_input(key="s_dk").set_value(65).run()
    assert "Stopped at step 10 of 20." in said(page)
    assert page.button(key="s_train").label == "Start again"


@pytest.mark.parametrize(
    "asked", [{"s_steps": "2000"}, {"s_seeds": "8"}, {"s_dk": "4096"}, {"s_dk": "1", "s_seeds": "1", "s_steps": "2000"}]
)
def test_what_takes_long_is_trained_by_a_press_in_another_process_and_not_by_opening_its_link(
    visit, quick, monkeypatch, asked
):
    elsewhere, small = [], next(retrieval_training.train(retrieval_training.Config(steps=10)))
    monkeypatch.setattr(retrieval_training, "train", lambda _config: pytest.fail("trained in the server"))

    def results(module, work, config, threads, nice):
        elsewhere.append((module, work, config, training_panel.TRAININGS.taken))
        yield replace(small, config=replace(config, steps=10))

    monkeypatch.setattr(training_panel.own_process, "results", results)
    page = sound(visit("scaling", s_section="training", **asked))
    assert "Training is drawn as it runs" in said(page)
    assert not elsewhere
    page.button(key="s_train").click().run()
    assert not page.error
    [(module, work, config, taken)] = elsewhere
    assert (module, work, taken) == (retrieval_training, "train", 1)
    assert (
        asked.items() <= {"s_steps": str(config.steps), "s_seeds": str(config.seeds), "s_dk": str(config.d_k)}.items()
    )


def test_who_cannot_wait_for_a_training_reads_why_and_may_press_again(visit, quick, monkeypatch):
    line = waiting_line.WaitingLine(1, longest=0)
    monkeypatch.setattr(training_panel, "TRAININGS", line)
    with line.turn(print):
        page = visit("scaling", **quick)
    assert "0 visitors are waiting here already" in said(page)
    assert "s_stop" not in [button.key for button in page.button], "nothing is left to be stopped"
    page.button(key="s_train_again").click().run()
    assert not page.error
    assert figures(page) == 1


def test_typed_scores_and_their_mistakes(visit):
    page = visit("scaling", s_section="softmax")
    assert "0.998704" in said(page)
    page.text_input(key="s_scores").set_value("1, two").run()
    assert "is not a number" in said(page)
    page.text_input(key="s_scores").set_value("1, 1").run()
    assert not page.error
    assert "0.500000" in said(page)


EXTREMES = [
    {"s_dk": "1", "s_pairs": "1"},
    {"s_dk": "4096", "s_components": "heavy-tailed"},
    *(
        {"s_section": section, "s_dk": d_k, "s_keys": keys}
        for section in ("saturation", "gradient", "alternatives")
        for d_k, keys in (("1", "1"), ("4096", "1"), ("1", "4096"))
    ),
    {"s_section": "saturation", "s_temperature": "0"},
    {"s_section": "saturation", "s_temperature": "100"},
    {"s_section": "softmax", "s_T": "0"},
    {"s_section": "softmax", "s_T": "1000000"},
    {"s_section": "softmax", "s_scores": "5"},
    {"s_section": "softmax", "s_scores": "1e9 -1e9"},
    {"s_section": "softmax", "s_scores": " ".join(str(i % 7) for i in range(4096))},
]


@pytest.mark.slow
@pytest.mark.parametrize("link", EXTREMES)
def test_extremes_are_drawn_without_a_warning_in_the_log(visit, link, caplog, recwarn):
    with caplog.at_level(logging.WARNING):
        sound(visit("scaling", **link))
    ours = [r.getMessage() for r in caplog.records if "missing ScriptRunContext" not in r.getMessage()]
    assert not ours
    assert not [str(w.message) for w in recwarn.list if "attnviz" in w.filename or "numpy" in str(w.category)]


@pytest.mark.parametrize("text", ["", "<b>*a*</b> $x$ 猫 🐈"])
def test_any_sentence_for_a_real_head_is_answered(visit, minilm, text):
    page = visit("scaling", s_section="head", s_model="minilm-l6", s_layer="2", s_head="5", s_text=text)
    assert "nan" not in said(page)
    if text:
        assert "layer 2, head 5" in said(page)
        assert figures(page) == 5
    else:
        assert "empty" in said(page)


def test_the_first_gradient_is_told_apart_from_the_factor_that_scaling_brings(visit):
    """At the logits both are as large: what differs is 1/sqrt(64), and the Jacobian, which saturation shrinks."""
    page = sound(visit("scaling", s_section="training", s_steps="10"))
    vectors = [retrieval_training.start(retrieval_training.Config(), seed) for seed in range(4)]
    weights = {way: [(q @ k.T * scale).softmax(-1) for q, k, *_others in vectors] for way, scale in WAYS.items()}
    norms = {
        way: np.mean([(torch.diag_embed(p) - p[:, :, None] * p[:, None]).flatten(1).norm(dim=1).mean() for p in each])
        for way, each in weights.items()
    }
    assert norms["raw"] < 0.7 * norms["scaled"]
    assert f"its mean norm is {norms['raw']:.3f} raw and {norms['scaled']:.3f} scaled" in said(page)
    queries, logits = re.findall(r"is ([\d.]+) raw and ([\d.]+) scaled[,.]", said(page).split("first gradient")[1])[:2]
    assert float(queries[0]) / float(queries[1]) == pytest.approx(8, rel=0.1)
    assert float(logits[0]) / float(logits[1]) == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize("temperature", ["0", "1"])
def test_equal_scores_are_all_named(visit, temperature):
    page = sound(visit("scaling", s_section="softmax", s_scores="1,2,2,2", s_T=temperature))
    told = said(page)
    share = 1 / 3 if temperature == "0" else np.exp(2) / (np.exp(1) + 3 * np.exp(2))
    assert "keys 2, 3, 4" in told
    assert f"{share:.6f}" in told
    assert ("one-hot" in " ".join(part.value for part in page.latex)) is False


def test_with_one_key_nothing_differs(visit):
    told = said(sound(visit("scaling", s_section="gradient", s_keys="1")))
    assert "nothing differs" in told
    assert "factor" not in told
