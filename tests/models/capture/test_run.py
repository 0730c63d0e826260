import gc
import threading
import weakref

import pytest
import torch
from torch.testing import assert_close
from transformers import MambaConfig, MambaForCausalLM

from attnviz.core.attention import attend
from attnviz.core.masks import causal
from attnviz.core.message import Problem
from attnviz.models.capture.adapter import NAME
from attnviz.models.capture.run import adopt, capture
from tests.models.tiny import bert, eager, llama, padded, tokens


@pytest.mark.parametrize("build", [llama, bert])
@pytest.mark.parametrize("side", ["none", "left", "right"])
def test_weights_are_those_of_the_eager_path(build, side):
    model, mask = build(), padded(side)
    inputs = {"input_ids": tokens(), "attention_mask": mask}
    trace, reference = capture(model, **inputs), eager(model, **inputs)
    assert len(trace.layers) == len(reference.attentions)
    for layer, weights in zip(trace.layers, reference.attentions, strict=True):
        ours = layer.weights()
        empty = (ours.sum(-1, keepdim=True) == 0).expand_as(ours)
        assert_close(ours[~empty], weights[~empty], atol=1e-5, rtol=0)
        assert bool(empty.any()) == (side == "left" and build is llama)


def test_left_padding_leaves_rows_without_a_key_at_zero():
    trace = capture(llama(), input_ids=tokens(), attention_mask=padded("left"))
    stages = trace.layers[0].stages(4)
    assert stages.empty_rows[0, 0].tolist() == [True] * 3 + [False] * 4
    assert stages.weights[0, 0, :3].count_nonzero() == 0


@pytest.mark.parametrize("build", [llama, bert])
def test_recording_leaves_the_logits_as_they_were(build):
    model, ids = build(), tokens()
    with torch.no_grad():
        plain = model(input_ids=ids).logits
    assert torch.equal(capture(model, input_ids=ids, logits="all").logits, plain)
    assert_close(capture(model, input_ids=ids, logits="last").logits, plain[:, -1])
    assert capture(model, input_ids=ids, logits=None).logits is None


@pytest.mark.parametrize("side", ["left", "right"])
def test_last_logits_are_those_of_the_last_real_token(side):
    model, inputs = llama(), {"input_ids": tokens(), "attention_mask": padded(side)}
    with torch.no_grad():
        plain = model(**inputs).logits
    last = 3 if side == "right" else 6
    assert_close(capture(model, **inputs).logits, torch.stack([plain[0, last], plain[1, 6]]))


def test_heads_can_be_asked_for_one_by_one_or_together():
    layer = capture(llama(), input_ids=tokens()).layers[1]
    every = layer.weights()
    assert_close(layer.weights([4, 1]), every[:, [4, 1]])
    assert_close(layer.weights(5), every[:, 5:6])
    assert_close(layer.stages(3).weights, every[:, 3:4])


def test_a_long_sequence_is_computed_a_few_heads_at_a_time(monkeypatch):
    layer = capture(llama(), input_ids=tokens()).layers[0]
    every, mask = layer.weights(), torch.rand(6, 7, 7) > 0.5
    masked = layer.weights(mask=mask)
    monkeypatch.setattr("attnviz.models.capture.recorded_layer.CHUNK", 1)
    assert_close(layer.weights(), every)
    assert_close(layer.weights(mask=mask), masked)


def test_scale_none_leaves_the_scores_as_they_are():
    layer = capture(llama(), input_ids=tokens()).layers[0]
    stages = layer.stages(0, scale=None)
    assert torch.equal(stages.scores, stages.scaled)
    assert_close(
        layer.weights(0, scale=None), attend(layer.q[:, :1], layer.k[:, :1], layer.v[:, :1], layer.mask, None).weights
    )
    assert_close(layer.weights(scale="sqrt"), layer.weights())
    assert layer.scale == pytest.approx(8**-0.5)


def test_another_mask_replaces_the_pattern_but_never_uncovers_padding():
    layer = capture(llama(), input_ids=tokens(), attention_mask=padded("right")).layers[0]
    free = layer.weights(mask=None)
    assert free[1].count_nonzero() == free[1].numel()
    assert free[0, :, :, 4:].count_nonzero() == 0
    assert (free[0, :, :, :4] > 0).all()
    assert_close(free, layer.weights(mask=torch.ones(7, 7, dtype=torch.bool)))


def test_narrowing_the_model_s_mask_keeps_it_causal():
    layer = capture(llama(), input_ids=tokens()).layers[0]
    mine = torch.ones(7, 7, dtype=torch.bool)
    mine[:, 2] = False
    narrowed = layer.weights(mask=layer.mask & mine)
    assert narrowed[..., 2].count_nonzero() == 0
    assert narrowed.triu(1).count_nonzero() == 0


def test_a_causal_mask_forced_on_an_encoder_is_what_that_mask_gives():
    model, ids = bert(), tokens()
    layer = capture(model, input_ids=ids).layers[0]
    mask = causal(7)
    forced = eager(model, input_ids=ids, attention_mask=mask.expand(2, 1, 7, 7).float().log().clamp_min(-1e9))
    assert_close(layer.weights(mask=mask), forced.attentions[0], atol=1e-5, rtol=0)


def test_a_mask_that_hides_every_key_gives_zeros():
    layer = capture(bert(), input_ids=tokens()).layers[0]
    assert layer.weights(mask=torch.zeros(7, 7, dtype=torch.bool)).count_nonzero() == 0


def test_continuing_from_a_cache_gives_the_last_rows_of_a_full_pass():
    model, ids = llama(), tokens(length=9)
    whole = capture(model, input_ids=ids)
    with torch.no_grad():
        cache = model(input_ids=ids[:, :6], use_cache=True).past_key_values
    rest = capture(model, input_ids=ids[:, 6:], past_key_values=cache)
    for full, part in zip(whole.layers, rest.layers, strict=True):
        assert part.shape == (2, 6, 3, 9)
        assert_close(part.weights(), full.weights()[:, :, 6:], atol=1e-5, rtol=0)
    assert_close(rest.logits, whole.logits, atol=1e-4, rtol=0)


def test_one_new_token_sees_its_padding_still_hidden():
    model, mask = llama(), padded("left", length=8)
    ids = tokens(length=8)
    with torch.no_grad():
        cache = model(input_ids=ids[:, :7], attention_mask=mask[:, :7], use_cache=True).past_key_values
    layer = capture(model, input_ids=ids[:, 7:], attention_mask=mask, past_key_values=cache).layers[0]
    free = layer.weights(mask=None)
    assert free[0, :, :, :3].count_nonzero() == 0
    assert (free[0, :, :, 3:] > 0).all()


def test_a_foreign_model_is_given_back_as_it_came():
    model = llama()
    capture(model, input_ids=tokens())
    assert model.config._attn_implementation == "sdpa"
    with pytest.raises(RuntimeError):
        capture(model, input_ids=tokens(), attention_mask=torch.ones(2, 3, 5, 9, dtype=torch.bool))
    assert model.config._attn_implementation == "sdpa"


def test_an_adopted_model_runs_as_before_and_records_only_when_asked():
    model, ids = llama(), tokens()
    with torch.no_grad():
        before = model(input_ids=ids).logits
        adopt(model)
        after = model(input_ids=ids).logits
    assert torch.equal(before, after)
    assert model.config._attn_implementation == NAME
    assert len(capture(model, input_ids=ids).layers) == 2
    assert model.config._attn_implementation == NAME


@pytest.mark.parametrize("own", [True, False])
def test_eight_threads_on_one_model_lose_no_layer(own):
    model = adopt(llama()) if own else llama()
    sentences = [tokens(1, 4 + n, seed=n) for n in range(8)]
    expected = [capture(model, input_ids=ids).layers[1].weights() for ids in sentences]
    wrong = []

    def work(n: int) -> None:
        for _ in range(25):
            trace = capture(model, input_ids=sentences[n])
            if len(trace.layers) != 2 or not torch.allclose(trace.layers[1].weights(), expected[n], atol=1e-6):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert model.config._attn_implementation == (NAME if own else "sdpa")


def test_another_thread_that_asks_for_eager_attentions_meanwhile_gets_them():
    model, ids = llama(), tokens()
    model.set_attn_implementation("eager")
    with torch.no_grad():
        expected = model(input_ids=ids, output_attentions=True).attentions
    stop, wrong = threading.Event(), []

    def outsider() -> None:
        with torch.no_grad():
            while not stop.is_set():
                found = model(input_ids=ids, output_attentions=True).attentions
                if found[1] is None or not torch.equal(found[1], expected[1]):
                    wrong.append(found)

    thread = threading.Thread(target=outsider)
    thread.start()
    layers = [len(capture(model, input_ids=ids).layers) for _ in range(60)]
    stop.set()
    thread.join()
    assert wrong == []
    assert set(layers) == {2}
    assert model.config._attn_implementation == "eager"


def test_a_thousand_captures_leave_nothing_behind():
    model, ids = llama(num_hidden_layers=1), tokens(1, 4)

    def alive() -> int:
        gc.collect()
        return sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects())

    capture(model, input_ids=ids)
    before = alive()
    for _ in range(1000):
        last = weakref.ref(capture(model, input_ids=ids).layers[0])
    assert last() is None
    assert alive() == before


def test_nbytes_counts_what_the_pass_made_and_not_the_model():
    trace = capture(llama(), input_ids=tokens(), logits=None)
    q, k, v = 2 * 6 * 7 * 8, 2 * 2 * 7 * 8, 2 * 2 * 7 * 8
    assert trace.nbytes == 2 * 4 * (q + k + v)


def test_value_norms_are_lengths_after_the_head_s_slice_of_the_output_projection():
    model = llama()
    layer = capture(model, input_ids=tokens()).layers[0]
    w_o = model.model.layers[0].self_attn.o_proj.weight
    value = layer.v[1, 2 // 3, 4]
    assert_close(layer.value_norms()[1, 2, 4], (w_o[:, 16:24] @ value).norm())


def test_a_model_without_attention_is_refused_in_one_sentence():
    model = MambaForCausalLM(MambaConfig(hidden_size=16, num_hidden_layers=1, vocab_size=50, state_size=4))
    with pytest.raises(Problem, match="MambaForCausalLM has no attention layers"):
        capture(model, input_ids=tokens(1, 4) % 50)


@pytest.mark.parametrize(
    "ask, sentence",
    [
        ({"heads": 6}, "head 6 does not exist: layer 0 has heads 0 to 5"),
        ({"heads": []}, "heads must name at least one head"),
        ({"mask": torch.ones(3, 3, dtype=torch.bool)}, r"mask has shape \(3, 3\); it must broadcast to \(2, 6, 7, 7\)"),
        ({"mask": torch.ones(7, 7)}, "mask has dtype torch.float32; it must be boolean"),
        ({"mask": "causal"}, "mask='causal' must be"),
        ({"scale": "half"}, "scale='half' must be"),
    ],
)
def test_invalid_arguments_are_refused_in_one_sentence(ask, sentence):
    layer = capture(llama(), input_ids=tokens()).layers[0]
    with pytest.raises(Problem, match=sentence):
        layer.weights(**ask)
