"""Swin: windows put together over the whole picture, against the eager path's windows one by one."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close
from transformers import SwinConfig, SwinForImageClassification, Swinv2Config, Swinv2ForImageClassification

from attnviz.pages.pictures.maths.picture_record import HeadChange
from attnviz.pages.pictures.maths.picture_run import rerun, run_picture
from tests.models.tiny import eager
from tests.models.tiny_tokenizers import loaded

SIZES = {"image_size": 32, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4, "patch_size": 4}


def tiny():
    torch.manual_seed(0)
    model = SwinForImageClassification(SwinConfig(embed_dim=8, **SIZES)).eval()
    with torch.no_grad():  # weights as large as trained ones, biases of positions among them
        for parameter in model.parameters():
            parameter.normal_(0, 0.4)
    return loaded(None, model=model)


def picture():
    return np.random.default_rng(0).integers(0, 256, (40, 40, 3), np.uint8)


def window_of(row, column, size, side, shift):
    """The window of a patch and its place inside it, counted on its own: patches are moved up and left by the shift."""
    moved = (row - shift) % size, (column - shift) % size
    across = size // side
    return moved[0] // side * across + moved[1] // side, moved[0] % side * side + moved[1] % side


def over_all_patches(windows, size, shift):
    """Weights (H, K, K) of windows (W, H, K, K) at every pair of patches, 0 where two are in no window together."""
    weights = torch.zeros(windows.shape[1], size * size, size * size)
    for query in range(size * size):
        for key in range(size * size):
            window, row = window_of(*divmod(query, size), size, 4, shift)
            other, column = window_of(*divmod(key, size), size, 4, shift)
            if window == other:
                weights[:, query, key] = windows[window, :, row, column]
    return weights


@pytest.mark.parametrize("stage, layer, size, shift", [(0, 0, 8, 0), (0, 1, 8, 2), (1, 0, 4, 0), (1, 1, 4, 0)])
def test_each_pair_of_patches_has_the_weight_that_the_eager_path_gives_it_in_their_window(stage, layer, size, shift):
    model = tiny()
    run = run_picture(model, picture())
    stack = run.stacks[stage]
    assert (stack.grid.rows, stack.grid.columns) == (size, size)
    assert stack.windows[layer] == (4, shift)
    shown = stack.layers[layer].weights()[0]
    assert stack.layers[layer].exact
    kept = []
    attention = model.model.swin.encoder.layers[stage].blocks[layer].attention
    hook = attention.register_forward_hook(lambda module, given, out: kept.append(out[1]))
    eager(model.model, **run.inputs)
    hook.remove()
    assert_close(shown, over_all_patches(kept[0], size, shift), atol=1e-5, rtol=0)
    assert_close(shown.sum(-1), torch.ones_like(shown.sum(-1)), atol=1e-5, rtol=0)


@torch.no_grad()
def test_hidden_patches_are_looked_at_in_no_window_and_the_answer_changes():
    model = tiny()
    run = run_picture(model, picture())
    hidden = tuple(range(16))  # the two upper rows: four whole patches of the second stage
    answer, trace = rerun(model, run, HeadChange(hidden=hidden))
    assert answer.share != pytest.approx(run.answer.share, abs=1e-6)
    for layer, windows in run.windows.items():
        weights = next(each for each in trace.layers if each.place == layer.place).weights()
        places, size = windows.places(), windows.rows
        here = set(hidden) if size == 8 else {0, 1, 2, 3}
        for window, inside in enumerate(places.tolist()):
            gone = [at for at, patch in enumerate(inside) if patch in here]
            if gone:
                assert float(weights[window, :, :, gone].max()) == 0


def test_swin_v2_s_windows_have_the_weights_of_its_own_softmax(monkeypatch):
    torch.manual_seed(0)
    model = Swinv2ForImageClassification(Swinv2Config(embed_dim=16, **SIZES)).eval()
    kept = []
    softmax = torch.nn.functional.softmax
    monkeypatch.setattr(
        torch.nn.functional, "softmax", lambda scores, **how: kept.append(softmax(scores, **how)) or kept[-1]
    )
    run = run_picture(loaded(None, model=model), picture())
    monkeypatch.undo()
    assert [(stack.id, stack.grid.rows, stack.windows) for stack in run.stacks] == [
        ("picture", 8, ((4, 0), (4, 2))),
        ("stage2", 4, ((4, 0), (4, 0))),
    ]
    layers = [layer for stack in run.stacks for layer in stack.layers]
    assert len(layers) == 4  # `kept` ends with the softmaxes of the pass that is shown
    for own, layer, size, shift in zip(kept[-4:], layers, (8, 8, 4, 4), (0, 2, 0, 0), strict=True):
        shown = layer.weights()[0]
        assert_close(shown.sum(-1), torch.ones_like(shown.sum(-1)), atol=1e-5, rtol=0)
        assert_close(shown, over_all_patches(own, size, shift), atol=1e-6, rtol=0)
