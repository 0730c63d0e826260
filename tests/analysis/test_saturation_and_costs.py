"""`av.saturation` against a softmax written here, and `av.costs` against counts of a built model's tensors."""

import pytest
import torch
from torch.testing import assert_close

import attnviz as av
from attnviz.analysis.saturation import draw
from tests.models.tiny import llama, tokens


@pytest.mark.parametrize("scale, factor", [(None, 1.0), ("sqrt", 1 / 8), (0.5, 0.5)])
def test_saturation_is_that_of_a_softmax_over_random_vectors(scale: object, factor: float) -> None:
    found = av.saturation(d_k=[16, 64], scale=scale, n_keys=12, seed=3)  # type: ignore[arg-type]
    vectors = draw(12, 3)
    scores = vectors.q[..., :64] @ vectors.k[..., :64].mT * factor
    weights = scores.softmax(-1)
    assert_close(found.mean["largest"][1], weights.amax(-1).mean())
    assert_close(found.mean["entropy"][1], -torch.xlogy(weights, weights).sum(-1).mean())
    assert_close(found.variance[1], scores.var())
    assert list(found.to_dataframe().d_k) == [16, 64]
    assert len(found.plot().data) == 5
    assert len(repr(found).splitlines()) == 3


def test_costs_are_those_of_the_model_that_runs() -> None:
    model = llama()
    found = av.costs(model, tokens=7, batch=2, dtype="float32")
    attention = [p.numel() for name, p in model.named_parameters() if "self_attn" in name]
    assert found.parameters.total == sum(attention)
    cache = model(tokens(), use_cache=True).past_key_values
    stored = [layer.keys.nbytes + layer.values.nbytes for layer in cache.layers]
    assert found.cache_bytes_by_layer["transformers"] == stored
    assert list(found.to_dataframe().cache_transformers) == stored
    assert len(found.plot().data) == 3
    for known in (model.config, model.config.to_dict()):
        assert av.costs(known, 7, 2, "float32").cache_bytes == found.cache_bytes


def test_a_model_shared_otherwise_costs_what_its_config_would() -> None:
    found = av.costs(llama(), tokens=7)
    for scheme, heads in (("MHA", 6), ("MQA", 1), ("GQA", 3)):
        other = found.as_(scheme, heads if scheme == "GQA" else None)
        built = av.costs(llama(num_key_value_heads=heads), tokens=7)
        assert (other.cache_bytes, other.parameters.total) == (built.cache_bytes, built.parameters.total)
        assert other.decode_flops == built.decode_flops
    assert found.as_("MLA").cache_bytes["ideal"] == 2 * 7 * (512 + 64) * 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: av.saturation([1.5]),  # type: ignore[list-item]
        lambda: av.costs(torch.nn.Linear(2, 2)),
        lambda: av.costs("no-such-model"),
        lambda: av.costs(llama(), dtype="float3"),
        lambda: av.costs(llama()).as_("GPA"),
        lambda: av.costs(llama()).as_("MQA", 2),
    ],
)
def test_nonsense_is_answered_in_a_sentence(wrong: object) -> None:
    with pytest.raises(av.Problem):
        wrong()  # type: ignore[operator]
