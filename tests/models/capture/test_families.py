"""Capture against the eager path of transformers, family by family, on tiny random models.

scripts/families.py makes the same comparison for all families and writes docs/library/families.md.
"""

import pytest
import torch
import transformers
from torch.testing import assert_close

from attnviz.base.message import Problem
from attnviz.models.capture import Edit, adopt, capture, intervene
from tests.models.capture.family_check import build, check, plain_of
from tests.models.capture.family_inputs import inputs_for, text
from tests.models.capture.tiny_config import changed, classes, tiny

#: the special features that families are tested for, as named by family_check.features
FEATURES = {
    "": "albert bert camembert deepseek_v2 deepseek_v3 distilbert electra gemma gpt2 gpt_neox llama olmo2 persimmon "
    "phi phi3 qwen2 qwen3 roberta stablelm gptj xlm",
    "cross": "bart blenderbot m2m_100 marian mbart nllb-moe",
    "pattern": "cohere2 gemma3_text mistral modernbert",
    "shared K/V": "glm4 gpt_bigcode mixtral smollm3 starcoder2",
    "own scale": "granite opt",
    "soft-cap, pattern": "gemma2",
    "sinks, pattern": "gpt_oss",
    "bias, cross, own scale": "t5",
    "bias, cross": "umt5",
    "bias": "bloom mpt",
}
EXACT = {name: {*each.split(", ")} - {""} for each, names in FEATURES.items() for name in names.split()}
VISION = ["swin", "whisper"]  # those of patches in one grid: tests/models/pictures/test_patch_grid.py
WEIGHTS_ONLY = ["xlnet", "deberta-v2"]


def small(name):
    model_class, config_class = classes(name)
    return model_class, tiny(config_class, **changed(name, config_class))


@pytest.mark.parametrize("side", ["right", pytest.param("left", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", EXACT)
def test_every_weight_is_that_of_the_eager_path(name, side):
    model_class, config = small(name)
    verdict = check(model_class, config, text(config, side=side))
    assert verdict.strange == []
    assert verdict.missing == verdict.reported == 0
    assert verdict.compared == verdict.exact >= 2
    assert EXACT[name] <= verdict.features


@pytest.mark.parametrize("name", VISION)
def test_pictures_and_sound_are_attended_to_as_the_eager_path_says(name):
    model_class, config = small(name)
    verdict = check(model_class, config, next(inputs_for(config, model_class)))
    assert verdict.good
    assert verdict.compared >= 2


@pytest.mark.parametrize("name", WEIGHTS_ONLY)
def test_families_with_attention_of_their_own_show_their_weights_and_refuse_edits(name):
    model_class, config = small(name)
    model, inputs = build(model_class, config), text(config)
    verdict = check(model_class, config, inputs)
    assert verdict.exact == 0
    assert verdict.reported == verdict.compared >= 2
    assert verdict.strange == []
    layer = capture(adopt(model), **inputs).layers[1]
    assert not layer.exact
    assert "shown" in str(layer.why)
    for refused in (
        lambda: layer.weights(scale=None),
        lambda: layer.weights(mask=None),
        lambda: layer.stages(0),
        lambda: layer.value_norms(),
        lambda: intervene(model, Edit(silence=True), **inputs),
    ):
        with pytest.raises(Problem):
            refused()


def test_an_unknown_attention_argument_makes_a_layer_inexact_and_never_wrong():
    """Inkling 2 has one sink per query instead of one per head."""
    model_class, config = small("inkling2_text")
    verdict = check(model_class, config, text(config))
    assert (verdict.exact, verdict.reported, verdict.strange) == (0, 2, [])
    model = build(model_class, config)
    layer = capture(model, **text(config)).layers[0]
    assert "sinks" in str(layer.why)
    with pytest.raises(Problem, match="cannot be changed"):
        intervene(model, Edit(heads=0, silence=True), **text(config))


@pytest.mark.parametrize("logits", ["last", "all", None])
def test_every_query_is_recorded_where_a_model_would_compute_only_the_last(logits):
    kinds = ["sliding_attention", "full_attention"] * 2
    config = tiny(transformers.Gemma4TextConfig, layers=4, num_kv_shared_layers=2, layer_types=kinds)
    model = build(transformers.Gemma4ForCausalLM, config)
    trace = capture(model, input_ids=text(config)["input_ids"], logits=logits)
    assert [layer.shape[2] for layer in trace.layers] == [10] * 4


@pytest.mark.parametrize("name", ["llama", "bert", "gpt_oss", "gemma2", "t5", "deepseek_v3", "nllb-moe"])
def test_recording_leaves_the_output_of_the_model_s_own_path_alone(name):
    """The reference is the eager path, because torch's fused attention ignores sinks."""
    model_class, config = small(name)
    model, inputs = build(model_class, config), text(config)
    before, plain = model.config._attn_implementation, plain_of(model, config)
    seen = []
    hook = model.register_forward_hook(lambda module, given, output: seen.append(output.last_hidden_state))
    capture(model, **inputs)
    hook.remove()
    with torch.no_grad():
        expected = plain(**inputs, use_cache=False).last_hidden_state
    real = inputs["attention_mask"].bool() if "decoder_input_ids" not in inputs else slice(None)
    assert_close(seen[0][real], expected[real], atol=1e-4, rtol=1e-4)
    assert model.config._attn_implementation == before


def test_uniform_attention_drops_position_bias_and_sinks():
    for name in ("t5", "gpt_oss", "llama", "bert"):
        model_class, config = small(name)
        trace = intervene(build(model_class, config), Edit(heads=1, uniform=True), **text(config))
        for layer in (layer for layer in trace.layers if layer.kind == "self"):
            seen = layer.mask.expand(layer.shape)[:, 1:2].float()
            assert_close(layer.weights(1), seen / seen.sum(-1, keepdim=True))
