"""The residual stream and what each head adds to a logit, against hooks on the model's own modules."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnviz.base.message import Problem
from attnviz.models.capture.run import capture
from tests.models.capture.plain_models import Own
from tests.models.tiny import bert, llama, tokens


def test_the_stream_and_the_heads_outputs_are_what_the_model_itself_reports():
    model, seen = llama(num_hidden_layers=3), {}
    hook = model.model.layers[1].self_attn.o_proj.register_forward_hook(
        lambda module, given, answer: seen.update(given=given[0].detach(), answer=answer.detach())
    )
    trace = capture(model, input_ids=tokens(), residual=True)
    hook.remove()
    assert_close(trace[1].head_outputs().transpose(1, 2).flatten(2), seen["given"], rtol=1e-4, atol=1e-5)
    assert_close(trace[1].head_outputs(projected=True).sum(1), seen["answer"], rtol=1e-4, atol=1e-4)
    assert_close(trace[1].head_outputs([4, 1]), trace[1].head_outputs()[:, [4, 1]])
    with torch.no_grad():
        theirs = model(input_ids=tokens(), output_hidden_states=True).hidden_states
    assert len(trace.residual) == 4
    for mine, given in zip(trace.residual, theirs[:-1], strict=False):  # theirs ends after the norm
        assert_close(mine, given)
    assert_close(model.model.norm(trace.residual[-1]), theirs[-1])


def test_what_was_not_kept_is_named():
    plain = capture(llama(), input_ids=tokens())
    with pytest.raises(Problem, match="capture with residual=True"):
        plain.logit_attribution(7)
    with pytest.raises(Problem, match="capture with residual=True"):
        plain[0].head_outputs(projected=True)
    trace = capture(llama(), input_ids=tokens(), residual=True)
    with pytest.raises(Problem, match="token=100 must be a token id from 0 to 99"):
        trace.logit_attribution(100)
    with pytest.raises(Problem, match="cannot be taken apart by heads: it predicts no tokens"):
        capture(bert().bert, input_ids=tokens(), residual=True).logit_attribution(7)
    model = llama()
    with torch.no_grad(), gated(model.model.layers[1]):
        trace = capture(model, input_ids=tokens(), residual=True)
    assert len(trace.residual) == 3
    with pytest.raises(Problem, match=r"what stands between the attention of model.layers.1.self_attn .* is neither"):
        trace.logit_attribution(7)


@contextmanager
def gated(block: nn.Module) -> Iterator[None]:
    """Inside it a block hands on what no norm and no factor makes of its parts."""
    hook = block.register_forward_hook(lambda module, given, answered: answered.tanh())
    try:
        yield
    finally:
        hook.remove()


def test_a_plain_torch_model_has_a_stream_and_an_attribution_too():
    model = Own().eval()
    trace = capture(model, tokens(), residual=True)
    found = trace.logit_attribution(7)
    start, end = trace.residual[0][:, -1], trace.residual[-1][:, -1]
    added = end - start  # nothing but attention adds to this stream
    share = (added - added.mean(-1, keepdim=True)) / (end.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()
    assert_close(found.attention, (share * model.ln_f.weight) @ model.lm_head.weight[7], rtol=1e-4, atol=1e-5)
