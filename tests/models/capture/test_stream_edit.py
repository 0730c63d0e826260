"""The residual stream changed where it enters a block."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

import attnviz as av
from attnviz.models.capture import Edit
from tests.models.capture.plain_models import Own
from tests.models.tiny import bert, given_to, llama, tokens

MODELS: dict[str, Any] = {"llama": llama, "bert": bert, "plain": lambda: Own().eval()}
LISTS = {"llama": "model.layers", "bert": "bert.encoder.layer", "plain": "h"}


def given(model: nn.Module, ids: Tensor) -> dict[str, Tensor]:
    return {"idx" if isinstance(model, Own) else "input_ids": ids}


@pytest.mark.parametrize("name", MODELS)
def test_another_text_s_stream_everywhere_gives_that_text_s_answer(name: str) -> None:
    model, ids, other = MODELS[name](), tokens(2, 7), tokens(2, 7, seed=5)
    clean = av.capture(model, **given(model, other), logits="all", residual=True)
    for layer in (0, 1):
        found = av.intervene(model, Edit(layers=layer, stream=clean), **given(model, ids), logits="all")
        assert_close(found.logits, clean.logits, atol=1e-5, rtol=1e-5)
    by_name = av.intervene(model, Edit(f"{LISTS[name]}.1", stream=clean), **given(model, ids), logits="all")
    assert_close(by_name.logits, clean.logits, atol=1e-5, rtol=1e-5)


def test_at_one_position_it_is_what_a_hook_of_torch_does() -> None:
    model, ids, other = llama(), tokens(2, 7), tokens(2, 7, seed=5)
    clean = av.capture(model, input_ids=other, residual=True)
    found = av.intervene(model, Edit(layers=1, stream=clean, at=[2, -1]), input_ids=ids, residual=True)

    def put(own: Tensor) -> Tensor:
        own[:, [2, 6]] = clean.residual[1][:, [2, 6]]
        return own

    with given_to(model, "model.layers.1", put):
        expected = model(input_ids=ids).logits[:, -1]
    assert_close(found.logits, expected)
    assert_close(found.residual[1][:, 2], clean.residual[1][:, 2])
    assert not torch.allclose(found.residual[1][:, 3], clean.residual[1][:, 3])
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_a_function_of_the_stream_and_an_edit_of_heads_beside_it() -> None:
    model, ids = llama(), tokens()
    half = Edit(layers=1, stream=lambda own: own / 2)
    both = av.intervene(model, [half, Edit(layers=1, heads=2, silence=True)], input_ids=ids, residual=True)
    plain = av.capture(model, input_ids=ids, residual=True)
    assert_close(both.residual[1], plain.residual[1] / 2)
    assert both[1].silenced == {2}
    assert not both[0].silenced
