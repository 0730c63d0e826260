"""The residual stream and what each head adds to a logit, against hooks on the model's own modules."""

import torch
from torch.testing import assert_close

from attnviz.models.capture.run import capture
from tests.models.capture.plain_models import Own
from tests.models.tiny import llama, tokens


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


def test_a_plain_torch_model_has_a_stream_and_an_attribution_too():
    model = Own().eval()
    trace = capture(model, tokens(), residual=True)
    found = trace.logit_attribution(7)
    start, end = trace.residual[0][:, -1], trace.residual[-1][:, -1]
    added = end - start  # nothing but attention adds to this stream
    share = (added - added.mean(-1, keepdim=True)) / (end.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()
    assert_close(found.attention, (share * model.ln_f.weight) @ model.lm_head.weight[7], rtol=1e-4, atol=1e-5)
