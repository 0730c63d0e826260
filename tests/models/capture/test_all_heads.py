import pytest
import torch
from torch.testing import assert_close
from transformers import GPTNeoConfig, GPTNeoForCausalLM, T5Config, T5ForConditionalGeneration

from attnviz.core.measures import measure
from attnviz.models.capture.all_heads import few_heads, measures
from attnviz.models.capture.run import capture
from tests.models.tiny import bert, eager, llama, padded, tokens


def test_every_head_s_measures_come_in_one_pass():
    ids = tokens()
    for layer in capture(llama(), input_ids=ids).layers:
        found, expected = measures(layer, ids), measure(layer.weights(), layer.mask, ids[:, None])
        for name in expected.__dataclass_fields__:
            assert_close(getattr(found, name), getattr(expected, name), equal_nan=True)
            assert getattr(found, name).shape == (2, 6)


@pytest.mark.parametrize("build", [llama, bert])
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_padded_sentence_measures_as_it_does_alone(build, side):
    ids, mask = tokens(), padded(side)
    ids[0, 3], ids[0, 6] = ids[0, 4], ids[0, 5] = 11, 12  # something repeats on either side
    ids[~mask.bool()] = 11  # and padding looks like a real token
    real = mask[0].bool()
    together = capture(build(), input_ids=ids, attention_mask=mask)
    alone = capture(build(), input_ids=ids[:1, real], position_ids=torch.arange(7)[None, real])
    for whole, short in zip(together.layers, alone.layers, strict=True):
        expected = measures(short, ids[:1, real])
        for name in expected.__dataclass_fields__:
            found = getattr(measures(whole, ids), name)[:1]
            assert_close(found, getattr(expected, name), atol=1e-5, rtol=1e-5, equal_nan=True, msg=name)


def test_the_first_token_of_a_left_padded_sentence_is_its_own():
    inputs = {"input_ids": tokens(), "attention_mask": padded("left")}
    layer = capture(llama(), **inputs).layers[0]
    plain = eager(llama(), **inputs).attentions[0]  # 3 are missing: row 3 is the first, column 3 its first key
    assert_close(measures(layer).first_token[0], plain[0, :, 3:, 3].mean(-1), atol=1e-5, rtol=0)
    assert (measures(layer).first_token[0] > 0.25).all()


def test_padding_is_left_out_where_only_weights_are_known():
    """GPT-Neo computes attention in its own way."""
    torch.manual_seed(0)
    config = GPTNeoConfig(
        hidden_size=24,
        num_layers=2,
        num_heads=2,
        attention_types=[[["global"], 2]],
        vocab_size=100,
        intermediate_size=8,
    )
    model = GPTNeoForCausalLM(config).eval()
    mask = padded("left")
    position_ids = (mask.cumsum(-1) - 1).clamp_min(0)
    whole = capture(model, input_ids=tokens(), attention_mask=mask, position_ids=position_ids).layers[1]
    short = capture(model, input_ids=tokens()[:1, 3:]).layers[1]
    assert not whole.exact
    for name in ("entropy", "mean_distance", "first_token", "previous_token"):
        assert_close(getattr(measures(whole), name)[:1], getattr(measures(short), name), atol=1e-5, rtol=1e-5)


def test_padding_of_both_sentences_is_left_out_of_cross_attention():
    torch.manual_seed(0)
    model = T5ForConditionalGeneration(T5Config(d_model=24, d_kv=8, d_ff=16, num_layers=2, num_heads=3, vocab_size=100))
    model.eval()
    inputs = {"input_ids": tokens(), "decoder_input_ids": tokens(length=5)}
    masks = {"attention_mask": padded("right"), "decoder_attention_mask": padded("right", length=5, missing=2)}
    whole = capture(model, **inputs, **masks)
    short = capture(model, input_ids=tokens()[:1, :4], decoder_input_ids=tokens(length=5)[:1, :3])
    for one, other in zip(whole.layers, short.layers, strict=True):
        for name in ("entropy", "entropy_share", "largest_weight", "first_token"):
            found, expected = (getattr(measures(layer), name)[0] for layer in (one, other))
            assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_one_sentence_of_ids_will_do():
    ids = tokens(batch=1)
    layer = capture(llama(), input_ids=ids).layers[0]
    assert_close(measures(layer, ids[0]).induction, measures(layer, ids).induction, equal_nan=True)


def test_long_sentences_go_a_few_heads_at_a_time(monkeypatch):
    ids = tokens(length=12)
    layers = capture(llama(), input_ids=ids).layers
    whole = [measures(layer, ids) for layer in layers]
    monkeypatch.setattr("attnviz.models.capture.all_heads.CHUNK", 1)
    assert few_heads(layers[0]) == [[head] for head in range(6)]
    for one, layer in zip(whole, layers, strict=True):
        assert_close(measures(layer, ids).induction, one.induction, equal_nan=True)
        assert_close(measures(layer, ids).entropy, one.entropy)
