"""Rows, units and profiles of long texts, computed in bands, beside whole matrices in float64."""

import numpy as np
import pytest
import torch
from scipy.stats import kurtosis
from torch.testing import assert_close

from attnviz.analysis.heads.scan import scan
from attnviz.base.message import Problem
from attnviz.core import measures
from attnviz.models.capture import RecordedLayer, bands, capture, intervene, knockout, weight_bands
from attnviz.models.loading import load
from attnviz.models.tokens.units import Unit, spell_tokens, split_units
from tests.core.test_attention import Largest
from tests.models.tiny import bert, llama, padded, tokens
from tests.models.tiny_tokenizers import byte_level, gpt2_folder, word_piece

IDS = tokens(length=13)


def generated(**more):
    """A layer of 4 heads on 2 K/V heads with what not every model has: a bias, a cap, sinks."""
    draw = torch.Generator().manual_seed(3)
    q, k, v = (torch.randn(2, heads, 13, 4, generator=draw) for heads in (4, 2, 2))
    return RecordedLayer("decoder", "self", 0, "x", 0.5, q, k, v, causal=True, **more)


LAYERS = {
    "causal": lambda: capture(llama(sliding_window=None), input_ids=IDS).layers[1],
    "window": lambda: capture(llama(), input_ids=IDS).layers[1],
    "left padding": lambda: capture(llama(), input_ids=IDS, attention_mask=padded("left", length=13)).layers[1],
    "right padding": lambda: capture(llama(), input_ids=IDS, attention_mask=padded("right", length=13)).layers[1],
    "both ways": lambda: capture(bert(), input_ids=IDS).layers[1],
    "bias": lambda: generated(bias=torch.randn(2, 4, 13, 13, generator=torch.Generator().manual_seed(1))),
    "cap": lambda: generated(softcap=2.0),
    "sinks": lambda: generated(sinks=torch.tensor([0.5, -1.0, 2.0, 0.0])),
}


@pytest.fixture(params=LAYERS)
def layer(request, monkeypatch):
    monkeypatch.setattr(bands, "CELLS", 1)
    monkeypatch.setattr(bands, "FEWEST_ROWS", 4)
    return LAYERS[request.param]()


@pytest.mark.parametrize("aligned", [False, True])
def test_bands_joined_are_the_weights(layer, aligned):
    joined = torch.zeros(layer.shape)
    for band in weight_bands(layer, aligned=aligned):
        joined[:, band.heads, band.rows, band.keys] = band.weights
        assert not aligned or band.keys.stop == band.rows.stop
    assert_close(joined, layer.weights(), atol=1e-6, rtol=1e-5)


def test_profiles_are_the_means_of_whole_rows(layer):
    profiles = bands.profile_layers([layer])
    weights = layer.weights().double()
    real = torch.ones(2, 13) if layer.padding is None else layer.padding[:, 0, 0].expand(2, -1)
    weights = weights * real[:, None, None].to(weights.dtype)
    for sentence, keys in enumerate(real.bool()):
        kept = weights[sentence][:, keys][..., keys]
        assert_close(profiles.entropy[0, sentence].double(), measures.entropy(kept).mean(-1), atol=1e-5, rtol=1e-5)
        assert_close(profiles.sink_mass[0, sentence].double(), kept[..., 0].mean(-1), atol=1e-5, rtol=1e-5)
        at = np.arange(int(keys.sum()))
        away = torch.tensor(np.abs(at[:, None] - at))
        for bin_, (low, high) in enumerate(zip(profiles.edges, [*profiles.edges[1:], 99], strict=True)):
            mass = (kept * ((away >= low) & (away < high))).sum(-1).mean(-1)
            assert_close(profiles.by_distance[0, sentence, :, bin_].double(), mass, atol=1e-5, rtol=1e-5)
    assert_close(profiles.beyond(4), profiles.by_distance[..., 3:].sum(-1))
    with pytest.raises(Problem, match="distance=3 must be one of 0, 1, 2, 4"):
        profiles.beyond(3)


@pytest.mark.parametrize("how", ["mean", "max"])
def test_units_sum_over_keys_and_average_over_queries(layer, how):
    units = (Unit("a", 0, 3), Unit("b", 3, 4), Unit("c", 6, 13))  # two tokens are in none
    pooled = bands.pool_layer(layer, units, how)
    weights = layer.weights()
    for i, asking in enumerate(units):
        for j, asked in enumerate(units):
            sums = weights[:, :, asking.start : asking.stop, asked.start : asked.stop].sum(-1)
            expected = sums.mean(-1) if how == "mean" else sums.amax(-1)
            assert_close(pooled[:, :, i, j], expected, atol=1e-6, rtol=1e-5)


def test_receiver_heads_are_those_of_which_few_units_get_much():
    trace, spans = capture(llama(), input_ids=IDS), [(0, 2), (2, 3), (3, 6), (6, 8), (8, 11), (11, 13)]
    received, heads = trace.pooled(spans).received(2), trace.receiver_heads(spans, ignore=2)
    for number, layer in enumerate(trace):
        weights = layer.weights().double().numpy()
        gets = [
            np.mean(
                [weights[:, :, a:b, start:stop].mean((2, 3)) for a, b in spans[at + 2 :]],
                axis=0,
            )
            for at, (start, stop) in enumerate(spans[:-2])
        ]
        by_hand = np.stack(gets, -1)  # (B, H, units with one that counts)
        assert_close(received[number, ..., :-2].double(), torch.tensor(by_hand), atol=1e-6, rtol=1e-5)
        assert received[number, ..., -2:].isnan().all()
        wanted = torch.tensor(kurtosis(by_hand, axis=-1))
        assert_close(heads.values[number].double(), wanted, atol=1e-3, rtol=1e-3)


def test_a_row_is_that_row_of_every_head():
    trace = capture(llama(), input_ids=IDS)
    row = trace.row(-2, sentence=1)
    for number, one in enumerate(trace):
        assert_close(row.weights[number], one.weights()[1, :, -2])
    layer, head, key, weight = row.top(1)[0]
    assert weight == row.weights.max() == row.weights[layer, head, key]
    assert all(found[:2] == (1, 2) for found in row.top(3, layer=1, head=2))
    with pytest.raises(Problem, match="query=13 must be a whole number from -13 to 12"):
        trace.row(13)


def test_patterns_in_bands_are_those_of_whole_matrices(monkeypatch):
    ids = IDS.clone()
    ids[:, 7:] = ids[:, :6]

    def diagonal(sentence):
        return torch.eye(len(sentence), dtype=torch.bool)

    patterns = ("previous_token", "induction", "duplicate_token", "next_token", diagonal)
    for model in (llama(sliding_window=None), llama(), bert()):
        (whole,) = scan(model, ids, patterns)
        with monkeypatch.context() as small:
            small.setattr(bands, "CELLS", 1)
            small.setattr(bands, "FEWEST_ROWS", 3)
            (parts,) = scan(model, ids, patterns)
        for name, scores in whole.by_sentence.items():
            np.testing.assert_allclose(parts.by_sentence[name], scores, atol=1e-6, err_msg=name)


LONG_TEXT_CALLS = {
    "row": lambda trace: trace.row(-1),
    "pooled": lambda trace: trace.pooled([(at, at + 16) for at in range(0, 2048, 16)]),
    "profiles": lambda trace: trace.profiles(),
    "max_logits": lambda trace: trace.max_logits(),
    "find_heads": lambda trace: list(scan(llama(max_position_embeddings=2048), trace.inputs["input_ids"])),
    "an edit of one cell": lambda trace: intervene(
        llama(max_position_embeddings=2048), knockout(1, 2, queries=-1, keys=5), **trace.inputs
    ),
}


@pytest.mark.parametrize("call", LONG_TEXT_CALLS)
def test_a_long_text_is_never_a_matrix_of_more_than_one_head(call):
    trace = capture(llama(max_position_embeddings=2048, sliding_window=None), input_ids=tokens(1, 2048), logits=None)
    with Largest() as largest:
        LONG_TEXT_CALLS[call](trace)
    assert largest.elements <= 2048**2


# Texts: as long as the model reads, and in units.
@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return load(gpt2_folder(tmp_path_factory.mktemp("gpt2")))


def test_a_text_longer_than_the_model_reads_is_refused_or_cut_where_asked_and_the_app_s_limit_is_none(
    small, monkeypatch
):
    monkeypatch.setenv("ATTNVIZ_TOKEN_LIMIT", "5")
    limit = small.max_positions
    assert limit is not None
    text = "word " * limit
    for call in (capture, lambda model, text: model.generate(text), lambda model, text: next(scan(model, [text]))):
        with pytest.raises(Problem, match=f"reads at most {limit}: shorten it, or let truncate=True"):
            call(small, text)
    with pytest.raises(Problem, match=f"reads at most {limit}"):
        capture(small.model, text, tokenizer=small.tokenizer)
    for trace in (
        capture(small, text, truncate=True),
        capture(small.model, text, tokenizer=small.tokenizer, truncate=True),
    ):
        assert trace[0].shape[-1] == limit


TEXT = 'Mr. Low said: "It is 3.5 km." Then she didn’t go! Why?\n\nA well-known end… 你好。世界！'


@pytest.mark.parametrize(
    "text, kind, labels",
    [
        (
            TEXT,
            "sentence",
            ['Mr. Low said: "It is 3.5 km."', "Then she didn’t go!", "Why?", "A well-known end…", "你好。", "世界！"],
        ),
        (TEXT, "paragraph", [" ".join(TEXT.split("\n\n")[0].split()), TEXT.split("\n\n")[1]]),
        ("She didn’t go, 你好", "word", ["She", "didn’t", "go", ",", "你", "好"]),
    ],
)
def test_units_of_a_text_are_whole_and_every_token_is_in_one(text, kind, labels):
    tokenizer = byte_level()
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert "".join(spell_tokens(tokenizer, ids)) == text
    units = split_units(tokenizer, ids, kind)
    assert [unit.label for unit in units] == labels
    assert [unit.start for unit in units] == [0, *(unit.stop for unit in units[:-1])]
    assert units[-1].stop == len(ids)


def test_sentences_are_told_where_the_tokenizer_keeps_no_spaces():
    pieces = word_piece()
    ids = pieces("the cat sat. the cat sat.", add_special_tokens=False)["input_ids"]
    assert len(split_units(pieces, ids, "sentence")) == 2


def test_unknown_units_and_those_whose_weights_would_not_fit_are_refused_in_words(small, monkeypatch):
    trace, many = capture(small, "One. Two."), [(0, 1)] * 8000
    assert trace.pooled("sentence").weights.shape[-2:] == (2, 2)
    assert trace.pooled([(0, 2), (2, 3)]).weights.shape[-1] == 2
    batch = capture(llama(), input_ids=IDS)
    monkeypatch.setattr(bands, "weight_bands", None)  # before any is computed
    for pooled, units, message in (
        (trace.pooled, "line", "units='line' must be one of"),
        (trace.pooled, [(0, 99)], r"\(0, 99\) is no span"),
        (trace.pooled, "turn", "chat template"),
        (batch.pooled, "word", "needs the trace of one text"),
        (batch.pooled, many, r"8,000 units take 6\.144 GB in all heads, and at most 2 GB are built"),
        (batch.receiver_heads, many, r"8,000 units take 6\.144 GB in all heads, and at most 2 GB are built"),
    ):
        with pytest.raises(Problem, match=message):
            pooled(units)
