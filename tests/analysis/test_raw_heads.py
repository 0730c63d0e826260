"""Heads before their softmax: enough to compute what the model computes."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from attnviz.analysis.head_matrix import raw_head, raw_heads
from attnviz.analysis.model_run import Stack
from attnviz.base.head_record import HeadData
from attnviz.core.attention import attend
from attnviz.models.capture import capture
from tests.models import tiny
from tests.models.tiny_streams import made


def stack_of(layers) -> Stack:
    tokens: Any = SimpleNamespace(labels=())
    return Stack("decoder", tuple(layers), tokens, tokens)


def weights(head: HeadData, mask: np.ndarray | None = None, factor: float = 1.0) -> np.ndarray:
    """What a HeadData gives in float64, by `attend`: its scores are those of queries with as many unit keys."""
    if not head.exact:
        return head.scores
    allowed = head.mask if mask is None else mask
    allowed = allowed if head.padding is None else allowed & head.padding
    scores, unit = torch.tensor(head.scores).double(), torch.eye(head.scores.shape[1]).double()[None]
    bias = None if head.bias is None else torch.tensor(head.bias).double()
    sinks = None if head.sink is None else torch.tensor([head.sink]).double()
    scale = head.scale * factor
    return attend(scores[None], unit, unit, torch.tensor(allowed), scale, bias, head.softcap, sinks).weights[0].numpy()


def same_as_the_model(stack: Stack) -> None:
    heads = iter(raw_heads(stack.layers))
    for layer in stack.layers:
        for own in layer.weights()[0].float().numpy():
            np.testing.assert_allclose(weights(next(heads)), own, atol=2e-6)
    assert next(heads, None) is None


def test_all_heads_of_a_trained_model_are_what_it_computes(decoded, paired):
    same_as_the_model(decoded.stacks[0])
    same_as_the_model(paired.stacks[0])


@torch.no_grad()
def test_padding_stays_out_and_the_hidden_scores_are_there():
    ids = tiny.tokens()
    trace = capture(tiny.llama(), input_ids=ids, attention_mask=tiny.padded("left"))
    stack = stack_of(trace.layers)
    same_as_the_model(stack)
    head, layer = raw_head(stack, 1, 4), trace.layers[1]
    assert head.padding is not None
    assert not head.padding.all()
    open_mask = np.ones_like(head.mask)
    np.testing.assert_allclose(weights(head, open_mask, 2.0), layer.weights(4, None, 2 * layer.scale)[0, 0], atol=2e-6)
    np.testing.assert_allclose(head.q @ head.k.T, head.scores, atol=1e-5)


@torch.no_grad()
def test_position_bias_and_sinks_come_along():
    given = {"input_ids": torch.tensor([[5, 9, 7, 5, 1]]), "decoder_input_ids": torch.tensor([[0, 4, 8]])}
    encoder = [layer for layer in capture(tiny.t5(), **given).layers if layer.stack == "encoder"]
    same_as_the_model(stack_of(encoder))
    assert raw_heads(stack_of(encoder).layers)[0].bias is not None
    oss = made("gpt_oss", num_local_experts=2, num_experts_per_tok=1, sliding_window=3)
    sunk = stack_of(capture(oss, input_ids=tiny.tokens(1)).layers)
    same_as_the_model(sunk)
    assert len({head.sink for head in raw_heads(sunk.layers)}) == 18
