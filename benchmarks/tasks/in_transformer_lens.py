"""The same questions asked of TransformerLens."""

from typing import Any

import torch
from torch import Tensor
from transformer_lens import patching


def weights_of_a_head(model: Any, ids: Tensor, other: Tensor) -> Any:
    return model.run_with_cache(ids)[1]["pattern", 1][0, 2]


def scores_of_a_head(model: Any, ids: Tensor, other: Tensor) -> Any:
    return model.run_with_cache(ids)[1]["attn_scores", 1][0, 2].tril()


def what_a_head_adds_to_the_stream(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(ids)
    return cache["z", 1][0, :, 2] @ model.W_O[1, 2]


def the_lead_s_gradient_along_heads(model: Any, ids: Tensor, other: Tensor) -> Any:
    seen = {}

    def keep(grad: Tensor, hook: Any) -> None:
        seen["z"] = grad.detach()

    with model.hooks([], [("blocks.1.attn.hook_z", keep)]):
        logits = model(ids)[0, -1]
        (logits[7] - logits[11]).backward()
    return seen["z"][0].transpose(0, 1)


def what_each_head_adds_to_the_lead(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(ids)
    results = cache.stack_head_results(layer=-1, pos_slice=-1)
    return cache.logit_attrs(results, tokens=7, incorrect_tokens=11, pos_slice=-1).view(6, 8)


def what_each_mlp_adds_to_the_lead(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(ids)
    parts = torch.stack([cache["mlp_out", layer][:, -1] for layer in range(6)])
    return cache.logit_attrs(parts, tokens=7, incorrect_tokens=11, pos_slice=-1).flatten()


def which_tokens_carried_a_head_s_part(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(ids)
    carried = cache["pattern", 1][0, 2, -1, :, None] * cache["v", 1][0, :, 2] @ model.W_O[1, 2]
    return cache.logit_attrs(carried[:, None], tokens=7, incorrect_tokens=11, pos_slice=-1).flatten()


def logit_lens(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(ids)
    streams = cache.accumulated_resid(layer=-1, incl_mid=False, apply_ln=True, pos_slice=-1)
    return (streams @ model.W_U + model.b_U)[:, 0, 7]


def a_head_silenced(model: Any, ids: Tensor, other: Tensor) -> Any:
    def silence(z: Tensor, hook: Any) -> Tensor:
        z[:, :, 2] = 0
        return z

    return model.run_with_hooks(ids, fwd_hooks=[("blocks.1.attn.hook_z", silence)])[:, -1]


def a_head_s_mean_in_its_place(model: Any, ids: Tensor, other: Tensor) -> Any:
    name = "blocks.1.attn.hook_z"
    caches = [model.run_with_cache(each, names_filter=name)[1][name] for each in (ids, other)]
    mean = torch.cat(caches, 1)[0, :, 2].mean(0)

    def average(z: Tensor, hook: Any) -> Tensor:
        z[:, :, 2] = mean
        return z

    return model.run_with_hooks(ids, fwd_hooks=[(name, average)])[:, -1]


def a_head_from_another_prompt(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(other)

    def patch(z: Tensor, hook: Any) -> Tensor:
        z[:, -1, 2] = cache[hook.name][:, -1, 2]
        return z

    return model.run_with_hooks(ids, fwd_hooks=[("blocks.1.attn.hook_z", patch)])[:, -1]


def the_stream_from_another_prompt(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(other)

    def patch(stream: Tensor, hook: Any) -> Tensor:
        stream[:, 5] = cache[hook.name][:, 5]
        return stream

    return model.run_with_hooks(ids, fwd_hooks=[("blocks.2.hook_resid_pre", patch)])[:, -1]


def a_head_with_a_window_of_four(model: Any, ids: Tensor, other: Tensor) -> Any:
    near = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril().triu(-3)

    def hide(scores: Tensor, hook: Any) -> Tensor:
        scores[:, 2] = scores[:, 2].masked_fill(~near, -torch.inf)
        return scores

    return model.run_with_hooks(ids, fwd_hooks=[("blocks.1.attn.hook_attn_scores", hide)])[:, -1]


def eight_tokens_without_a_head(model: Any, ids: Tensor, other: Tensor) -> Any:
    def silence(z: Tensor, hook: Any) -> Tensor:
        z[:, :, 2] = 0
        return z

    with model.hooks([("blocks.1.attn.hook_z", silence)]):
        return model.generate(ids, max_new_tokens=8, do_sample=False, stop_at_eos=False, verbose=False)


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


def the_path_from_a_head_to_the_logits(model: Any, ids: Tensor, other: Tensor) -> Any:
    clean, before = model.run_with_cache(ids)
    _, corrupted = model.run_with_cache(other)

    def hold(z: Tensor, hook: Any) -> Tensor:
        z[:] = before[hook.name]
        if hook.layer() == 1:
            z[:, :, 2] = corrupted[hook.name][:, :, 2]
        return z

    logits = model.run_with_hooks(ids, fwd_hooks=[(f"blocks.{n}.attn.hook_z", hold) for n in range(6)])[0, -1]
    return logits[7] - logits[11] - (clean[0, -1, 7] - clean[0, -1, 11])


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


def what_each_head_adds_to_a_score(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(ids)
    block, written = model.blocks[4], cache.stack_head_results(layer=4)[:, 0, 5]
    centred = (written - written.mean(-1, keepdim=True)) / cache["blocks.4.ln1.hook_scale"][0, 5]
    keys = centred * block.ln1.w @ model.W_K[4, 3]
    return keys @ cache["q", 4][0, 20, 3] / 8


def every_mlp_patched(model: Any, ids: Tensor, other: Tensor) -> Any:
    _, cache = model.run_with_cache(ids)

    def lead(logits: Tensor) -> Tensor:
        return logits[0, -1, 7] - logits[0, -1, 11]

    def patch(_: Tensor, hook: Any) -> Tensor:
        return cache[hook.name]

    names = [f"blocks.{n}.hook_mlp_out" for n in range(6)]
    after = [lead(model.run_with_hooks(other, fwd_hooks=[(name, patch)])) for name in names]
    return torch.stack(after) - lead(model(other))


def a_head_patched_in_pairs(model: Any, ids: Tensor, other: Tensor) -> Any:
    clean, corrupted = torch.cat([ids, other]), torch.cat([other, ids])
    _, cache = model.run_with_cache(clean)

    def patch(z: Tensor, hook: Any) -> Tensor:
        z[:, :, 2] = cache[hook.name][:, :, 2]
        return z

    def lead(logits: Tensor) -> Tensor:
        return logits[:, -1, 7] - logits[:, -1, 11]

    change = lead(model.run_with_hooks(corrupted, fwd_hooks=[("blocks.1.attn.hook_z", patch)])) - lead(model(corrupted))
    return torch.stack([change.mean(), change.std() / 2**0.5])
