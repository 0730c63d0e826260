"""What each row says of a family is what transformers' own code does with the configs of its models."""

import re

import pytest
import torch
from transformers import AutoConfig, AutoModel

from attnviz.models.architecture import all_presets
from attnviz.pages.scaling.maths.alternatives import FAMILIES

HOW = {family.models: family.how for family in FAMILIES}


def the_row(start):
    return next(how for models, how in HOW.items() if models.startswith(start))


def on_meta(model_type, **fields):
    """transformers' own model of one layer, without memory."""
    with torch.device("meta"):
        return AutoModel.from_config(AutoConfig.for_model(model_type, **fields))


def attentions(model):
    return [each for each in model.modules() if type(each).__name__.endswith(("Attention", "SelfAttention"))]


ROWS = {"gemma2": "Gemma 2", "gemma3_text": "Gemma 3"}


@pytest.mark.parametrize("name", [name for name, preset in all_presets().items() if preset.model_type in ROWS])
def test_gemma_divides_by_what_its_row_says(name):
    preset = all_presets()[name]
    layer = attentions(on_meta(preset.model_type, **preset.config | {"num_hidden_layers": 1}))[0]
    usual, large, large_d_k = map(int, re.findall(r"= (\d+)", the_row(ROWS[preset.model_type])))
    if name.endswith("27b"):
        assert large == preset.config["hidden_size"] / preset.config["num_attention_heads"]
        assert (layer.scaling**-2, layer.head_dim) == pytest.approx((large, large_d_k))
    else:
        assert (layer.scaling**-2, layer.head_dim) == pytest.approx((usual, usual))


@pytest.mark.parametrize("model_type, width", [("qwen3", 8), ("gemma3_text", 8), ("olmo2", 48)])
def test_who_normalises_each_head_and_who_the_full_width(model_type, width):
    sizes = {"vocab_size": 99, "hidden_size": 48, "intermediate_size": 32, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 8}
    assert attentions(on_meta(model_type, **sizes, **heads))[0].q_norm.weight.shape == (width,)


def test_gemma_2_caps_at_the_number_in_its_row_and_gemma_3_at_none():
    assert the_row("Gemma 2").startswith(f"{AutoConfig.for_model('gemma2').attn_logit_softcapping:g} tanh")
    assert AutoConfig.for_model("gemma3_text").attn_logit_softcapping is None


def test_swin_2_starts_at_10_and_stops_at_100():
    model = AutoModel.from_config(AutoConfig.for_model("swinv2", embed_dim=12, depths=[1], num_heads=[3]))
    scales = [parameter for name, parameter in model.named_parameters() if name.endswith("logit_scale")]
    assert scales[0].exp().flatten().tolist() == pytest.approx([10] * 3)
