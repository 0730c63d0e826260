import pytest
import torch
from torch.testing import assert_close
from transformers import MistralConfig, MistralForCausalLM, T5Config, T5ForConditionalGeneration

from attnviz.base.message import Problem
from attnviz.models.capture import Edit
from attnviz.models.capture.generation import generate, sampler
from attnviz.models.capture.run import capture
from tests.models.tiny import llama, padded, tokens


def test_generated_tokens_are_those_of_the_model_s_own_greedy_generation():
    model, ids = llama(), tokens(1, 5)
    found = [step.token for step in generate(model, 6, input_ids=ids)]
    expected = model.generate(ids, max_new_tokens=6, do_sample=False, eos_token_id=None)[0, 5:]
    assert found == expected.tolist()


def test_each_step_s_attention_is_a_row_of_one_full_pass():
    model, ids = llama(), tokens(1, 5)
    steps = list(generate(model, 5, input_ids=ids))
    written = torch.tensor([[step.token for step in steps[:-1]]])
    whole = capture(model, input_ids=torch.cat([ids, written], 1))
    for number in range(2):
        full = whole.layers[number].weights()
        assert_close(steps[0].trace.layers[number].weights(), full[:, :, :5, :5], atol=1e-5, rtol=0)
        for n, step in enumerate(steps[1:], 5):
            assert_close(step.trace.layers[number].weights(), full[:, :, n : n + 1, : n + 1], atol=1e-5, rtol=0)
    assert_close(steps[-1].trace.logits, whole.logits, atol=1e-4, rtol=1e-4)


def test_steps_share_their_keys_and_values():
    steps = list(generate(llama(), 4, input_ids=tokens(1, 5)))
    assert len({step.trace.layers[0].k.untyped_storage().data_ptr() for step in steps}) == 1


def test_a_sliding_window_is_followed_too():
    torch.manual_seed(0)
    config = MistralConfig(
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=100,
        sliding_window=4,
        initializer_range=0.3,
    )
    model, ids = MistralForCausalLM(config).eval(), tokens(1, 6)
    steps = list(generate(model, 3, input_ids=ids))
    written = torch.tensor([[step.token for step in steps[:-1]]])
    full = capture(model, input_ids=torch.cat([ids, written], 1)).layers[0].weights()
    last = steps[-1].trace.layers[0].weights()
    assert_close(last, full[:, :, -1:, -last.shape[-1] :], atol=1e-5, rtol=0)


def test_a_translator_reads_its_source_once():
    torch.manual_seed(0)
    config = T5Config(vocab_size=100, d_model=32, d_kv=8, d_ff=32, num_layers=2, num_heads=4, decoder_start_token_id=0)
    model, ids = T5ForConditionalGeneration(config).eval(), tokens(1, 5)
    start = torch.zeros(1, 1, dtype=torch.long)
    steps = list(generate(model, 4, input_ids=ids, decoder_input_ids=start))
    kinds = [[(layer.stack, layer.kind) for layer in step.trace.layers] for step in steps]
    assert kinds[0].count(("encoder", "self")) == 2
    assert kinds[1].count(("encoder", "self")) == 0
    assert kinds[1].count(("decoder", "cross")) == 2
    written = torch.tensor([[0] + [step.token for step in steps[:-1]]])
    whole = capture(model, input_ids=ids, decoder_input_ids=written)
    assert_close(steps[-1].trace.logits, whole.logits, atol=1e-4, rtol=1e-4)
    assert_close(steps[-1].trace.layers[0].weights(), whole.layers[2].weights()[:, :, -1:], atol=1e-5, rtol=0)


def test_a_stop_token_ends_generation_and_a_seed_repeats_it():
    model, ids = llama(), tokens(1, 5)
    first = [step.token for step in generate(model, 6, choose=sampler(1.5, seed=3), input_ids=ids)]
    again = [step.token for step in generate(model, 6, choose=sampler(1.5, seed=3), input_ids=ids)]
    other = [step.token for step in generate(model, 6, choose=sampler(1.5, seed=4), input_ids=ids)]
    assert first == again != other
    cut = [step.token for step in generate(model, 6, choose=sampler(1.5, seed=3), stop={first[1]}, input_ids=ids)]
    assert cut == first[: first.index(first[1]) + 1]


def test_heads_stay_silenced_through_all_steps():
    edits = [Edit(layers=0, heads=2, silence=True)]
    steps = list(generate(llama(), 3, edits=edits, input_ids=tokens(1, 5)))
    assert all(step.trace.layers[0].silenced == {2} for step in steps)


@pytest.mark.parametrize(
    "inputs, sentence",
    [
        ({"input_ids": tokens(2, 5)}, "input_ids must hold one sentence"),
        ({"input_ids": tokens(1, 7), "attention_mask": padded("left", 1)}, "without padding"),
        ({}, "input_ids must hold one sentence"),
    ],
)
def test_invalid_prompts_are_refused_in_one_sentence(inputs, sentence):
    with pytest.raises(Problem, match=sentence):
        list(generate(llama(), 3, **inputs))


@pytest.mark.parametrize("edits", [[], [Edit(layers=0, heads=2, change=lambda q, k, v: (q, k, 2 * v))]])
def test_value_lengths_of_every_step_are_those_of_its_own_values(edits):
    """The cache's values are not measured again; against each step's values through the matrix."""
    model = llama()
    for step in generate(model, 4, input_ids=tokens(1, 5), edits=edits):
        for layer, block in zip(step.trace.layers, model.model.layers, strict=True):
            slices = block.self_attn.o_proj.weight.detach().unflatten(1, (6, 8))
            values = layer.v.repeat_interleave(6 // layer.v.shape[1], 1)
            assert_close(layer.value_norms(), torch.einsum("mhd,bhkd->bhkm", slices, values).norm(dim=-1))
