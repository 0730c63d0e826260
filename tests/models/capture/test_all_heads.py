from torch.testing import assert_close

from attnviz.core.measures import measure
from attnviz.models.capture.all_heads import few_heads, measures
from attnviz.models.capture.run import capture
from tests.models.tiny import llama, padded, tokens


def test_every_head_s_measures_come_in_one_pass():
    ids = tokens()
    for layer in capture(llama(), input_ids=ids).layers:
        found, expected = measures(layer, ids), measure(layer.weights(), layer.mask, ids[:, None])
        for name in expected.__dataclass_fields__:
            assert_close(getattr(found, name), getattr(expected, name), equal_nan=True)
            assert getattr(found, name).shape == (2, 6)


def test_padding_tokens_do_not_count_in_measures():
    ids = tokens()
    trace = capture(llama(), input_ids=ids, attention_mask=padded("right"))
    alone = capture(llama(), input_ids=ids[:1, :4])
    for whole, short in zip(map(measures, trace.layers), map(measures, alone.layers), strict=True):
        assert_close(whole.entropy[:1], short.entropy, atol=1e-5, rtol=1e-5)
        assert_close(whole.mean_distance[:1], short.mean_distance, atol=1e-5, rtol=1e-5)


def test_long_sentences_go_a_few_heads_at_a_time(monkeypatch):
    ids = tokens(length=12)
    layers = capture(llama(), input_ids=ids).layers
    whole = [measures(layer, ids) for layer in layers]
    monkeypatch.setattr("attnviz.models.capture.all_heads.CHUNK", 1)
    assert few_heads(layers[0]) == [[head] for head in range(6)]
    for one, layer in zip(whole, layers, strict=True):
        assert_close(measures(layer, ids).induction, one.induction, equal_nan=True)
        assert_close(measures(layer, ids).entropy, one.entropy)
