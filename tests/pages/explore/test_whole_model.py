"""Every parameter stands in one part: sums against numel, parts against formulas; every head is swept in its order."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import AlbertConfig, AlbertModel, MixtralConfig, MixtralForCausalLM

from attnviz.analysis.model_run import ModelRun, Request, run_model
from attnviz.models.capture import capture
from attnviz.pages.explore.maths import whole_model
from tests.models.tiny import bert, llama, t5


def parts_of(model: Any, **more: Any) -> dict[str, whole_model.ModelParts]:
    """The parts of each stack of a tiny model; tokens play no role here."""
    ids = torch.arange(5)[None]
    tokens: Any = object()
    trace = capture(model.eval(), input_ids=ids, **more)
    run = ModelRun(Request("", ""), "", trace, tokens, tokens if more else None)
    return {stack.id: whole_model.count_parts(model, stack) for stack in run.stacks}


def whole(parts: whole_model.ModelParts) -> int:
    named = (parts.embedding, parts.final_layers, parts.lm_head, parts.other_stack)
    return sum(part.parameters for part in named) + in_blocks(parts)


def in_blocks(parts: whole_model.ModelParts) -> int:
    return sum(size.parameters for block in parts.blocks for size in block.values())


def test_smollm2_is_what_its_config_says(smollm2: Any) -> None:
    run = run_model(Request("smollm2-135m", "The cat sat."), smollm2)
    parts = whole_model.count_parts(smollm2.model, run.stacks[0])
    m, h, g, d, f, v, layers = 576, 9, 3, 64, 1536, 49152, 30
    assert parts.total == sum(p.numel() for p in smollm2.model.parameters()) == whole(parts)
    assert parts.embedding.parameters == v * m
    assert len(parts.blocks) == layers
    for block in parts.blocks:
        assert block["attention"].parameters == 2 * m * h * d + 2 * m * g * d
        assert block["mlp"].parameters == 3 * m * f
        assert block["norms"].parameters == 2 * m
    assert dict(parts.blocks[13]["attention"].matrices) == {
        "q_proj": (576, 576),
        "k_proj": (192, 576),
        "v_proj": (192, 576),
        "o_proj": (576, 576),
    }
    assert parts.final_layers.parameters == m
    assert (parts.is_tied, parts.has_lm_head, parts.lm_head.parameters) == (True, True, 0)
    assert parts.block_index(29, 30) == 29
    assert parts.width == m


SMALL: dict[str, Any] = {"vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
FAMILIES = {
    "llama": llama,
    "bert": bert,
    "albert": lambda: AlbertModel(AlbertConfig(**SMALL, intermediate_size=24, embedding_size=8)),
    "mixtral": lambda: MixtralForCausalLM(
        MixtralConfig(**SMALL, intermediate_size=24, num_local_experts=3, num_key_value_heads=1)
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_all_families_add_up_and_no_block_lacks_a_part(family: str) -> None:
    model = FAMILIES[family]()
    (parts,) = parts_of(model).values()
    assert whole(parts) == parts.total == sum(p.numel() for p in model.parameters())
    once = family == "albert"  # whose layers share one block
    assert len(parts.blocks) == (1 if once else 2)
    assert [parts.block_index(layer, 2) for layer in range(2)] == ([0, 0] if once else [0, 1])
    for block in parts.blocks:
        assert all(block[role].parameters for role in ("attention", "mlp", "norms"))
    assert parts.other_stack.parameters == 0
    assert parts.has_lm_head == (not once)


def test_an_encoder_decoder_has_two_stacks_and_each_counts_the_other_elsewhere() -> None:
    model = t5(num_decoder_layers=3)
    found = parts_of(model, decoder_input_ids=torch.arange(4)[None])
    assert {name: len(parts.blocks) for name, parts in found.items()} == {"encoder": 2, "decoder": 3, "cross": 3}
    for parts in found.values():
        assert whole(parts) == parts.total == sum(p.numel() for p in model.parameters())
    assert found["decoder"].other_stack.parameters == in_blocks(found["encoder"])


def test_layers_swept_at_the_same_time_come_in_their_order_and_as_they_come_alone(decoded):
    stack = decoded.stacks[0]
    together = list(whole_model.sweep_model(stack))
    alone = [whole_model.sweep_one_layer(stack, index, None) for index in range(len(stack.layers))]
    assert len(together) == len(alone) == 30
    assert all(np.array_equal(one.largest, other.largest) for one, other in zip(together, alone, strict=True))
    assert len({one.largest.tobytes() for one in alone}) == 30  # no two layers look alike: an order can be seen
