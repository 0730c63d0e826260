"""What each row says of a family is what transformers' own code does with the configs of its models."""

import re

import pytest
import torch
from transformers import AutoConfig, AutoModel

from attnviz.models.architecture import all_presets
from attnviz.models.capture import capture
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


SIZES = {
    "vocab_size": 99,
    "hidden_size": 48,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 8,
}


def scale_of(model_type, **fields):
    model = AutoModel.from_config(AutoConfig.for_model(model_type, **SIZES | fields)).eval()
    ids = torch.arange(5, 12)[None]
    more = {"decoder_input_ids": ids} if model.config.is_encoder_decoder else {}
    return capture(model, input_ids=ids, logits=None, **more).layers[0].scale


@pytest.mark.parametrize("model_type", ["gpt2", "bert", "llama", "mistral", "qwen2", "qwen3", "olmo2", "gpt_oss"])
def test_most_divide_by_the_square_root_of_the_heads_width(model_type):
    names = {"gpt2": {"n_embd": 48, "n_head": 6, "n_layer": 1}}.get(model_type, {})
    experts = {"num_local_experts": 2, "num_experts_per_tok": 1} if model_type == "gpt_oss" else {}
    assert scale_of(model_type, **names, **experts) == pytest.approx(8**-0.5)


def test_who_normalises_each_head_and_who_the_full_width():
    each = attentions(on_meta("qwen3", **SIZES))[0]
    whole = attentions(on_meta("olmo2", **SIZES))[0]
    assert each.q_norm.weight.shape == (8,)
    assert whole.q_norm.weight.shape == (48,)
    assert attentions(on_meta("gemma3_text", **SIZES))[0].q_norm.weight.shape == (8,)


def test_gemma_2_caps_at_the_number_in_its_row_and_gemma_3_at_none():
    assert the_row("Gemma 2").startswith(f"{AutoConfig.for_model('gemma2').attn_logit_softcapping:g} tanh")
    assert AutoConfig.for_model("gemma3_text").attn_logit_softcapping is None


def test_swin_2_starts_at_10_and_stops_at_100():
    model = AutoModel.from_config(AutoConfig.for_model("swinv2", embed_dim=12, depths=[1], num_heads=[3]))
    scales = [parameter for name, parameter in model.named_parameters() if name.endswith("logit_scale")]
    assert scales[0].exp().flatten().tolist() == pytest.approx([10] * 3)
