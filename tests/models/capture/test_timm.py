"""timm's models through the plain-torch capture: on their fused path, against the weights of their explicit one."""

import pytest
import torch
from torch.testing import assert_close

from attnviz.models.capture.run import capture
from tests.models.capture.timm_side import timm
from tests.models.tiny import equal_weights

SMALL = {"img_size": 32, "patch_size": 8, "embed_dim": 24, "depth": 2, "num_heads": 3, "num_classes": 5}

#: a model's name, and more of its arguments
MODELS = {
    "ViT": ("vit_tiny_patch16_224", {}),
    "ViT with q and k normalised": ("vit_tiny_patch16_224", {"qk_norm": True}),
    "DeiT with a distillation token": ("deit_tiny_distilled_patch16_224", {}),
    "DINOv2's shape with registers": ("vit_small_patch14_reg4_dinov2", {"init_values": 0.5}),
    "EVA-02, rotated in two axes": ("eva02_tiny_patch14_224", {}),
}


def tiny(name):
    kind, more = MODELS[name]
    torch.manual_seed(0)
    model = timm().create_model(kind, pretrained=False, **SMALL | more).eval()
    with torch.no_grad():  # weights as large as trained ones
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.4)
    return model


def explicit(model, pixels):
    """The weights of every layer as timm's own explicit path hands them to its dropout."""
    kept = []
    for block in model.blocks:
        block.attn.fused_attn = False
    hooks = [
        block.attn.attn_drop.register_forward_hook(lambda m, given, out: kept.append(out)) for block in model.blocks
    ]
    with torch.no_grad():
        answer = model(pixels)
    for hook in hooks:
        hook.remove()
    return answer, kept


@pytest.mark.parametrize("name", MODELS)
def test_a_timm_model_s_weights_are_those_of_its_explicit_path(name):
    model, pixels = tiny(name), torch.randn(2, 3, 32, 32)
    trace = capture(model, pixels, logits="all")
    answer, expected = explicit(model, pixels)
    assert len(trace.layers) == len(expected) == 2
    assert all(layer.exact for layer in trace.layers)
    equal_weights(trace.layers, expected)
    assert_close(trace.logits, answer, atol=1e-4, rtol=1e-4)


def test_another_scale_is_tried_on_a_timm_layer():
    layer = capture(tiny("ViT"), torch.randn(1, 3, 32, 32)).layers[0]
    sharper = layer.weights(scale=4 * layer.scale)
    scores = layer.stages(1).scaled
    assert_close(sharper[:, 1:2], (4 * scores).softmax(-1), atol=1e-5, rtol=0)
