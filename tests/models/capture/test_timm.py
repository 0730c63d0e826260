"""timm's models through the plain-torch capture: on their fused path, against the weights of their explicit one."""

import pytest
import torch
from torch.testing import assert_close

from attnviz.base.message import Problem
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


#: by hand on a processor: a model's name, its arguments, the size of a picture
BY_HAND = {
    "Swin": ("swin_tiny_patch4_window7_224", {"embed_dim": 12, "depths": (2, 1), "num_heads": (1, 2)}, 56),
    "Swin v2": ("swinv2_tiny_window8_256", {"embed_dim": 12, "depths": (2, 1), "num_heads": (1, 2)}, 64),
    "CaiT, whose heads are mixed after the softmax": ("cait_xxs24_224", {"embed_dim": 24, "depth": 2}, 64),
    "LeViT": ("levit_128s", {}, 224),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_weights_written_by_hand_are_those_that_reach_the_dropout_or_the_values(name):
    kind, more, size = BY_HAND[name]
    torch.manual_seed(0)
    given = {} if name == "LeViT" else {"img_size": size}
    model = timm().create_model(kind, pretrained=False, num_classes=5, **given, **more).eval()
    kept, hooks = [], []
    for module in model.modules():
        for part in ("attn_drop",) if hasattr(module, "attn_drop") else ():
            hooks.append(getattr(module, part).register_forward_hook(lambda m, given, out: kept.append(out)))
    with torch.no_grad():
        trace, answer = capture(model, torch.ones(1, 3, size, size), logits="all"), None
    for hook in hooks:
        hook.remove()
    with torch.no_grad():
        answer = model(torch.ones(1, 3, size, size))
    assert_close(trace.logits, answer)
    by_hand = [layer for layer in trace if not layer.exact]
    assert len(by_hand) >= 2
    if name != "LeViT":
        equal_weights(by_hand, kept[: len(by_hand)])
    for layer in by_hand:
        assert layer.weights().shape[-1] > 1


def test_attention_over_channels_is_refused():
    model = timm().create_model("xcit_nano_12_p16_224", pretrained=False, img_size=64).eval()
    with pytest.raises(Problem, match="attn attends over channels, not over positions"):
        capture(model, torch.zeros(1, 3, 64, 64))
