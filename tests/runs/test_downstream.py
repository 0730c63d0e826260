"""What sharing does to the next token, against a model whose matrices were averaged and torch's own divergence."""

import pytest
import torch

from attnviz.models.loading import load, version
from attnviz.runs import head_sharing
from attnviz.runs.model_run import Request, run_model
from tests.models.tiny import llama
from tests.models.tiny_tokenizers import word_piece

TEXT = "the cat sat"


def averaged(model, kv_heads):
    """The same model with W_K and W_V averaged over each group in every layer, repeated for its heads."""
    for layer in model.model.layers:
        for projection in (layer.self_attn.k_proj, layer.self_attn.v_proj):
            weight = projection.weight.data.unflatten(0, (kv_heads, 6 // kv_heads, 8))
            projection.weight.data = weight.mean(1, keepdim=True).expand_as(weight).reshape(48, 48)
    return model


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mine")
    tokenizer = word_piece()
    llama(num_key_value_heads=6, head_dim=8, vocab_size=len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("kv_heads", [1, 3])
def test_the_divergence_is_that_of_the_shared_from_the_trained_and_not_the_other_way_round(saved, kv_heads):
    loaded = load(saved)
    run = run_model(Request(saved, TEXT, version=version(saved)), loaded)
    found = head_sharing.downstream(run, loaded, head_sharing.Config(0, kv_heads), "all")
    given = run.inputs_on(loaded.model.device)
    with torch.no_grad():
        trained = loaded.model(**given).logits[0, -1].double().log_softmax(-1)
        shared = averaged(load(saved).model, kv_heads)(**given).logits[0, -1].double().log_softmax(-1)
    kl = torch.nn.functional.kl_div(shared, trained, reduction="sum", log_target=True).item()  # KL(trained || shared)
    reverse = torch.nn.functional.kl_div(trained, shared, reduction="sum", log_target=True).item()
    assert found.divergence == pytest.approx(kl, rel=1e-3)
    assert abs(kl - reverse) > 0.05 * kl, "the two directions differ here, so this test tells them apart"
    assert found.guesses[0].before == pytest.approx(trained.exp().max().item(), rel=1e-4)


def test_as_many_heads_as_were_trained_diverge_by_nothing(saved):
    loaded = load(saved)
    run = run_model(Request(saved, TEXT, version=version(saved)), loaded)
    assert head_sharing.downstream(run, loaded, head_sharing.Config(0, 6), "all").divergence == pytest.approx(
        0, abs=1e-9
    )
