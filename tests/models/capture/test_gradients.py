"""Gradients of a logit with respect to what a capture with `grad` holds, against torch's own hooks."""

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

import attnviz as av
from attnviz.models.capture import Edit
from tests.models.capture.test_plain_edits import MODELS
from tests.models.tiny import changed, tokens
from tests.models.tiny_streams import BY_THEMSELVES, NAMES, STREAMS


def by_hooks(model: nn.Module, names: list[str], ids: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Token 7's logit at the end, and its gradient with respect to what these modules were given."""
    given: list[Tensor] = []
    with changed(model, names, lambda _, each: given.append(each) or each, grads=True):
        logit = model(input_ids=ids).logits[:, -1, 7]
    return logit, list(torch.autograd.grad(logit.sum(), given))


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("name", NAMES | BY_THEMSELVES)
def test_what_heads_hand_on_lies_in_the_graph(name: str, frozen: bool) -> None:
    build, projection, _ = STREAMS[name]
    model, ids = build(), tokens()
    logit, expected = by_hooks(model, [projection.format(layer) for layer in range(3)], ids)
    model.requires_grad_(not frozen)
    trace = av.capture(model, input_ids=ids, grad=True)
    outputs = [layer.head_outputs() for layer in trace]
    values = [layer.v for layer in trace if name in NAMES]  # attention by hand is read, not given its values
    every = torch.autograd.grad(trace.logits[:, 7].sum(), [*outputs, *values])
    for ours, theirs in zip(every, expected, strict=False):
        assert_close(ours.transpose(1, 2).flatten(2), theirs, atol=1e-5, rtol=1e-4)
    assert_close(trace.logits[:, 7], logit)
    assert all(parameter.requires_grad is not frozen for parameter in model.parameters())
    plain = av.capture(model, input_ids=ids)
    assert_close(outputs[1], plain[1].head_outputs(), atol=1e-5, rtol=1e-4)
    assert plain[1].handed_on is None


@pytest.mark.parametrize("edits", [[], [Edit(0, 1, silence=True)]], ids=["as it is", "changed"])
@pytest.mark.parametrize("kind", [kind for kind in MODELS if kind != "nn.TransformerEncoder"])
def test_in_models_of_ones_own_too(kind: str, edits: list[Edit], x: Tensor) -> None:
    build, projection = MODELS[kind]
    model = build().requires_grad_(False)
    trace = av.intervene(model, edits, x, logits="all", grad=True)
    (ours,) = torch.autograd.grad(trace.logits.square().sum(), trace[1].head_outputs())
    expected = 2 * trace.logits.detach() @ model.get_submodule(projection).weight  # of the square
    assert_close(ours.transpose(1, 2).flatten(2), expected, atol=1e-5, rtol=1e-4)
    assert_close(trace.logits, av.intervene(model, edits, x, logits="all").logits)
    assert not x.requires_grad
