"""The scaling page as a visitor uses it: every section, links, extreme values, and no warning in the log."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attnviz.analysis.saturation import draw
from attnviz.app.cache import waiting_line
from attnviz.app.cache.shared_results import finished_results
from attnviz.pages.scaling.maths import retrieval_training
from attnviz.pages.scaling.panels import retrieval_training as training_panel
from tests.pages.conftest import drawn, said, sound


def figures(page):
    return len(page.get("plotly_chart"))


@pytest.fixture
def quick(monkeypatch):
    """Make training take only a few steps."""
    monkeypatch.setattr(training_panel, "BETWEEN_PICTURES", 0.0)
    finished_results.cache_clear()
    return {"s_section": "training", "s_steps": "20", "s_seeds": "2"}


@pytest.mark.parametrize("d_k, n", [(1, 1), (64, 16), (4096, 300)])
def test_the_picture_and_its_sentence_have_the_numbers_of_torch(visit, d_k, n):
    """Products by a sum over components, and what softmax lets through by autograd."""
    page = sound(visit("scaling", s_dk=str(d_k), s_keys=str(n)))
    header, payload = drawn(page, "score_walk")
    scores = np.frombuffer(bytes(payload), "<f4").reshape(-1, n)
    assert header["d_k"][header["at"]] == d_k
    vectors = draw(n, 0)
    q, k = vectors.q[0, 0, 0, :d_k].double(), vectors.k[0, 0, :, :d_k].double()
    products = (k * q).sum(-1)
    np.testing.assert_allclose(scores[header["at"]], products.numpy(), rtol=1e-4, atol=1e-4)
    for name, logits in (("raw", products), ("scaled", products / d_k**0.5)):
        weights = logits.softmax(-1)
        matrix = torch.autograd.functional.jacobian(lambda z: z.softmax(-1), logits)
        assert f"{float(weights.max()):.1%}" in said(page), name
        assert f"{float(matrix.norm()):.3f} {name}" in said(page)
    assert figures(page) == 2
    page.segmented_control(key="s_section").set_value("training").run()
    assert page.number_input(key="s_dk").value == d_k, "another section holds it, too"
    page.select_slider(key="s_dk_slider").set_value(256).run()
    assert page.number_input(key="s_dk").value == 256, "the slider and the box hold one number"
    page.number_input(key="s_dk").set_value(64).run()
    assert "s_dk" not in page.query_params


@pytest.mark.parametrize("d_k, n, seed", [(1, 1, 3), (64, 16, 0), (1024, 5, 1)])
def test_at_four_times_d_k_products_spread_twice_as_far_and_an_answer_goes_there(visit, d_k, n, seed):
    """The theory by many signs, of which a product has variance 1; the sizes by the picture's vectors."""
    page = sound(visit("scaling", s_dk=str(d_k), s_keys=str(n), s_seed=str(seed)))
    signs = np.random.default_rng(0).binomial(4 * d_k, 0.5, 400_000) * 2 - 4 * d_k
    assert signs.std() == pytest.approx(2 * d_k**0.5, rel=0.01)
    page.button(key="s_guess-twice").click().run()
    assert f"goes from {d_k**0.5:.4g} to {2 * d_k**0.5:.4g}." in said(page)
    assert "So it is." in said(page)
    assert page.number_input(key="s_dk").value == 4 * d_k
    vectors = draw(n, seed)
    q, k = vectors.q[0, 0, 0].double(), vectors.k[0, 0].double()
    before, after = ((k[:, :d] @ q[:d]).square().mean().sqrt().item() for d in (d_k, 4 * d_k))
    assert f"goes from {before:.3g} to {after:.3g}." in said(page)
    page.button(key="s_guess-again").click().run()
    assert page.number_input(key="s_dk").value == d_k
    page.number_input(key="s_dk").set_value(1025).run()
    assert not [button for button in page.button if str(button.key).startswith("s_guess")], "there are 4,096 numbers"


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
    "asked", [{"s_seeds": "8"}, {"s_dk": "4096"}, {"s_dk": "1", "s_seeds": "1", "s_steps": "2000"}]
)
def test_what_takes_long_is_trained_by_a_press_in_another_process_and_not_by_opening_its_link(
    visit, quick, monkeypatch, asked
):
    elsewhere, small = [], next(retrieval_training.train(retrieval_training.Config(steps=10)))
    monkeypatch.setattr(retrieval_training, "train", lambda _config: pytest.fail("trained in the server"))

    def results(module, work, config, threads, nice):
        elsewhere.append((module, work, config, training_panel.TRAININGS.n_working))
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


def test_a_second_training_waits_for_the_first_and_finds_what_it_made(visit, monkeypatch):
    """The first one is this test, in the line; the visitor's begins when it has left."""
    line, waited = waiting_line.WaitingLine(1, longest=6), []
    monkeypatch.setattr(training_panel, "TRAININGS", line)
    config = retrieval_training.Config(steps=2000, seeds=2, alternative="sqrt", parameter=1.0)
    small = next(retrieval_training.train(retrieval_training.Config(steps=10)))

    def said_to_the_second(before):
        waited.append(waiting_line.trainings_ahead(before))
        if len(waited) == 2:
            finished_results("s-training").get(config, lambda: replace(small, config=replace(config, steps=10)))
            first.__exit__(None, None, None)
        return waited[-1]

    monkeypatch.setattr(training_panel, "trainings_ahead", said_to_the_second)
    monkeypatch.setattr(training_panel.own_process, "results", lambda *_given: pytest.fail("trained what was there"))
    finished_results.cache_clear()
    page = visit("scaling", s_section="training", s_steps="2000", s_seeds="2")
    first = line.turn(print)
    first.__enter__()
    page.button(key="s_train").click().run()
    assert not page.error
    assert figures(page) == 1
    assert waited == ["1 training of another visitor is ahead of yours, which starts by itself."] * 2
