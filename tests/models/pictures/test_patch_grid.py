"""Picture models of every family that is promised: which token is which patch, and weights against the eager path."""

import numpy as np
import pytest
import torch
import transformers
from torch.testing import assert_close

from attnviz.models.catalogue import LoadedModel, ModelEntry
from attnviz.models.pictures import find_grid, split_into_patches
from attnviz.pages.pictures.maths.picture_run import run_picture
from tests.models.tiny import eager, equal_weights

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
PIXELS = {"image_size": 32, "patch_size": 8}

#: model class, config class, more of the config, tokens before the patches
FAMILIES = {
    "vit": ("ViTForImageClassification", "ViTConfig", {}, ["class token"]),
    "deit": ("DeiTModel", "DeiTConfig", {}, ["class token", "distillation token"]),
    "dinov2": ("Dinov2Model", "Dinov2Config", {}, ["class token"]),
    "dinov2 with registers": (
        "Dinov2WithRegistersModel",
        "Dinov2WithRegistersConfig",
        {"num_register_tokens": 3},
        ["class token", "register 1", "register 2", "register 3"],
    ),
    "dinov3": (
        "DINOv3ViTModel",
        "DINOv3ViTConfig",
        {"num_register_tokens": 2},
        ["class token", "register 1", "register 2"],
    ),
    "beit": ("BeitModel", "BeitConfig", {}, ["class token"]),
    "clip's pictures": ("CLIPVisionModel", "CLIPVisionConfig", {}, ["class token"]),
    "siglip's pictures": ("SiglipVisionModel", "SiglipVisionConfig", {}, []),
}


def tiny(name):
    model, config, more, _special = FAMILIES[name]
    torch.manual_seed(0)
    made = getattr(transformers, model)(getattr(transformers, config)(**SMALL | PIXELS | more)).eval()
    with torch.no_grad():  # weights as large as trained ones: at first all rows are nearly alike
        for parameter in made.parameters():
            if parameter.dim() > 1:
                parameter.mul_(4)
    return LoadedModel(made, None, ModelEntry(id=name, name=name, hub=None), "folder")


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_s_patches_are_found_and_its_weights_are_those_of_the_eager_path(name):
    loaded = tiny(name)
    pixels = np.random.default_rng(0).integers(0, 256, (40, 50, 3), np.uint8)
    run = run_picture(loaded, pixels)
    (stack,) = run.stacks
    assert (stack.grid.rows, stack.grid.columns) == (4, 4)
    assert [str(each) for each in stack.grid.special] == FAMILIES[name][3]
    found = eager(loaded.model, **run.inputs).attentions
    assert len(found) == len(stack.layers) == 2
    assert all(layer.exact for layer in stack.layers)
    equal_weights(stack.layers, found)


def test_the_token_of_a_patch_is_the_one_that_the_patch_changes():
    loaded = tiny("dinov3")
    pixels = torch.zeros(1, 3, 32, 32)
    embedded = loaded.model.embeddings(pixels)
    pixels[0, :, 8:16, 24:32] = 1  # second row, last column
    moved = (loaded.model.embeddings(pixels) - embedded).abs().sum(-1)[0].nonzero()[:, 0].tolist()
    grid = find_grid(loaded.model, 32, 32, embedded.shape[1])
    assert [grid.at(token) for token in moved] == [(1, 3)]
    loaded.model.config.patch_size = [8, 16]  # of patches that are wider than high
    wide = find_grid(loaded.model, 32, 32, embedded.shape[1])
    assert (wide.rows, wide.columns) == (4, 2)


@pytest.mark.parametrize("shape, side", [((8, 8), 2), ((4, 8, 14), 2), ((2, 3, 12, 6), 3)])
def test_pixels_of_patches_are_those_that_torch_unfolds(shape, side):
    pictures = np.random.default_rng(0).integers(0, 17, shape)
    expected = torch.from_numpy(pictures).unfold(-2, side, side).unfold(-2, side, side).flatten(-2).flatten(-3, -2)
    assert_close(torch.from_numpy(split_into_patches(pictures, side)), expected, rtol=0, atol=0)
