"""Ten questions about a GPT-2, asked of attnviz: head 2 of layer 1, token 7 and its lead over 11."""

# `capture` keeps logits unless told not to
# mypy: disable-error-code="index"
from typing import Any

import torch
from torch import Tensor

import attnviz as av


def weights_of_a_head(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.capture(model, ids)[1].weights(2)[0, 0]


def what_a_head_adds_to_the_stream(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.capture(model, ids, residual=True)[1].head_outputs(2, projected=True)[0, 0]


def what_each_head_adds_to_the_lead(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.capture(model, ids, residual=True).logit_attribution(av.logit_diff(7, 11)).heads[0]


def a_head_silenced(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.intervene(model, av.ablate(1, 2), ids).logits


def the_stream_from_another_prompt(model: Any, ids: Tensor, other: Tensor) -> Any:
    source = av.capture(model, other, residual=True)
    return av.intervene(model, av.Edit(layers=2, stream=source, at=5), ids).logits


def every_head_patched(model: Any, ids: Tensor, other: Tensor) -> Any:
    sites, metric = [(layer, head) for layer in range(6) for head in range(8)], av.logit_diff(7, 11)
    return torch.tensor([effect for _, effect in av.activation_patching(model, ids, other, metric, sites)]).view(6, 8)


def every_head_patched_linearised(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.attribution_patching(model, ids, other, av.logit_diff(7, 11)).by_head


def the_path_from_a_head_to_another_s_keys(model: Any, ids: Tensor, other: Tensor) -> Any:
    return torch.tensor(next(av.path_patching(model, ids, other, av.logit_diff(7, 11), [(1, 2)], [(4, 3, "k")]))[1])


def composition_through_keys(model: Any, ids: Tensor, other: Tensor) -> Any:
    return av.composition_scores(model).k.nan_to_num(0.0)


def induction_heads(model: Any, ids: Tensor, other: Tensor) -> Any:
    return torch.as_tensor(av.find_heads(model, [torch.cat([ids, ids], 1)], ("induction",)).mean["induction"])
