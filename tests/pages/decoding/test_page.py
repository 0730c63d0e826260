"""The page about decoding as a visitor uses it: every section, links, nonsense, stopping, a server for strangers."""

import pytest

from attnviz.app import live_run
from attnviz.pages.decoding.maths import token_by_token
from attnviz.pages.decoding.maths.decoders import CORE_LAYERS
from attnviz.pages.decoding.panels import decoder_form
from tests.pages.conftest import drawn, said
from tests.pages.decoding.conftest import core_cache_bytes, largest_difference

CORE = {"d_model": "core"}
SHORT = "the cat sat on the mat"


@pytest.fixture(autouse=True)
def nothing_finished():
    live_run.finished_results.cache_clear()


def test_the_player_is_sent_every_step_and_what_is_said_of_the_two_ways_is_what_was_computed(visit):
    *_partial, run = token_by_token.run(decoder_form.core_decoder(0), token_by_token.Config("hello", 4, 1.5, 2))
    page = visit("decoding", d_prompt="hello", d_steps="4", d_t="1.5", d_seed="2", **CORE)
    header, payload = drawn(page, "step_player")
    assert header["total"] == len(header["steps"]) == 4
    assert header["labels"][:5] == list("hello")
    assert len(header["labels"]) == 5 + 4
    assert [step["tokens"] for step in header["steps"]] == [[5, 5], [1, 6], [1, 7], [1, 8]]
    rows, (d, dv) = header["rows"], header["widths"]
    assert rows == 8
    assert len(payload) == 4 * (2 * rows * d + 2 * rows * dv + rows * rows)
    assert header["at"] == 3
    assert largest_difference(run) < 1e-4
    assert run.steps[-1].same_choice
    assert "step 4 processed: **1** with the cache, **8** without. Both agree on the likeliest next token." in said(
        page
    )
    assert "Probabilities are the model’s own; at temperature 1.5 the draw is made from others." in said(page)
    assert f"of 32-bit numbers, {largest_difference(run) / _logit_there(run):.0e} of the largest |logit|" in said(page)
    once = visit("decoding", d_prompt="hello", d_steps="1", **CORE)
    assert "Their logits agree in every digit." in said(once)
    assert "at temperature" not in said(once)


def test_at_every_step_tokens_times_their_bytes_are_the_bytes_on_show_and_bricks_are_what_was_computed(visit):
    """The headline's tokens and the panel's bytes are of one moment, and the sentences below are of the same."""
    of_a_layer = core_cache_bytes(1) // CORE_LAYERS
    for at, said_of_it in enumerate(
        (
            "The prompt’s 5 tokens are computed once, with a cache and without.",
            "of 6 tokens are computed, once each. Without it **11** are, 5 of them again",
            "of 7 tokens are computed, once each. Without it **18** are, 11 of them again",
            "of 8 tokens are computed, once each. Without it **26** are, 18 of them again",
        )
    ):
        page = visit("decoding", d_prompt="hello", d_steps="4", d_at=str(at), **CORE)
        header, _payload = drawn(page, "step_player")
        step = header["steps"][at]
        assert step["context"] == 5 + at == step["tokens"][1]
        assert step["layer_bytes"] == [step["context"] * of_a_layer] * CORE_LAYERS
        product = f"After step {at + 1}, tokens × K/V heads × numbers × bytes in layer 0: {step['context']} × "
        assert product in said(page)
        assert f" = **{step['context'] * of_a_layer:,} B**" in said(page)
        once, again = step["tokens"]
        assert f"step {at + 1} processed: **{once}** with the cache, **{again}** without." in said(page)
        bricks, _none = drawn(page, "cache_growth")
        assert (bricks["contexts"], bricks["rows"], bricks["at"]) == ([5, 6, 7, 8], 8, at)
        assert bricks["kept"] == [core_cache_bytes(n) for n in (5, 6, 7, 8)]
        assert len(bricks["labels"]) == 8
        assert said_of_it in said(page)


def _logit_there(run):
    return next(step.largest_logit for step in run.steps if step.difference == largest_difference(run))


def test_a_run_is_drawn_as_it_comes_and_can_be_stopped(visit, monkeypatch):
    monkeypatch.setattr(live_run, "AT_A_TIME", 0.0)
    monkeypatch.setattr(live_run, "FIRST_AFTER", 0.0)
    runs = []
    real = token_by_token.run

    def counted(*arguments):
        for result in real(*arguments):
            runs.append(len(result.steps))
            if len(result.steps) == 3:
                live_run._set_stopped("steps", True)  # as the button does
            yield result

    monkeypatch.setattr(token_by_token, "run", counted)
    page = visit("decoding", d_prompt="hello", d_steps="6", **CORE)
    assert runs == [1, 2, 3]
    assert drawn(page, "step_player")[0]["total"] == 6
    assert len(drawn(page, "step_player")[0]["steps"]) == 3
    page.button(key="live_go_steps").click().run()
    assert runs == [1, 2, 3, 4, 5, 6]
    assert len(drawn(page, "step_player")[0]["steps"]) == 6
    visit("decoding", d_prompt="hello", d_steps="6", **CORE)
    assert runs == [1, 2, 3, 4, 5, 6], "another visitor is shown the finished run"


def test_prefill_and_decode_stand_below_the_bytes_by_formula(visit):
    page = visit("decoding", d_view="bytes", d_machine="t4", **CORE)
    assert "By formula at 16 bits" in said(page)
    assert "bound by computing" in said(page)
    assert "bound by reading" in said(page)


def test_a_trained_model_writes(visit, smollm2):
    page = visit("decoding", d_model="smollm2-135m", d_steps="2")
    assert "Rome" in drawn(page, "step_player")[0]["labels"]
    assert "SmolLM2 135M Instruct &#40;4&#45;bit&#41;: trained weights." in said(page)  # as Markdown has it
