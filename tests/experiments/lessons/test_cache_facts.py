"""What the lesson on caches says of a model's size, against the model itself as transformers builds it."""

from __future__ import annotations

import torch
from transformers import AutoModelForCausalLM

from attnviz.experiments.lessons import cache_facts
from attnviz.models.architecture import Architecture


def test_the_number_of_weights_is_what_transformers_builds():
    config = Architecture.preset(cache_facts.MODEL).config
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    built = {id(p): p.numel() for p in model.parameters()}
    assert cache_facts.total_parameters() == sum(built.values())
