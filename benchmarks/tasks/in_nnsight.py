"""The same twenty questions asked of nnsight, whose programs name the modules of GPT-2 in transformers."""

# what `save` marks is known to nnsight alone
# mypy: disable-error-code="attr-defined"
from typing import Any

import torch
from torch import Tensor


def weights_of_a_head(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(ids):
        weights = model.transformer.h[1].attn.output[1][0, 2].save()
    return weights


def scores_of_a_head(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(ids):
        q, k, _ = model.transformer.h[1].attn.c_attn.output[0].unflatten(-1, (3, 8, 64))[:, :, 2].unbind(1)
        scores = (q @ k.T / 8).save()
    return scores.tril() + torch.full_like(scores, -torch.inf).triu(1).tril()


def what_a_head_adds_to_the_stream(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(ids):
        z = model.transformer.h[1].attn.c_proj.input[0, :, 128:192].save()
    return z @ model.transformer.h[1].attn.c_proj.weight[128:192]


def the_lead_s_gradient_along_heads(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(ids):
        z = model.transformer.h[1].attn.c_proj.input
        logits = model.output.logits[0, -1]
        slope = torch.autograd.grad(logits[7] - logits[11], z)[0].save()
    return slope[0].unflatten(-1, (8, 64)).transpose(0, 1)


def what_each_head_adds_to_the_lead(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(ids):
        z = torch.stack([block.attn.c_proj.input[0, -1].unflatten(-1, (8, 64)) for block in model.transformer.h]).save()
        end = model.transformer.ln_f.input[0, -1].save()
    norm, rows = model.transformer.ln_f, model.lm_head.weight
    way = (rows[7] - rows[11]) * norm.weight
    way = (way - way.mean()) / (end.var(unbiased=False) + norm.eps).sqrt()
    projections = torch.stack([block.attn.c_proj.weight.unflatten(0, (8, 64)) for block in model.transformer.h])
    return torch.einsum("lhd,lhdm,m->lh", z, projections, way)


def what_each_mlp_adds_to_the_lead(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(ids):
        parts = torch.stack([block.mlp.output[0, -1] for block in model.transformer.h]).save()
        end = model.transformer.ln_f.input[0, -1].save()
    norm, rows = model.transformer.ln_f, model.lm_head.weight
    way = (rows[7] - rows[11]) * norm.weight
    return parts @ (way - way.mean()) / (end.var(unbiased=False) + norm.eps).sqrt()


def which_tokens_carried_a_head_s_part(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(ids):
        attention = model.transformer.h[1].attn
        v = attention.c_attn.output[0].unflatten(-1, (3, 8, 64))[:, 2, 2].save()
        weights = attention.output[1][0, 2, -1].save()
        end = model.transformer.ln_f.input[0, -1].save()
    norm, rows = model.transformer.ln_f, model.lm_head.weight
    way = (rows[7] - rows[11]) * norm.weight
    way = (way - way.mean()) / (end.var(unbiased=False) + norm.eps).sqrt()
    return weights * (v @ model.transformer.h[1].attn.c_proj.weight[128:192] @ way)


def logit_lens(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(ids):
        streams = [block.input[0, -1] for block in model.transformer.h] + [model.transformer.ln_f.input[0, -1]]
        logits = model.lm_head(model.transformer.ln_f(torch.stack(streams)))[:, 7].save()
    return logits


def a_head_silenced(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(ids):
        model.transformer.h[1].attn.c_proj.input[:, :, 128:192] = 0
        logits = model.output.logits[:, -1].save()
    return logits


def a_head_s_mean_in_its_place(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(torch.cat([ids, other])):
        mean = model.transformer.h[1].attn.c_proj.input[:, :, 128:192].mean((0, 1)).save()
    with model.trace(ids):
        model.transformer.h[1].attn.c_proj.input[:, :, 128:192] = mean
        logits = model.output.logits[:, -1].save()
    return logits


def a_head_from_another_prompt(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(other):
        source = model.transformer.h[1].attn.c_proj.input[:, -1, 128:192].save()
    with model.trace(ids):
        model.transformer.h[1].attn.c_proj.input[:, -1, 128:192] = source
        logits = model.output.logits[:, -1].save()
    return logits


def the_stream_from_another_prompt(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(other):
        source = model.transformer.h[2].input[:, 5].save()
    with model.trace(ids):
        model.transformer.h[2].input[:, 5] = source
        logits = model.output.logits[:, -1].save()
    return logits


def a_head_with_a_window_of_four(model: Any, ids: Tensor, other: Tensor) -> Any:
    near = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril().triu(-3)
    with model.trace(ids):
        attention = model.transformer.h[1].attn
        q, k, v = attention.c_attn.output[0].unflatten(-1, (3, 8, 64))[:, :, 2].unbind(1)
        weights = (q @ k.T / 8).masked_fill(~near, -torch.inf).softmax(-1)
        attention.c_proj.input[0, :, 128:192] = weights @ v
        logits = model.output.logits[:, -1].save()
    return logits


def eight_tokens_without_a_head(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.generate(max_new_tokens=8, min_new_tokens=8, do_sample=False) as tracer:
        with tracer.invoke(ids):
            for _ in tracer.iter[:8]:
                model.transformer.h[1].attn.c_proj.input[:, :, 128:192] = 0
        with tracer.invoke():
            written = tracer.result.save()
    return written


def every_head_patched(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(ids):
        clean = [block.attn.c_proj.input for block in model.transformer.h].save()
    with model.trace(other):
        before = (model.output.logits[0, -1, 7] - model.output.logits[0, -1, 11]).save()
    found = torch.zeros(6, 8)
    for n in range(6):
        for head in range(8):
            part = slice(64 * head, 64 * head + 64)
            with model.trace(other):
                model.transformer.h[n].attn.c_proj.input[:, :, part] = clean[n][:, :, part]
                logits = model.output.logits[0, -1].save()
            found[n, head] = logits[7] - logits[11] - before
    return found


def every_head_patched_linearised(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(ids):
        clean = torch.stack([block.attn.c_proj.input[0] for block in model.transformer.h]).save()
    with model.trace(other):
        z = [block.attn.c_proj.input for block in model.transformer.h]
        logits = model.output.logits[0, -1]
        slopes = torch.cat(torch.autograd.grad(logits[7] - logits[11], z)).save()
        old = torch.cat(z).save()
    return (slopes * (clean - old)).unflatten(-1, (8, 64)).sum((1, 3))


def the_path_from_a_head_to_the_logits(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(ids):
        clean = [block.attn.c_proj.input.clone() for block in model.transformer.h].save()
        before = (model.output.logits[0, -1, 7] - model.output.logits[0, -1, 11]).save()
    with model.trace(other):
        clean[1][:, :, 128:192] = model.transformer.h[1].attn.c_proj.input[:, :, 128:192]
    with model.trace(ids):
        for block, held in zip(model.transformer.h, clean, strict=True):
            block.attn.c_proj.input[:] = held
        logits = model.output.logits[0, -1].save()
    return logits[7] - logits[11] - before


def the_path_from_a_head_to_another_s_keys(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(ids):
        clean = [block.attn.c_proj.input.clone() for block in model.transformer.h].save()
        before = (model.output.logits[0, -1, 7] - model.output.logits[0, -1, 11]).save()
    with model.trace(other):
        clean[1][:, :, 128:192] = model.transformer.h[1].attn.c_proj.input[:, :, 128:192]
    with model.trace(ids):
        for n in range(4):
            model.transformer.h[n].attn.c_proj.input[:] = clean[n]
        keys = model.transformer.h[4].attn.c_attn.output[:, :, 704:768].save()
    with model.trace(ids):
        model.transformer.h[4].attn.c_attn.output[:, :, 704:768] = keys
        logits = model.output.logits[0, -1].save()
    return logits[7] - logits[11] - before


def composition_through_keys(model: Any, ids: Tensor, other: Tensor) -> Any:
    blocks = model.transformer.h
    q, k, v = torch.stack([b.attn.c_attn.weight.unflatten(-1, (3, 8, 64)) for b in blocks]).permute(2, 0, 3, 1, 4)
    o = torch.stack([block.attn.c_proj.weight.unflatten(0, (8, 64)) for block in blocks])
    of_v, of_q = torch.linalg.qr(v)[1], torch.linalg.qr(q)[1]  # orthonormal columns do not change a norm
    found = (of_v[:, :, None, None] @ torch.einsum("ahdm,bgme->ahbgde", o, k) @ of_q.mT).norm(dim=(-2, -1))
    found = found / (of_v @ o).norm(dim=(-2, -1))[:, :, None, None] / (k @ of_q.mT).norm(dim=(-2, -1))
    return found * torch.ones(6, 6).triu(1)[:, None, :, None]


def induction_heads(model: Any, ids: Tensor, other: Tensor) -> Any:
    with model.trace(torch.cat([ids, ids], 1)):
        weights = torch.stack([block.attn.output[1][0] for block in model.transformer.h]).save()
    return weights.diagonal(1 - ids.shape[1], -2, -1)[..., 1:].mean(-1)
