"""Folders that timm saved, opened as models of pictures: weights, answers and hidden patches by timm's own path."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch.testing import assert_close

from attnviz.base.message import Problem
from attnviz.models.loading import load
from attnviz.pages.pictures.maths.picture_record import HeadChange
from attnviz.pages.pictures.maths.picture_run import rerun, run_picture
from tests.models.capture.timm_side import MODELS, SMALL, explicit, timm, tiny
from tests.models.tiny import equal_weights

SPECIAL = {
    "DeiT with a distillation token": ["class token", "distillation token"],
    "DINOv2's shape with registers": ["class token", *(f"register {number}" for number in range(1, 5))],
}
MEAN, SPREAD = [0.4, 0.5, 0.6], [0.2, 0.3, 0.4]
LABELS = ["cat", "dog", "fox", "owl", "bee"]


def save(model, folder, name="ViT", **more):
    """Write a model as timm's hub has them: weights and a config with the architecture's name."""
    kind, shape = MODELS[name]
    save_file({key: each.contiguous() for key, each in model.state_dict().items()}, folder / "model.safetensors")
    config = {"architecture": kind, "num_classes": 5, "model_args": SMALL | shape, "label_names": LABELS}
    config |= {"pretrained_cfg": {"mean": MEAN, "std": SPREAD, "crop_pct": 0.5}}
    (folder / "config.json").write_text(json.dumps(config | more))
    return str(folder)


@pytest.fixture(autouse=True)
def importable():
    """timm can be imported, with names in place of torchvision's where that is missing."""
    timm()


def pixels():
    return np.random.default_rng(0).integers(0, 256, (64, 80, 3), np.uint8)


@pytest.mark.parametrize("name", MODELS)
def test_a_folder_of_timm_s_has_the_weights_of_its_explicit_path_and_patches_are_hidden_in_every_layer(name, tmp_path):
    """Hidden: weights of hidden keys are taken away, and the others made to sum to 1."""
    model = tiny(name)
    loaded = load(save(model, tmp_path, name))
    assert loaded.entry.kind == "pictures"
    run = run_picture(loaded, pixels())
    (stack,) = run.stacks
    assert (stack.grid.rows, stack.grid.columns) == (4, 4)
    assert [str(each) for each in stack.grid.special] == SPECIAL.get(name, ["class token"])
    answer, weights = explicit(model, run.inputs["pixel_values"])
    assert all(layer.exact for layer in stack.layers)
    equal_weights(stack.layers, weights)
    shares = answer[0].softmax(-1)
    assert run.answer.tokens == (LABELS[int(shares.argmax())],)
    assert run.answer.share == pytest.approx(float(shares.max()), abs=1e-5)

    hidden = torch.tensor([1, 5, 6, 10])

    def blind(_module, _given, weights):
        left = weights.index_fill(-1, hidden + stack.grid.first, 0.0)
        return left / left.sum(-1, keepdim=True)

    for block in model.blocks:
        block.attn.attn_drop.register_forward_hook(blind)
    shares = explicit(model, run.inputs["pixel_values"])[0][0].softmax(-1)
    answer, trace = rerun(loaded, run, HeadChange(hidden=tuple(hidden.tolist())))
    assert answer.share == pytest.approx(float(shares.max()), abs=1e-4)
    assert answer.tokens == (LABELS[int(shares.argmax())],)
    assert all(float(each.weights()[..., hidden + stack.grid.first].max()) == 0 for each in trace.layers)


def test_the_picture_is_cut_and_scaled_as_timm_s_config_says(tmp_path):
    run = run_picture(load(save(tiny("ViT"), tmp_path)), pixels())
    middle = pixels()[16:48, 24:56]  # half of the shorter side, and no pixel changes its size
    expected = (torch.from_numpy(middle / 255).movedim(-1, 0) - torch.tensor(MEAN)[:, None, None]) / torch.tensor(
        SPREAD
    )[:, None, None]
    assert_close(run.inputs["pixel_values"][0], expected.float(), atol=1e-5, rtol=0)
    np.testing.assert_array_equal(run.prepared.pixels, middle)
    assert run.notices == ()


@pytest.mark.parametrize(
    "more, sentence",
    [
        ({"architecture": "no_such_model"}, r"of a kind \(no_such_model\) that timm does not have"),
        ({"architecture": "hf-hub:somebody/something"}, "that timm does not have"),
        ({"architecture": "resnet18", "model_args": {}}, "no layer whose tokens are patches of the whole picture"),
        ({"model_args": SMALL | {"depth": 3}}, "weights that the config of .* asks for are not in its files: blocks.2"),
        ({"model_args": SMALL | {"embed_dim": 48}}, "another shape in the files than in the config"),
        ({"model_args": SMALL | {"depth": 100_000}}, "asks for model_args.depth=100000; at most 1024"),
        ({"model_args": SMALL | {"num_heads": 5}}, "describes no model"),
    ],
)
def test_what_cannot_be_opened_gets_a_sentence(more, sentence, tmp_path):
    with pytest.raises(Problem, match=sentence):
        load(save(tiny("ViT"), tmp_path, **more))
