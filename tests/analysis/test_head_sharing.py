"""Keys and values shared after training, against a model whose weight matrices were averaged."""

import numpy as np
import pytest
import torch
from transformers import LlamaForCausalLM

from attnviz.analysis import head_sharing
from attnviz.analysis.head_sharing import Config, pool_heads, run
from attnviz.analysis.model_run import Request, run_model
from attnviz.models.capture import Edit, intervene
from attnviz.models.capture.run import capture
from tests.models import tiny
from tests.models.tiny_tokenizers import loaded, word_piece


@pytest.fixture(scope="module")
def llama():
    return tiny.llama(num_key_value_heads=6)


IDS = torch.arange(7)[None]


def converted(model, kv_heads, *layers):
    """The same model with W_K and W_V of these layers averaged over each group, repeated for its heads."""
    other = LlamaForCausalLM(model.config).eval()
    other.load_state_dict(model.state_dict())
    for attention in (other.model.layers[layer].self_attn for layer in layers):
        for projection in (attention.k_proj, attention.v_proj):
            weight = projection.weight.data.unflatten(0, (kv_heads, 6 // kv_heads, 8))  # (G, H/G, D, M)
            projection.weight.data = weight.mean(1, keepdim=True).expand_as(weight).reshape(48, 48)
    return other


@pytest.mark.parametrize("kv_heads", [1, 2, 3, 6])
def test_pooling_recorded_keys_equals_averaging_the_rows_of_the_matrices(llama, kv_heads):
    layer = capture(llama, input_ids=IDS).layers[1]
    expected = capture(converted(llama, kv_heads, 1), input_ids=IDS).layers[1]
    found = run(layer, Config(1, kv_heads))
    np.testing.assert_allclose(found.before, layer.weights()[0].detach().numpy(), atol=1e-5)
    np.testing.assert_allclose(found.after, expected.weights()[0].detach().numpy(), atol=1e-5)
    assert found.point.n_kv_heads == kv_heads


def test_the_layers_change_is_measured_behind_its_output_projection(llama):
    layer = head_sharing.add_output_projection(capture(llama, input_ids=IDS).layers[1], llama)
    found = run(layer, Config(1, 2))
    w_o = llama.model.layers[1].self_attn.o_proj.weight

    def output(weights, kv_heads):
        v = pool_heads(layer.v, kv_heads).repeat_interleave(6 // kv_heads, 1)
        return (torch.from_numpy(weights) @ v[0]).transpose(0, 1).flatten(1) @ w_o.T

    old, new = output(found.before, 6), output(found.after, 2)
    assert found.point.output_change == pytest.approx(((new - old).norm() / old.norm()).item(), rel=1e-4)
    apart = np.abs(found.after - found.before).sum(-1) / 2  # (H, Q); the first row has no choice, and counts
    np.testing.assert_allclose(found.weight_shifts, apart.mean(1), rtol=1e-4)


def test_savings_are_counted_exactly(llama):
    found = run(capture(llama, input_ids=IDS).layers[0], Config(0, 2))
    assert [point.n_kv_heads for point in found.sweep] == [6, 3, 2, 1]
    assert found.point.cache_bytes == 2 * (2 * 7 * 8) * 2
    assert found.point.parameters == 2 * 48 * 2 * 8
    assert found.kv_of() == (0, 0, 0, 1, 1, 1)


def test_a_grouped_layer_is_the_same_as_mha_with_each_head_copied():
    """Against transformers: a model whose config says MHA, and whose W_K and W_V repeat the rows of the grouped one."""
    grouped, full = tiny.llama(), tiny.llama(num_key_value_heads=6)
    weights = grouped.state_dict()
    for name in [name for name in weights if "k_proj" in name or "v_proj" in name]:
        weights[name] = weights[name].unflatten(0, (2, 8)).repeat_interleave(3, 0).flatten(0, 1)
    full.load_state_dict(weights)
    layer, copied = (capture(model, input_ids=IDS).layers[0] for model in (grouped, full))
    found, config = run(layer, Config(0, 6)), Config(0, 6)
    assert [point.n_kv_heads for point in found.sweep] == [6, 2, 1] == head_sharing.kv_head_choices(layer)
    assert run(layer, Config(0, 1)).kv_of() == (0,) * 6, "it is pooled further"
    np.testing.assert_allclose(found.after, copied.weights()[0].numpy(), atol=1e-6)
    assert found.point.output_change < 1e-6
    assert found.point.cache_bytes == 3 * found.trained.cache_bytes
    again = intervene(grouped, Edit(layers="all", change=head_sharing.pooling_change(config)), input_ids=IDS)
    np.testing.assert_allclose(again.logits.numpy(), full(IDS).logits.detach().numpy()[:, -1], atol=1e-5)


@pytest.mark.parametrize("kv_heads", [1, 3, 6])
def test_the_next_token_diverges_from_the_trained_one_and_not_the_other_way_round(kv_heads):
    """Against a model whose matrices were averaged, and torch's own divergence."""
    tokenizer = word_piece()
    model = tiny.llama(num_key_value_heads=6, vocab_size=len(tokenizer))
    averaged, reader = converted(model, kv_heads, 0, 1), loaded(tokenizer, model=model)
    run = run_model(Request("t", "the cat sat"), reader)
    found = head_sharing.rerun_with_sharing(run, reader, Config(0, kv_heads), "all")
    given, outputs = run.inputs_on(model.device), []
    with torch.no_grad():
        trained, shared = (each(**given).logits[0, -1].double().log_softmax(-1) for each in (model, averaged))
    kl = torch.nn.functional.kl_div(shared, trained, reduction="sum", log_target=True).item()  # KL(trained || shared)
    reverse = torch.nn.functional.kl_div(trained, shared, reduction="sum", log_target=True).item()
    assert found.divergence == pytest.approx(kl, rel=1e-3, abs=1e-9)
    assert kv_heads == 6 or abs(kl - reverse) > 0.05 * kl, "the two directions differ: this test tells them apart"
    for each in (model, averaged):
        with tiny.given_to(each, "model.layers.1.self_attn.o_proj", outputs.append, answers=True):
            each(**given)
    change = ((outputs[1] - outputs[0]).norm() / outputs[0].norm()).item()
    assert found.last_output_change == pytest.approx(change, rel=1e-3, abs=1e-6)
    assert found.guesses[0].before == pytest.approx(trained.exp().max().item(), rel=1e-4)
