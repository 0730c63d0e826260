"""Models of several stacks of layers, and modules that run several times in a pass, against hooks and plain calls."""

import pytest
import torch
from torch.testing import assert_close
from transformers import (
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    SiglipConfig,
    SiglipModel,
)

from attnviz.base.message import Problem
from attnviz.models.capture import Edit, intervene
from attnviz.models.capture.run import capture
from tests.models.tiny import given_to, tokens, zeros

SMALL = {"hidden_size": 24, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 3}


def siglip():
    torch.manual_seed(0)
    text = SMALL | {"vocab_size": 50, "max_position_embeddings": 16, "projection_size": 24}
    config = SiglipConfig(text_config=text, vision_config=SMALL | {"image_size": 16, "patch_size": 8})
    given = {"input_ids": tokens(1, 16).remainder(50), "pixel_values": torch.randn(1, 3, 16, 16)}
    return SiglipModel(config).eval(), given


def qwen2_vl():
    """Two images, of 16 and 8 patches."""
    torch.manual_seed(0)
    rope = {"rope_type": "default", "mrope_section": [2, 2, 2], "rope_theta": 1e4}
    special = {f"{name}_token_id": 50 + n for n, name in enumerate(("image", "vision_start", "vision_end", "video"))}
    special |= {"bos_token_id": None, "eos_token_id": None}
    text = SMALL | {"num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 60, "rope_parameters": rope}
    vision = {"depth": 2, "embed_dim": 16, "hidden_size": 24, "num_heads": 2, "mlp_ratio": 2, "patch_size": 4}
    config = Qwen2VLConfig(text_config=text | special, vision_config=vision, **special)
    ids = torch.tensor([[1, 51, *[50] * 4, 52, 51, *[50] * 2, 52, 3, 4]])
    given = {
        "input_ids": ids,
        "pixel_values": torch.randn(24, 3 * 2 * 4 * 4),
        "image_grid_thw": torch.tensor([[1, 4, 4], [1, 2, 4]]),
        "mm_token_type_ids": (ids == 50).int(),
    }
    return Qwen2VLForConditionalGeneration(config).eval(), given


def zeroed(model, name, columns, inputs, rows=slice(None)):
    """The logits when a hook puts zeros into what an output projection is given."""
    with given_to(model, name, zeros(columns, rows)):
        return model(**inputs)


def test_each_tower_counts_its_own_layers_and_two_that_have_a_number_must_be_told_apart():
    model, inputs = siglip()
    layers = capture(model, **inputs).layers
    assert [(layer.tower, layer.index, layer.run) for layer in layers] == [
        (f"{tower}.encoder.layers", index, 0) for tower in ("vision_model", "text_model") for index in (0, 1)
    ]
    assert [layer.name for layer in layers] == [f"{layer.tower}.{layer.index}.self_attn" for layer in layers]
    assert len({layer.place for layer in layers}) == 4
    with pytest.raises(Problem, match=r"layer 1 is in text_model.encoder.layers, vision_model.encoder.layers"):
        intervene(model, Edit(layers=1, silence=True), **inputs)
    with pytest.raises(Problem, match="SiglipModel has no layer audio to change"):
        intervene(model, Edit(layers=["text_model", "audio"], silence=True), **inputs)


@pytest.mark.parametrize("tower", ["vision_model", "text_model"])
@pytest.mark.parametrize("by", ["tower", "name", "part of the name"])
def test_an_edit_reaches_the_tower_that_it_names(tower, by):
    model, inputs = siglip()
    name = f"{tower}.encoder.layers.1"
    where = {
        "tower": {"layers": 1, "tower": tower},
        "name": {"layers": f"{name}.self_attn"},
        "part of the name": {"layers": [name]},
    }[by]
    pooled = []
    hook = model.get_submodule(tower).register_forward_hook(lambda module, given, out: pooled.append(out[1]))
    trace = intervene(model, Edit(**where, heads=2, silence=True), **inputs)
    zeroed(model, f"{name}.self_attn.out_proj", slice(16, 24), inputs)
    hook.remove()
    assert [layer.name for layer in trace.layers if layer.silenced] == [f"{name}.self_attn"]
    assert_close(pooled[0], pooled[1], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("run, rows", [(None, slice(None)), (0, slice(0, 16)), (1, slice(16, 24))])
def test_an_edit_of_a_vision_layer_reaches_every_image_or_the_one_it_names(run, rows):
    model, inputs = qwen2_vl()
    edit = Edit(layers=1, tower="model.visual", heads=1, silence=True, run=run)
    trace = intervene(model, edit, **inputs, logits="all")
    expected = zeroed(model, "model.visual.blocks.1.attn.proj", slice(8, 16), inputs, rows)
    assert_close(trace.logits, expected.logits, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(trace.logits, capture(model, **inputs, logits="all").logits, atol=1e-5)
