"""The same questions asked of TransformerLens."""

from typing import Any

import torch
from torch import Tensor
from transformer_lens import patching


def weights_of_a_head(model: Any, ids: Tensor, other: Tensor) -> Any:
    return model.run_with_cache(ids)[1]["pattern", 1][0, 2]


def what_a_head_adds_to_the_stream(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(ids)
    return cache["z", 1][0, :, 2] @ model.W_O[1, 2]


def what_each_head_adds_to_the_lead(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(ids)
    results = cache.stack_head_results(layer=-1, pos_slice=-1)
    return cache.logit_attrs(results, tokens=7, incorrect_tokens=11, pos_slice=-1).view(6, 8)


def a_head_silenced(model: Any, ids: Tensor, other: Tensor) -> Any:
    def silence(z: Tensor, hook: Any) -> Tensor:
        z[:, :, 2] = 0
        return z

    return model.run_with_hooks(ids, fwd_hooks=[("blocks.1.attn.hook_z", silence)])[:, -1]


def the_stream_from_another_prompt(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(other)

    def patch(stream: Tensor, hook: Any) -> Tensor:
        stream[:, 5] = cache[hook.name][:, 5]
        return stream

    return model.run_with_hooks(ids, fwd_hooks=[("blocks.2.hook_resid_pre", patch)])[:, -1]


def every_head_patched(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(ids)

    def lead(logits: Tensor) -> Tensor:
        return logits[0, -1, 7] - logits[0, -1, 11]

    return patching.get_act_patch_attn_head_out_all_pos(model, other, cache, lead) - lead(model(other))


def every_head_patched_linearised(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(ids)
    old, slopes = {}, {}

    def keep(z: Tensor, hook: Any) -> None:
        old[hook.layer()] = z.detach()

    def slope(grad: Tensor, hook: Any) -> None:
        slopes[hook.layer()] = grad.detach()

    names = [f"blocks.{n}.attn.hook_z" for n in range(6)]
    with model.hooks([(name, keep) for name in names], [(name, slope) for name in names]):
        logits = model(other)[0, -1]
        (logits[7] - logits[11]).backward()
    return torch.stack([(slopes[n] * (cache[name] - old[n])).sum((0, 1, 3)) for n, name in enumerate(names)])


def the_path_from_a_head_to_another_s_keys(model: Any, ids: Tensor, other: Tensor) -> Any:
    clean, before = model.run_with_cache(ids)
    _, corrupted = model.run_with_cache(other)
    seen = {}

    def hold(z: Tensor, hook: Any) -> Tensor:
        z[:] = before[hook.name]
        if hook.layer() == 1:
            z[:, :, 2] = corrupted[hook.name][:, :, 2]
        return z

    def keep(k: Tensor, hook: Any) -> None:
        seen["k"] = k[:, :, 3].clone()

    def patch(k: Tensor, hook: Any) -> Tensor:
        k[:, :, 3] = seen["k"]
        return k

    held = [(f"blocks.{n}.attn.hook_z", hold) for n in range(4)]
    model.run_with_hooks(ids, fwd_hooks=[*held, ("blocks.4.attn.hook_k", keep)])
    logits = model.run_with_hooks(ids, fwd_hooks=[("blocks.4.attn.hook_k", patch)])[0, -1]
    return logits[7] - logits[11] - (clean[0, -1, 7] - clean[0, -1, 11])


def composition_through_keys(model: Any, ids: Tensor, other: Tensor) -> Any:
    return model.all_composition_scores("K")


def induction_heads(model: Any, ids: Tensor, other: Tensor) -> Any:
    length = ids.shape[1]
    _, cache = model.run_with_cache(torch.cat([ids, ids], 1))
    return torch.stack([cache["pattern", n][0].diagonal(1 - length, -2, -1)[:, 1:].mean(-1) for n in range(6)])
