"""What the lesson on caches says of a model's size, against the model itself as transformers builds it."""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoModelForCausalLM

from attnviz.models.architecture import Architecture, Deployment, ParameterCounts, gpus, size_deployment
from attnviz.pages.lessons.maths import cache_facts

ANY: Any = None  #: a subject that the facts do not look at


def test_the_number_of_weights_is_what_transformers_builds():
    config = Architecture.preset(cache_facts.MODEL).config
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    built = {id(p): p.numel() for p in model.parameters()}
    assert cache_facts.total_parameters() == sum(built.values())


def test_as_many_texts_fit_as_the_page_about_sharing_says():
    values = cache_facts.room(ANY).values
    arch, config = Architecture.preset(cache_facts.MODEL), Architecture.preset(cache_facts.MODEL).config
    memory = gpus()[cache_facts.GPU].machine.memory
    counts = ParameterCounts(*[cache_facts.total_parameters()] * 3)
    size = size_deployment(arch, counts, Deployment(cache_facts.TOKENS), gpus()[cache_facts.GPU].machine)
    assert values["gqa"] == size.largest_batch
    free = memory - 2 * cache_facts.total_parameters()
    for name, kv_heads in (("mha", config.num_attention_heads), ("mqa", 1)):
        text = 2 * config.num_hidden_layers * kv_heads * 128 * 2 * cache_facts.TOKENS  # keys and values, 2 bytes each
        assert values[name] == free // text
