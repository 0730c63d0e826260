"""CLIP and SigLIP, tiny and random: both towers and what they say of a picture, against transformers' eager path."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close
from transformers import CLIPConfig, CLIPModel, SiglipConfig, SiglipModel

from attnviz.pages.pictures.maths.picture_record import HeadChange
from attnviz.pages.pictures.maths.picture_run import rerun, run_picture
from tests.models.tiny import eager
from tests.models.tiny_tokenizers import byte_level, loaded

SIZES = {"hidden_size": 24, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}
TEXT = SIZES | {"vocab_size": 330, "max_position_embeddings": 32, "bos_token_id": 0, "eos_token_id": 0}
EYES = SIZES | {"image_size": 32, "patch_size": 8}
NAMES = "the cat, one two three,the mat"


def tiny(name):
    torch.manual_seed(0)
    if name == "clip":
        model = CLIPModel(CLIPConfig(text_config=TEXT, vision_config=EYES, projection_dim=16))
    else:
        model = SiglipModel(SiglipConfig(text_config=TEXT | {"projection_size": 24}, vision_config=EYES))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.4)
    return loaded(byte_level(), model=model.eval())


def picture():
    return np.random.default_rng(0).integers(0, 256, (32, 40, 3), np.uint8)


@pytest.mark.parametrize("name", ["clip", "siglip"])
def test_both_towers_and_the_best_description_are_eagers_and_hidden_patches_are_seen_in_no_layer(name):
    model = tiny(name)
    run = run_picture(model, picture(), NAMES)
    (stack,) = run.stacks
    assert run.texts is not None
    assert run.texts.names == ("the cat", "one two three", "the mat")
    assert (stack.grid.rows, stack.grid.columns, stack.grid.has_class) == (4, 4, name == "clip")
    found = eager(model.model, **run.inputs)
    for layers, output in ((stack.layers, found.vision_model_output), (run.texts.layers, found.text_model_output)):
        assert len(layers) == len(output.attentions) == 2
        for layer, weights in zip(layers, output.attentions, strict=True):
            assert layer.exact
            kept = weights.sum(-1) > 0.5
            assert_close(layer.weights()[kept], weights[kept], atol=1e-5, rtol=0)
    fits = found.logits_per_image[0]
    shares = fits.softmax(-1) if name == "clip" else fits.sigmoid()
    assert run.answer.text == run.texts.names[int(fits.argmax())]
    assert run.answer.share == pytest.approx(float(shares.max()), abs=1e-5)
    assert dict(run.answer.others) == pytest.approx(dict(zip(run.texts.names, shares.tolist(), strict=True)), abs=1e-5)
    answer, trace = rerun(model, run, HeadChange(hidden=(0, 1, 2, 3)))
    first = stack.grid.first
    for layer in trace.layers:
        if layer.tower.startswith("vision"):
            assert float(layer.weights()[..., first : first + 4].max()) == 0
        else:
            own = next(each for each in run.trace.layers if each.place == layer.place)
            assert_close(layer.weights(), own.weights())
    assert answer.share != pytest.approx(run.answer.share, abs=1e-7)
