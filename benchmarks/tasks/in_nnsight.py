"""The last three questions asked of nnsight, where it is installed: it is no requirement of this project."""

from typing import Any

import torch
from torch import Tensor


def what_each_head_adds_to_a_score(model: Any, ids: Tensor, other: Tensor) -> Any:
    blocks = model.transformer.h
    with model.trace(ids):
        written = []
        for block in blocks[:4]:
            weight = block.attn.c_proj._module.weight.view(8, 64, -1)
            written.append(torch.einsum("hd,hdm->hm", block.attn.c_proj.input[0, 5].view(8, 64), weight))
        stream = blocks[4].ln_1.input[0, 5]
        query = blocks[4].attn.c_attn.output[0, 20, 192:256]
        result: Any = torch.cat(written)
        result = result.save()
        stream, query = stream.save(), query.save()
    norm, columns = blocks[4].ln_1._module, blocks[4].attn.c_attn._module.weight[:, 512 + 192 : 512 + 256]
    centred = (result - result.mean(-1, keepdim=True)) / (stream.var(correction=0) + norm.eps).sqrt()
    return centred * norm.weight @ columns @ query / 8


def every_mlp_patched(model: Any, ids: Tensor, other: Tensor) -> Any:
    blocks, clean, after = model.transformer.h, list[Tensor](), list[Tensor]()
    with model.trace(ids):
        for block in blocks:
            clean.append(block.mlp.output.save())
    with model.trace(other):
        before = model.output.logits[0, -1].save()
    for number in range(6):
        with model.trace(other):
            blocks[number].mlp.output = clean[number]
            after.append(model.output.logits[0, -1].save())
    change = torch.stack(after) - before
    return change[:, 7] - change[:, 11]


def a_head_patched_in_pairs(model: Any, ids: Tensor, other: Tensor) -> Any:
    clean, corrupted = torch.cat([ids, other]), torch.cat([other, ids])
    projection = model.transformer.h[1].attn.c_proj
    with model.trace(clean):
        source = projection.input[..., 128:192].clone().save()
    with model.trace(corrupted):
        before = model.output.logits[:, -1].save()
    with model.trace(corrupted):
        projection.input[..., 128:192] = source
        after = model.output.logits[:, -1].save()
    change = (after - before)[:, 7] - (after - before)[:, 11]
    return torch.stack([change.mean(), change.std() / 2**0.5])
