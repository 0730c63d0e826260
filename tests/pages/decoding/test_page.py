"""The page about decoding as a visitor uses it: every section, links, nonsense, stopping, a server for strangers."""

import pytest

from attnviz.app import live_run
from attnviz.pages.decoding.maths import token_by_token
from attnviz.pages.decoding.maths.decoders import CORE_LAYERS
from attnviz.pages.decoding.panels import decoder_form
from tests.pages.conftest import drawn, said
from tests.pages.decoding.conftest import core_cache_bytes, largest_difference

CORE = {"d_model": "core"}


@pytest.fixture(autouse=True)
def nothing_finished():
    live_run.finished_results.cache_clear()


def test_every_step_is_sent_and_its_tokens_bytes_and_sentences_are_of_one_moment(visit):
    """The player, the bricks, the headline and the bytes below it: what the two ways took is what was computed."""
    *_partial, run = token_by_token.run(decoder_form.core_decoder(0), token_by_token.Config("hello", 4, 1.5, 2))
    of_a_layer, context, both = core_cache_bytes(1) // CORE_LAYERS, (5, 6, 7, 8), [[5, 5], [1, 6], [1, 7], [1, 8]]
    for at, said_of_it in (
        (0, "The prompt’s 5 tokens are computed once, with a cache and without."),
        (1, "of 6 tokens are computed, once each. Without it **11** are, 5 of them again"),
        (3, "of 8 tokens are computed, once each. Without it **26** are, 18 of them again"),
    ):
        page = visit("decoding", d_prompt="hello", d_steps="4", d_t="1.5", d_seed="2", d_at=str(at), **CORE)
        header, payload = drawn(page, "step_player")
        assert (header["total"], header["at"], header["rows"]) == (4, at, 8)
        assert header["labels"][:5] == list("hello")
        assert [step["tokens"] for step in header["steps"]] == both
        rows, (d, dv) = header["rows"], header["widths"]
        assert len(payload) == 4 * (2 * rows * d + 2 * rows * dv + rows * rows)
        assert header["steps"][at]["layer_bytes"] == [context[at] * of_a_layer] * CORE_LAYERS
        product = f"After step {at + 1}, tokens × K/V heads × numbers × bytes in layer 0: {context[at]} × "
        assert product in said(page)
        assert f" = **{context[at] * of_a_layer:,} B**" in said(page)
        once, again = both[at]
        assert f"step {at + 1} processed: **{once}** with the cache, **{again}** without." in said(page)
        bricks, _none = drawn(page, "cache_growth")
        assert (bricks["contexts"], bricks["rows"], bricks["at"]) == ([*context], 8, at)
        assert bricks["kept"] == [core_cache_bytes(n) for n in context]
        assert said_of_it in said(page)
    off = largest_difference(run)
    largest = next(step.largest_logit for step in run.steps if step.difference == off)
    assert f"of 32-bit numbers, {off / largest:.0e} of the largest |logit|" in said(page)
    assert "at temperature 1.5 the draw is made from others." in said(page)
    once = visit("decoding", d_prompt="hello", d_steps="1", **CORE)
    assert "Their logits agree in every digit." in said(once)
    assert "at temperature" not in said(once)


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
