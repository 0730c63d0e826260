from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.core.costs import Machine
from attnviz.models.architecture import meta_device
from attnviz.models.architecture.architecture import Architecture, CustomShape
from attnviz.models.architecture.deployment import FARTHEST, Deployment, size_deployment
from attnviz.models.architecture.presets import find_preset, gpus
from attnviz.models.architecture.ways import with_kv_heads

A100 = gpus()["a100-80gb"].machine
NAMES = ["llama-3.1-8b", "gemma-3-27b", "deepseek-v3", "gpt-oss-120b", "jamba-v0.1", "qwen3-next-80b-a3b"]


def sized(name, how, machine=A100):
    preset = find_preset(name)
    return size_deployment(Architecture.preset(name), preset.counts, how, machine)


@given(
    st.sampled_from(NAMES), st.integers(1, 200_000), st.integers(1, 64), st.sampled_from(["bfloat16", "int4", "q8_0"]),
    st.sampled_from(["ideal", "transformers", "paged"]),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_the_longest_context_and_the_largest_batch_fit_and_one_more_does_not(name, context, batch, dtype, convention):
    big = Machine(A100.peak, A100.bandwidth, 2000 * 2**30)
    how = Deployment(context, batch, cache_dtype=dtype, convention=convention)
    found = sized(name, how, big)
    longest = found.longest_context
    assert found.fits == (context <= longest)
    if 0 < longest < FARTHEST:
        assert sized(name, replace(how, context=longest), big).fits
        assert not sized(name, replace(how, context=longest + 1), big).fits
    if found.largest_batch:
        assert sized(name, replace(how, batch=found.largest_batch), big).fits
    assert not sized(name, replace(how, batch=found.largest_batch + 1), big).fits


def routed(experts, chosen, batch, draws=500):
    """Experts that a batch goes through, where each token draws its own: the mean of many draws."""
    order = torch.rand(draws, batch, experts, generator=torch.Generator().manual_seed(0)).argsort(-1)
    taken = torch.zeros(draws, experts, dtype=torch.bool).scatter(1, order[..., :chosen].flatten(1), True)
    return float(taken.sum(1).float().mean())


@pytest.mark.parametrize("name, experts, chosen", [("deepseek-v3", 256, 8), ("gpt-oss-120b", 128, 4)])
@pytest.mark.parametrize("batch", [1, 2, 5, 64])
def test_a_step_reads_the_experts_that_a_batch_goes_through(name, experts, chosen, batch):
    """Not all of them as soon as there is a second sequence."""
    counts, step = find_preset(name).counts, sized(name, Deployment(batch=batch)).step
    cache = Architecture.preset(name).kv_cache_bytes(8192, batch)
    read = (step.memory_seconds * A100.bandwidth - cache) / 2
    rest = counts.active - (counts.read - counts.active) * chosen / (experts - chosen)  # read whatever is routed
    share = (read - rest) / (counts.read - rest)
    assert share * experts == pytest.approx(routed(experts, chosen, batch), rel=0.01)


SMALL = CustomShape(n_layers=2, d_model=96, n_heads=6, n_kv_heads=2, d_head=20, d_ff=50, vocab=30)


@pytest.mark.parametrize(
    "shape",
    [
        SMALL,
        replace(SMALL, window=5),
        replace(SMALL, scheme="latent", kv_rank=24),
        replace(SMALL, scheme="latent", q_rank=12),
    ],
)  # fmt: skip
def test_the_visitors_own_shape_has_the_parameters_and_cache_of_a_real_model(shape):
    arch = shape.architecture()
    found = meta_device.measure_on_meta(arch.config, 9)
    assert found.failure is None
    assert found.total_parameters == shape.counts.total
    assert found.attention_parameters == arch.attention_parameters()
    assert found.cache_bytes == arch.kv_cache_bytes(9, convention="transformers")


@pytest.mark.parametrize("name", ["llama-3.1-8b", "gpt-oss-120b", "qwen2.5-7b", "gemma-3-27b"])
def test_changing_the_number_of_kv_heads_equals_a_config_with_that_number(name):
    arch = Architecture.preset(name)
    preset = find_preset(name)
    kv_heads = 2 if name == "qwen2.5-7b" else 1
    expected = Architecture.from_config(
        {"model_type": preset.model_type, **preset.config, "num_key_value_heads": kv_heads}
    )
    found = with_kv_heads(arch, kv_heads)
    assert found.attention_parameters() == expected.attention_parameters()
    assert found.kv_cache_bytes(5000) == expected.kv_cache_bytes(5000)
