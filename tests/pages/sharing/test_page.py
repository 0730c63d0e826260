"""The sharing page: every view, pasted configs, bad shapes; columns and layers by published formulas."""

import html
import inspect
import json
from dataclasses import replace

import pytest

from attnviz.base.message import Problem
from attnviz.models.architecture import Architecture
from attnviz.pages.sharing.maths import Config, run
from attnviz.pages.sharing.panels import prove, see
from tests.pages.conftest import drawn, said, sound


def columns_on(app):
    """What each stop of the picture is drawn from."""
    return drawn(app, "sharing_columns")[0]["columns"]


def metrics(app):
    return {metric.label: metric.value for metric in app.metric}


def test_the_columns_follow_model_length_and_batch_and_a_prime_number_of_heads_has_nothing_between(visit):
    assert len(sound(visit("sharing")).get("plotly_chart")) == 3  # the groups, the sweep, the next token
    assert len(sound(visit("sharing", h_heads="true")).get("plotly_chart")) == 4, "and all heads in a box"
    app = sound(visit("sharing", h_columns="llama-2-7b", h_context="1024", h_batch="2"))
    assert columns_on(app)[0]["kept"] == "1 GiB"
    app.selectbox(key="h_columns").select("falcon-7b").run()
    assert len(columns_on(sound(app))) == 2


def test_three_numbers_are_shown_and_named_and_whether_a_model_fits(visit):
    app = sound(visit("sharing", h_view="count", h_model="gemma-3-27b", h_context="8192"))
    found = metrics(app)
    assert found["Ideal cache"] == "1.031 GiB"
    assert found["transformers holds"] == "1.031 GiB"
    assert found["A paged server allocates"] == "1.844 GiB"
    assert "1,107,296,256 B" in said(app)
    assert "1,106,870,272 B" in said(app)
    assert "Layer by layer" in said(app)
    app = sound(visit("sharing", h_view="size", h_model="llama-3.1-8b", h_gpu="a100-80gb"))
    assert "It fits" in app.success[0].value
    assert metrics(app)["Context where no batch helps"] == "769 tokens"
    app = sound(visit("sharing", h_view="size", h_model="bert-base", h_gpu="a100-80gb"))
    assert "Its weights fit: " in app.success[0].value


OWN = {"h_from": "own", "h_n_layers": "1", "h_d_model": "512", "h_n_heads": "8", "h_n_kv_heads": "1", "h_d_head": "64"}
TRICKS = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "kv_tricks": 3}


def test_the_visitors_own_shape_lives_in_the_link_and_what_a_pasted_config_has_besides_is_named(visit):
    app = sound(visit("sharing", h_view="count", **OWN))
    assert metrics(app)["Attention parameters"] == f"{2 * 512 * 512 + 2 * 512 * 64:,}"
    app = sound(visit("sharing", h_view="count", h_from="config", h_config=json.dumps(TRICKS)))
    assert "kv&#95;tricks" in app.warning[0].value


@pytest.mark.parametrize(
    "link, refusal",
    [
        ({"h_from": "own", "h_n_heads": "6"}, "n_heads=6 must be a multiple of n_kv_heads=8"),
        ({"h_from": "config", "h_config": "{"}, "this is not JSON"),
        ({"h_view": "size", "h_model": "llama-3.1-405b"}, "The weights alone need 756 GiB"),
    ],
)
def test_what_cannot_be_counted_or_does_not_fit_is_refused_in_one_sentence(visit, link, refusal):
    app = visit("sharing", **{"h_view": "count"} | link)
    assert refusal in html.unescape(app.error[0].value)
    assert not app.exception


def test_the_proof_shows_formula_and_measurement_side_by_side_and_hides_no_mismatch(visit, monkeypatch):
    def proved():
        app = visit("sharing", h_view="prove", h_model="gpt2", h_tokens="8")
        return next(b for b in app.button if "without memory" in b.label).click().run()

    assert "agree to the last parameter and byte" in sound(proved()).success[0].value
    right = inspect.unwrap(prove._measure)
    wrong = lambda *given: (found := right(*given)) and replace(found, modules=found.modules[1:])  # noqa: E731
    monkeypatch.setattr(prove, "_measure", wrong)
    assert "do not agree everywhere" in proved().error[0].value


@pytest.mark.parametrize(
    "kept, made",
    [
        ("9", "Not in the weights: each trained K/V head stands here 3 times"),
        ("3", "As in the weights: each K/V head is read by 3 query heads."),
        ("1", "each K/V head is the mean of 3 trained ones, as the GQA paper pools them"),
    ],
)
def test_how_k_v_heads_are_made_of_trained_ones_is_said(visit, kept, made):
    app = sound(visit("sharing", h_kept=kept, h_text="A short sentence."))
    assert made in said(app)
    assert ("changes by 0%" in said(app)) == (kept != "1")


@pytest.mark.parametrize(
    "name, tokens, batch, layers, heads, d_head, d_model, biases",
    [
        ("smollm2-135m", 2048, 1, 30, 9, 64, 576, False),
        ("llama-2-7b", 4096, 3, 32, 32, 128, 4096, False),
        ("qwen2.5-7b", 100, 2, 28, 28, 128, 3584, True),
        ("falcon-7b", 100, 1, 32, 71, 64, 4544, False),
    ],
)
def test_bytes_and_parameters_are_what_the_published_formulas_give(
    name, tokens, batch, layers, heads, d_head, d_model, biases
):
    arch = Architecture.preset(name)
    columns = see.sharing_figure(arch, tokens, batch).columns
    assert [column.kv_heads for column in columns] == [g for g in range(heads, 0, -1) if heads % g == 0]
    table = see.exact_integers(arch, tokens, batch)
    for place, column in enumerate(columns):
        g = column.kv_heads
        assert column.heads == heads
        assert column.cache_bytes == layers * batch * 2 * g * d_head * tokens * 2  # 2·G·D·T·b a layer
        assert column.share == pytest.approx(g / heads)
        weights = 2 * d_model * heads * d_head + 2 * d_model * g * d_head + biases * (heads + 2 * g) * d_head
        assert table["attention parameters"][place] == layers * weights
        assert table["bytes of the cache"][place] == column.cache_bytes


@pytest.mark.parametrize(
    "name, asked, stands",
    [("llama-3.1-8b", None, 8), ("llama-3.1-8b", 4, 4), ("llama-3.1-8b", 3, 8), ("llama-2-7b", None, 8)],
)
def test_the_picture_stands_where_the_link_says_else_as_trained_else_at_a_gqa(name, asked, stands):
    figure = see.sharing_figure(Architecture.preset(name), 100, 1, asked)
    assert figure.columns[figure.at].kv_heads == stands


def test_every_layout_holds_the_bytes_and_parameters_the_formulas_say():
    rows = run(Config(d_model=64, n_heads=8, n_kv_heads=2, d_head=8, tokens=40, rounds=1))
    assert [row.kind for row in rows] == ["MHA", "GQA", "MQA"]
    assert [row.cache_bytes for row in rows] == [row.formula_bytes for row in rows]
    assert [row.parameters for row in rows] == [row.formula_parameters for row in rows]
    assert rows[0].ratio == 1
    assert rows[0].cache_bytes == 8 * rows[2].cache_bytes
    assert [row.kind for row in run(Config(32, 4, 4, 8, 8, 1))] == ["MHA", "MQA"], "what is the same is measured once"


def test_more_memory_than_a_visitor_may_take_is_refused_in_words():
    with pytest.raises(Problem, match="at most 512 MiB are measured here"):
        run(Config(tokens=1 << 20))
