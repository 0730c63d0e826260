"""The sharing page as a visitor uses it: every view, every model, pasted configs, bad shapes, snippets that run."""

import inspect
import json
import re
from dataclasses import replace

import pytest

from attnviz.app import show
from attnviz.base import units
from attnviz.canvas.shared.packing import unblob
from attnviz.models.architecture.architecture import Architecture
from attnviz.pages.sharing.figures import costs as sharing_costs
from attnviz.pages.sharing.panels import prove, sharing_programs
from tests.models.architecture.test_architecture import EVERY_PRESET
from tests.pages.conftest import charts, ran, said, sound, table_of, with_code

MINILM = {"h_lm": "minilm-l6"}


def columns_on(app, key):
    """What each column of the picture with this key is drawn from."""
    drawn = [one.proto.bytes for one in app.get("bidi_component") if one.proto.id.endswith(f"canvas-of-{key}")]
    return unblob(bytes(drawn[0]))[0]["columns"] if drawn else []


def spoken(app):
    """All that the page says, what stands in its columns included."""
    return " ".join([said(app), *(column["spoken"] for column in columns_on(app, "h-wiring"))])


def metrics(app):
    return {metric.label: metric.value for metric in app.metric}


def test_the_page_opens_with_a_trained_layer_shared(visit):
    app = sound(visit("sharing"))
    columns = columns_on(app, "h-three")
    assert len(columns) == 3
    assert [column["cache"] for column in columns] == ["cache: 4 GiB", "cache: 1 GiB", "cache: 128 MiB"]
    assert "9 query heads on 1 K/V head; K/V heads as trained: 3" in spoken(app)
    assert "is the likeliest next token" in spoken(app)
    assert len(app.get("plotly_chart")) == 3  # the groups, the sweep, the next token
    assert len(sound(visit("sharing", h_heads="true")).get("plotly_chart")) == 4, "and all heads in a box"


def test_the_columns_follow_model_length_and_batch_and_a_prime_number_of_heads_has_nothing_between(visit):
    app = sound(visit("sharing", h_columns="llama-2-7b", h_context="1024", h_batch="2"))
    columns = columns_on(app, "h-three")
    assert columns[0]["cache"] == "cache: 1 GiB"
    assert "2 × 32 × 1,024 × 128" in columns[0]["spoken"]

    app.selectbox(key="h_columns").select("falcon-7b").run()
    assert len(columns_on(sound(app), "h-three")) == 2


@pytest.mark.parametrize("text", ["word", "🙂 <b>$x$</b> **bold**", "x " * 300])
def test_any_sentence_is_shared(visit, minilm, text):
    app = sound(visit("sharing", **MINILM, h_text=text))
    assert app.get("plotly_chart")
    assert f"| 12 × {len(minilm.tokenizer(text).input_ids)} × 32 |" in spoken(app)


def test_an_empty_sentence_and_a_layer_that_the_model_does_not_have_are_answered_with_a_sentence(visit):
    for link, refusal in (({"h_text": ""}, "The sentence is empty"), ({"h_layer": "99"}, "99")):
        app = visit("sharing", **MINILM, **link)
        assert refusal in spoken(app)


def test_three_numbers_are_shown_and_named(visit):
    app = sound(visit("sharing", h_view="count", h_model="gemma-3-27b", h_context="8192"))
    found = metrics(app)
    assert found["Ideal cache"] == "1.031 GiB"
    assert found["transformers holds"] == "1.031 GiB"
    assert found["A paged server allocates"] == "1.844 GiB"
    assert "1,107,296,256 B" in spoken(app)
    assert "1,106,870,272 B" in spoken(app)
    assert "Layer by layer" in spoken(app)


@pytest.mark.parametrize("name", EVERY_PRESET)
def test_the_counting_program_prints_the_architectures_numbers(name):
    arch = Architecture.preset(name)
    printed = ran(sharing_programs.of_count(f"Architecture.preset({name!r})", 8192, 3))[1]
    assert f"attention parameters: {arch.attention_parameters()}\n" in printed
    for convention in ("ideal", "transformers", "paged"):
        expected = arch.kv_cache_bytes(8192, 3, "bfloat16", convention, arch.encoder_tokens(8192))
        assert f"{convention} cache bytes: {expected}\n" in printed


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


@pytest.mark.parametrize("batch, made", [(1, [1, 2, 4, 8]), (8, [1, 2, 4, 8]), (512, [1, 2, 4, 8])])
def test_only_a_step_that_fits_the_machine_has_a_time(visit, batch, made):
    link = {"h_model": "llama-3.1-8b", "h_gpu": "typed", "h_gib": "24", "h_context": "8192", "h_batch": str(batch)}
    app = visit("sharing", h_view="size", **link)
    assert not app.exception
    assert (metrics(app)["One decoding step"] == "–") == (batch > made[-1])
    assert ("a step takes" in spoken(app)) == (batch <= made[-1])
    steps = next(chart for chart in charts(app) if any(line["name"] == "computing" for line in chart["data"]))
    assert next(line for line in steps["data"] if line["name"] == "computing")["x"] == made


def test_a_model_that_fits_no_machine_has_no_step(visit):
    app = visit("sharing", h_view="size", h_model="llama-3.1-405b")
    assert not app.exception
    assert metrics(app)["One decoding step"] == "–"
    assert "a step takes" not in spoken(app)


def test_a_mixture_says_how_many_experts_a_step_reads(visit):
    link = {"h_view": "size", "h_gpu": "typed", "h_gib": "2000"}
    assert "reads 15.8 of the 256 experts" in spoken(visit("sharing", **link, h_model="deepseek-v3", h_batch="2"))
    assert "experts of a layer" not in spoken(visit("sharing", **link, h_model="llama-3.1-8b"))


def test_a_typed_machine_is_used_and_the_page_says_what_transformers_does_with_a_quantised_cache(visit):
    link = {"h_gpu": "typed", "h_gib": "24", "h_cache": "int4", "h_weights": "q4_0", "h_as": "paged"}
    app = sound(visit("sharing", h_view="size", **link))
    assert "24 GiB" in app.success[0].value
    link = {"h_view": "size", "h_as": "transformers"}
    assert "up to 128 recent tokens at 16 bits" in spoken(sound(visit("sharing", **link, h_cache="int4")))
    assert "keeps no q4_0 cache" in spoken(sound(visit("sharing", **link, h_cache="q4_0")))


def test_the_proof_shows_formula_and_measurement_side_by_side_and_hides_no_mismatch(visit, monkeypatch):
    def proved():
        app = visit("sharing", h_view="prove", h_model="gpt2", h_tokens="8")
        return next(b for b in app.button if "without memory" in b.label).click().run()

    assert "agree to the last parameter and byte" in sound(proved()).success[0].value
    right = inspect.unwrap(prove._measured)
    wrong = lambda *given: (found := right(*given)) and replace(found, modules=found.modules[1:])  # noqa: E731
    monkeypatch.setattr(prove, "_measured", wrong)
    assert "do not agree everywhere" in proved().error[0].value


def test_a_layer_of_the_core_is_filled_and_timed(visit):
    app = visit("sharing", h_view="prove", h_live_d_model="64", h_live_n_heads="8", h_live_tokens="64")
    app = sound(next(b for b in app.button if "Fill" in b.label).click().run())
    assert "as fast as MHA here" in spoken(app)


def test_published_numbers_are_judged(visit):
    app = sound(visit("sharing", h_view="published"))
    assert {"82.24%", "7.344 times", "126 GiB"} <= set(table_of(app)["found here"])
    assert "with 8 it loses 0.1" in spoken(app)


def test_an_encoder_decoders_cache_is_the_same_in_every_place(visit):
    """T5-small: 6 decoder layers, each with its own keys and the encoder's, 8 heads of 64."""
    each = 8192 * 6 * 2 * 8 * 64 * 2
    for axis in ("context", "batch", "heads"):
        app = sound(visit("sharing", h_view="count", h_model="t5-small", h_axis=axis))
        assert metrics(app)["Ideal cache"] == "192 MiB" == units.binary(2 * each)
        assert axis == "heads" or f"keeps {units.both(2 * each)} for" in spoken(app)
        assert "keeps no cache" not in spoken(app)
    assert f"Each K/V head costs {units.both(2 * each // 8)} for" in spoken(app)
    assert "12 of 18 attentions keep" in spoken(app)


def test_speech_is_always_heard_at_1500_positions(visit):
    """Whisper tiny: 4 decoder layers of 6 heads of 64; 8,192 tokens of its own and 1,500 positions of the encoder's."""
    app = sound(visit("sharing", h_view="count", h_model="whisper-tiny"))
    assert f"{(8192 + 1500) * 4 * 2 * 6 * 64 * 2:,} B" in spoken(app)
    assert "always reads 1,500 positions" in spoken(app)
    app = sound(visit("sharing", h_view="size", h_model="whisper-tiny"))
    assert f"cache {units.both((8192 + 1500) * 4 * 2 * 6 * 64 * 2)}" in spoken(app)


def test_the_next_token_is_as_likely_here_as_on_explore(visit):
    text = "The animal was too tired."
    likeliest = r"As trained, “(.+?)” is the likeliest next token, with ([\d.]+%)"
    here = re.search(likeliest, spoken(visit("sharing", h_text=text)))
    there = spoken(sound(visit("explore", model="smollm2-135m", text=text, open_next="true")))
    assert here
    assert f"“{here[1]}” comes next with a probability of {here[2]}" in there
    assert "with only the 50 likeliest tokens left" in there


def wirings(app):
    """The kind over each wiring, and how many key heads are drawn in it."""
    return [(column["name"], column["kv_heads"]) for column in columns_on(app, "h-wiring")]


def test_mha_gqa_and_mqa_stand_side_by_side_on_a_trained_model(visit):
    app = sound(visit("sharing", h_kept="9", h_text="A short sentence."))
    assert wirings(app) == [("MHA 9, compared below", 9), ("GQA 3, trained", 3), ("MQA 1", 1)]
    words = spoken(app)
    assert "Not in the weights: each trained K/V head stands here 3 times" in words
    assert "the function is the same and the cache 3 times as large" in words
    assert "As in the weights: each K/V head is read by 3 query heads." in words
    assert "each K/V head is the mean of 3 trained ones, as the GQA paper pools them" in words
    assert "**MHA**: 9 query heads on 9 K/V heads; as trained: 3" in words
    assert "changes by 0%" in words
    options = next(group for group in app.get("button_group") if group.key == "h_kept").options
    assert options == ["MHA 9", "GQA 3 (trained)", "MQA 1"]
    ran(with_code(app).code[0].value)


def test_a_model_trained_with_every_head_its_own_shows_the_gqa_that_is_chosen(visit):
    app = sound(visit("sharing", **MINILM, h_kept="3", h_by="first"))
    assert wirings(app) == [("MHA 12, trained", 12), ("GQA 3, compared below", 3), ("MQA 1", 1)]
    assert "12 query heads on 3 K/V heads; as trained: 12" in spoken(app)
    assert "predicts no next token" in spoken(app)
    assert "is the first of 4 trained ones" in spoken(app)
    app = sound(visit("sharing", **MINILM, h_kept="1", h_by="random"))
    assert [kind for kind, _heads in wirings(app)][0::2] == ["MHA 12, trained", "MQA 1, compared below"]
    assert "drawn at random (seed 0) in the place of 12 trained ones" in spoken(app)
    assert "an encoder keeps no cache" in spoken(app)
    assert "of its cache" not in spoken(app)


def test_bytes_over_kv_heads_are_named_and_read_as_bytes():
    fig = sharing_costs.bars(["MHA 2", "MQA 1"], [3 << 29, 3 << 28], "bytes", 0, ["1.5 GiB", "768 MiB"])
    assert list(fig.data[0].text) == ["1.5 GiB", "768 MiB"]
    axis = fig.layout.xaxis
    assert [value / (1 << 30) for value in axis.tickvals] == [float(text.split()[0]) for text in axis.ticktext]
    assert all(text.endswith(" GiB") for text in axis.ticktext)
    parts = {"w_q": [400_000_000], "w_k": [100_000_000]}
    axis = sharing_costs.parameters(["one"], parts, {"w_q": "Q", "w_k": "K"}).layout.xaxis
    assert list(axis.ticktext) == [f"{value / 1e6:,g}" for value in axis.tickvals]
    assert axis.title.text == "parameters, in millions"


def test_a_head_costs_what_it_adds_where_a_state_is_kept_as_well(visit):
    """Qwen3-Next: 12 of its 48 layers have heads, 256 wide; the others keep a state that no head changes."""
    app = sound(visit("sharing", h_view="count", h_model="qwen3-next-80b-a3b", h_axis="heads"))
    assert f"Each K/V head costs {units.both(8192 * 12 * 2 * 256 * 2)} for" in spoken(app)


def test_an_encoder_alone_has_no_bytes_over_anything_no_speed_and_no_context(visit):
    for axis in ("context", "heads"):
        assert "it keeps no cache" in spoken(sound(visit("sharing", h_view="count", h_model="bert-base", h_axis=axis)))
    app = sound(visit("sharing", h_view="size", h_model="bert-base"))
    assert "writes no tokens" in spoken(app)
    assert not metrics(app)
    assert "tokens a second" not in spoken(app)


def test_units_are_never_mixed_up_and_tables_can_be_downloaded_as_markdown():
    assert units.both(1 << 30) == "1.074 GB = 1 GiB"
    assert units.duration(0.0084) == "8.4 ms"
    assert show.markdown({"a|b": [1, None], "c": ["x|y", "z"]}).splitlines()[2] == "| 1 | x\\|y |"
