"""timm's models that write their attention by hand; those that call torch's are in tests/models/loading."""

import pytest
import torch
from torch.testing import assert_close

from attnviz.models.capture.run import capture
from tests.models.capture.timm_side import explicit, timm
from tests.models.tiny import equal_weights

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
    pixels = torch.ones(1, 3, size, size)
    trace = capture(model, pixels, logits="all")
    answer, kept = explicit(model, pixels)
    assert_close(trace.logits, answer)
    by_hand = [*trace][: len(kept)] if kept and "mixed" not in name else [layer for layer in trace if not layer.exact]
    assert len(by_hand) >= 2 or name == "LeViT"
    if name != "LeViT":
        equal_weights(by_hand, kept[: len(by_hand)])
    for layer in by_hand:
        assert layer.weights().shape[-1] > 1
