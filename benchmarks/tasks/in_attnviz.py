"""23 questions about a GPT-2, asked of attnviz: head 2 of layer 1, token 7 and its lead over 11."""

# `capture` keeps logits unless told not to
# mypy: disable-error-code="index"
from typing import Any

import torch
from torch import Tensor

import attnviz as av


def weights_of_a_head(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.capture(model, ids)[1].weights(2)[0, 0]


def scores_of_a_head(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.capture(model, ids)[1].stages(2).masked[0, 0].tril()


def what_a_head_adds_to_the_stream(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.capture(model, ids, residual=True)[1].head_outputs(2, projected=True)[0, 0]


def the_lead_s_gradient_along_heads(model: Any, ids: Tensor, other: Tensor) -> Any:
    trace = av.capture(model, ids, grad=True)
    return torch.autograd.grad(trace.logits[0, 7] - trace.logits[0, 11], trace[1].head_outputs())[0][0]


def what_each_head_adds_to_the_lead(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.capture(model, ids, residual=True).logit_attribution(av.logit_diff(7, 11)).heads[0]


def what_each_mlp_adds_to_the_lead(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.capture(model, ids, residual=True).logit_attribution(av.logit_diff(7, 11)).mlps[0]


def which_tokens_carried_a_head_s_part(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.capture(model, ids, residual=True).logit_attribution(av.logit_diff(7, 11)).sources(1, 2)[0]


def logit_lens(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.capture(model, ids, residual=True).logit_lens(7).logits[0, :, 0]


def a_head_silenced(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.intervene(model, av.ablate(1, 2), ids).logits


def a_head_s_mean_in_its_place(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.intervene(model, av.patch(1, 2, source=av.mean_outputs(model, [ids, other])), ids).logits


def a_head_from_another_prompt(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.intervene(model, av.patch(1, 2, source=av.capture(model, other), at=-1), ids).logits


def the_stream_from_another_prompt(model: Any, ids: Tensor, other: Tensor) -> Any:
    source = av.capture(model, other, residual=True)
    return av.intervene(model, av.Edit(layers=2, stream=source, at=5), ids).logits


def a_head_with_a_window_of_four(model: Any, ids: Tensor, other: Tensor) -> Any:
    near = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril().triu(-3)
    return av.intervene(model, av.remask(1, 2, mask=near), ids).logits


def eight_tokens_without_a_head(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.intervene(model.generate, av.ablate(1, 2), ids, max_new_tokens=8, do_sample=False).inputs["sequences"]


def every_head_patched(model: Any, ids: Tensor, other: Tensor) -> Any:
    sites, metric = [(layer, head) for layer in range(6) for head in range(8)], av.logit_diff(7, 11)
    return torch.tensor([effect for _, effect in av.activation_patching(model, ids, other, metric, sites)]).view(6, 8)


def every_head_patched_linearised(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.attribution_patching(model, ids, other, av.logit_diff(7, 11)).by_head


def the_path_from_a_head_to_the_logits(model: Any, ids: Tensor, other: Tensor) -> Any:
    return torch.tensor(next(av.path_patching(model, ids, other, av.logit_diff(7, 11), [(1, 2)]))[1])


def the_path_from_a_head_to_another_s_keys(model: Any, ids: Tensor, other: Tensor) -> Any:
    return torch.tensor(next(av.path_patching(model, ids, other, av.logit_diff(7, 11), [(1, 2)], [(4, 3, "k")]))[1])


def composition_through_keys(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.composition_scores(model).k.nan_to_num(0.0)


def induction_heads(model: Any, ids: Tensor, other: Tensor) -> Any:
    return torch.as_tensor(av.find_heads(model, [torch.cat([ids, ids], 1)], ("induction",)).mean["induction"])


def what_each_head_adds_to_a_score(model: Any, ids: Tensor, other: Tensor) -> Any:
    found = av.capture(model, ids, residual=True).score_attribution(4, 3, query=20, key=5, against=None)
    return found.by_key[0, [found.parts.index(f"{layer}.{head}") for layer in range(4) for head in range(8)]]


def every_mlp_patched(model: Any, ids: Tensor, other: Tensor) -> Any:
    sites = [(layer, "mlp") for layer in range(6)]
    return torch.tensor([e for _, e in av.activation_patching(model, ids, other, av.logit_diff(7, 11), sites)])


def a_head_patched_in_pairs(model: Any, ids: Tensor, other: Tensor) -> Any:
    pairs = torch.cat([ids, other]), torch.cat([other, ids])
    ((_, effect),) = av.activation_patching(model, *pairs, av.logit_diff(7, 11), [(1, 2)])
    return torch.tensor([effect, effect.stderr])
