"""The sharing page as a visitor uses it: every view, every model, pasted configs, bad shapes, snippets that run."""

import inspect
import json
import re
from dataclasses import replace

from attnviz.canvas.shared.packing import unpack_blob
from attnviz.pages.sharing.panels import prove
from tests.pages.conftest import ran, said, sound, with_code


def columns_on(app):
    """What each stop of the picture is drawn from."""
    drawn = [one.proto.bytes for one in app.get("bidi_component") if one.proto.id.endswith("canvas-of-h-three")]
    return unpack_blob(bytes(drawn[0]))[0]["columns"] if drawn else []


def metrics(app):
    return {metric.label: metric.value for metric in app.metric}


def test_the_page_opens_with_a_trained_layer_shared(visit):
    app = sound(visit("sharing"))
    kept = [column["kept"] for column in columns_on(app)]
    assert kept == ["4 GiB", "2 GiB", "1 GiB", "512 MiB", "256 MiB", "128 MiB"]
    assert "With 8 K/V heads, llama-3.1-8b keeps **1 GiB** for 8,192 tokens" in said(app)
    assert "is the likeliest next token" in said(app)
    assert len(app.get("plotly_chart")) == 3  # the groups, the sweep, the next token
    assert len(sound(visit("sharing", h_heads="true")).get("plotly_chart")) == 4, "and all heads in a box"


def test_the_columns_follow_model_length_and_batch_and_a_prime_number_of_heads_has_nothing_between(visit):
    app = sound(visit("sharing", h_columns="llama-2-7b", h_context="1024", h_batch="2"))
    assert columns_on(app)[0]["kept"] == "1 GiB"
    app.selectbox(key="h_columns").select("falcon-7b").run()
    assert len(columns_on(sound(app))) == 2


def test_three_numbers_are_shown_and_named(visit):
    app = sound(visit("sharing", h_view="count", h_model="gemma-3-27b", h_context="8192"))
    found = metrics(app)
    assert found["Ideal cache"] == "1.031 GiB"
    assert found["transformers holds"] == "1.031 GiB"
    assert found["A paged server allocates"] == "1.844 GiB"
    assert "1,107,296,256 B" in said(app)
    assert "1,106,870,272 B" in said(app)
    assert "Layer by layer" in said(app)


def test_the_visitors_own_shape_lives_in_the_link_and_an_impossible_one_is_refused_in_one_sentence(visit):
    link = {"h_from": "own", "h_n_layers": "2", "h_d_model": "512", "h_n_heads": "8", "h_n_kv_heads": "2"}
    app = sound(visit("sharing", h_view="count", **link, h_d_head="64"))
    assert metrics(app)["Attention parameters"] == "1.311 million"
    app = visit("sharing", h_view="count", h_from="own", h_n_heads="6")
    assert "n&#95;heads&#61;6 must be a multiple of n&#95;kv&#95;heads&#61;8" in app.error[0].value


def test_a_pasted_config_is_counted_and_what_is_not_understood_is_named(visit):
    config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}
    config["kv_tricks"] = 3
    app = sound(visit("sharing", h_view="count", h_from="config", h_config=json.dumps(config)))
    assert "kv&#95;tricks" in app.warning[0].value
    app = visit("sharing", h_view="count", h_from="config", h_config="{")
    assert "this is not JSON" in app.error[0].value
    assert not app.exception


def test_a_model_that_fits_and_one_that_does_not_are_told_apart(visit):
    app = sound(visit("sharing", h_view="size", h_model="llama-3.1-8b", h_gpu="a100-80gb"))
    assert "It fits" in app.success[0].value
    assert metrics(app)["Context where no batch helps"] == "769 tokens"
    app = visit("sharing", h_view="size", h_model="llama-3.1-405b")
    assert "The weights alone need 756 GiB" in app.error[0].value


def test_the_proof_shows_formula_and_measurement_side_by_side_and_hides_no_mismatch(visit, monkeypatch):
    def proved():
        app = visit("sharing", h_view="prove", h_model="gpt2", h_tokens="8")
        return next(b for b in app.button if "without memory" in b.label).click().run()

    assert "agree to the last parameter and byte" in sound(proved()).success[0].value
    right = inspect.unwrap(prove._measure)
    wrong = lambda *given: (found := right(*given)) and replace(found, modules=found.modules[1:])  # noqa: E731
    monkeypatch.setattr(prove, "_measure", wrong)
    assert "do not agree everywhere" in proved().error[0].value


def test_the_next_token_is_as_likely_here_as_on_explore(visit):
    text = "The animal was too tired."
    likeliest = r"As trained, “(.+?)” is the likeliest next token, with ([\d.]+%)"
    here = re.search(likeliest, said(visit("sharing", h_text=text)))
    there = said(sound(visit("explore", model="smollm2-135m", text=text, open_next="true")))
    assert here
    assert f"“{here[1]}” comes next with a probability of {here[2]}" in there
    assert "with only the 50 likeliest tokens left" in there


def test_how_k_v_heads_are_made_of_trained_ones_is_said(visit):
    app = sound(visit("sharing", h_kept="9", h_text="A short sentence."))
    assert "Not in the weights: each trained K/V head stands here 3 times" in said(app)
    assert "the function is the same and the cache 3 times as large" in said(app)
    assert "changes by 0%" in said(app)
    options = next(group for group in app.get("button_group") if group.key == "h_kept").options
    assert options == ["MHA 9", "GQA 3 (trained)", "MQA 1"]
    app = sound(visit("sharing", h_kept="3", h_text="A short sentence."))
    assert "As in the weights: each K/V head is read by 3 query heads." in said(app)
    app = sound(visit("sharing", h_kept="1", h_text="A short sentence."))
    assert "each K/V head is the mean of 3 trained ones, as the GQA paper pools them" in said(app)
    ran(with_code(app).code[0].value)
