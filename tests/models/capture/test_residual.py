"""The residual stream and what each head adds to a logit, against hooks on the model's own modules."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from attnviz.base.message import Problem
from attnviz.models.capture.run import capture
from attnviz.models.capture.trace import Trace
from tests.models.tiny import VOCAB, bert, llama, padded, tokens
from tests.models.tiny_streams import STREAMS

NORMS = {
    "llama": "model.norm",
    "qwen2": "model.norm",
    "gpt2": "transformer.ln_f",
    "neox": "gpt_neox.final_layer_norm",
    "cohere": "model.norm",
}


def attention_part(model: nn.Module, projection: str, norm: str, token: int, **inputs: Tensor) -> tuple[Tensor, Tensor]:
    """By hooks and autograd, with nothing of ours: what all output projections add to the last position's logit when
    the final norm's scale is held fixed, and the logits.
    """
    modules, seen = dict(model.named_modules()), {}
    hooks = [
        modules[projection.format(i)].register_forward_hook(lambda m, a, out, i=i: seen.update({i: out.detach()}))
        for i in range(3)
    ]
    hooks.append(modules[norm].register_forward_pre_hook(lambda m, a: seen.update(end=a[0].detach())))
    with torch.no_grad():
        logits = model(**inputs).logits
    for hook in hooks:
        hook.remove()
    end, total = seen["end"][:, -1], sum(seen[i][:, -1] for i in range(3))
    centred = isinstance(modules[norm], nn.LayerNorm) or "Cohere" in type(modules[norm]).__name__
    deviation = end - end.mean(-1, keepdim=True) if centred else end
    added = total - total.mean(-1, keepdim=True) if centred else total
    module = modules[norm]
    eps = next(getattr(module, name) for name in ("variance_epsilon", "eps") if hasattr(module, name))
    root = (deviation.square().mean(-1, keepdim=True) + eps).sqrt()
    factor = getattr(model.config, "logit_scale", None) or 1.0
    row = model.get_output_embeddings().weight[token]
    return ((added / root * module.weight) @ row * factor).detach(), logits


@pytest.mark.parametrize("family", NORMS)
def test_what_the_heads_add_and_the_biases_are_the_attention_part_of_the_logit(family, tmp_path):
    (build, projection, _), norm = STREAMS[family], NORMS[family]
    model = build()
    trace = capture(model, input_ids=tokens(), residual=True)
    found = trace.logit_attribution(7)
    expected, logits = attention_part(model, projection, norm, 7, input_ids=tokens())
    assert found.heads.shape == (2, 3, 6)
    assert_close(found.attention, expected, rtol=1e-4, atol=1e-4)
    lead = trace.logit_attribution(7, versus=11)
    assert_close(lead.heads, found.heads - trace.logit_attribution(11).heads, rtol=1e-4, atol=1e-4)
    assert_close(logits[:, -1], trace.logits, rtol=1e-4, atol=1e-4)
    trace.save(tmp_path / "t")
    opened = Trace.load(tmp_path / "t")
    assert_close(opened.logit_attribution(7).heads, found.heads)
    assert_close(opened.logit_attribution(7).biases, found.biases)
    assert torch.equal(opened.residual[1], trace.residual[1])


def test_one_head_s_share_is_what_the_logit_loses_without_it_under_the_same_scale():
    model = llama(num_hidden_layers=1)
    trace = capture(model, input_ids=tokens(), residual=True)
    found = trace.logit_attribution(7)
    end, norm = trace.residual[-1][:, -1], model.model.norm
    root = (end.square().mean(-1, keepdim=True) + norm.variance_epsilon).sqrt()
    for head in range(6):
        alone = trace[0].head_outputs(head, projected=True)[:, 0, -1]
        share = (alone / root * norm.weight) @ model.lm_head.weight[7]
        assert_close(found.heads[:, 0, head], share, rtol=1e-4, atol=1e-5)


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


def test_the_last_real_token_of_each_row_is_asked_under_padding():
    model = llama()
    right = capture(model, input_ids=tokens(), attention_mask=padded("right"), residual=True)
    alone = capture(model, input_ids=tokens()[:1, :4], residual=True)
    assert_close(right.logit_attribution(9).heads[:1], alone.logit_attribution(9).heads, rtol=1e-3, atol=1e-4)


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
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ln, self.qkv, self.out_proj = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 16)
            self.n_head = 2

        def forward(self, x: Tensor) -> Tensor:
            q, k, v = (t.unflatten(-1, (2, 8)).transpose(1, 2) for t in self.qkv(self.ln(x)).chunk(3, -1))
            made = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return x + self.out_proj(made.transpose(1, 2).flatten(2))

    class Tiny(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wte, self.h = nn.Embedding(VOCAB, 16), nn.ModuleList([Block(), Block()])
            self.ln_f, self.lm_head = nn.LayerNorm(16), nn.Linear(16, VOCAB, bias=False)

        def forward(self, ids: Tensor) -> Tensor:
            x = self.wte(ids)
            for block in self.h:
                x = block(x)
            return self.lm_head(self.ln_f(x))

    torch.manual_seed(0)
    model = Tiny()
    trace = capture(model, tokens(), residual=True)
    found = trace.logit_attribution(7)
    start, end = trace.residual[0][:, -1], trace.residual[-1][:, -1]
    added = end - start  # nothing but attention adds to this stream
    share = (added - added.mean(-1, keepdim=True)) / (end.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()
    assert_close(found.attention, (share * model.ln_f.weight) @ model.lm_head.weight[7], rtol=1e-4, atol=1e-5)
