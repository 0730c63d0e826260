"""What the page computes of SmolLM2, held to passes with plain hooks."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from attnviz.analysis.model_run import ModelRun, Request, run_model
from attnviz.models.tokens import token_id
from attnviz.pages.why.maths import parts
from attnviz.pages.why.maths.parts import CONTRASTS
from attnviz.pages.why.panels.parts import flows_figure, lens_caption

MADRID = CONTRASTS[0]


@pytest.fixture(scope="module")
def read(smollm2) -> ModelRun:
    return run_model(Request("smollm2-135m", MADRID.text), smollm2)


@pytest.fixture(scope="module")
def taken_apart(read, smollm2) -> parts.Parts:
    return parts.run(read, smollm2, parts.TokenQuestion())


def heads_output(model, layer: int, head: int, new):
    """A hook that replaces a head's slice of what goes into the output projection."""
    attention = model.model.layers[layer].self_attn
    width = attention.head_dim

    def put(_module, given):
        whole = given[0].clone()
        whole[..., head * width : (head + 1) * width] = new(whole[..., head * width : (head + 1) * width])
        return (whole,)

    return attention.o_proj.register_forward_pre_hook(put)


def lead(model, ids, asked) -> float:
    with torch.no_grad():
        logits = model(input_ids=ids).logits[0, -1]
    return float(logits[asked[0]] - logits[asked[1]])


@pytest.mark.parametrize(
    "ranks, lost, since",
    [
        ([9, 3, 2, 1], "", 3),
        ([9, 1, 1, 1], "", 1),
        ([1, 1, 1, 1], "", 0),
        ([1, 2, 1, 1], "0", 2),
        ([1, 1, 2, 1], "0–1", 3),
        ([9, 1, 2, 1, 3], "1, 3", None),
        ([9, 3, 2, 7], "", None),
        ([1, 1], "", 0),
        ([2, 1], "", 1),
    ],
)
def test_the_lens_tells_where_the_token_is_lost_again(taken_apart, ranks, lost, since):
    """By a loop over the places; the words hold each layer at which it comes first, and no other."""
    made = replace(taken_apart, ranks=np.array(ranks)[:, None])
    assert made.first_stable_layer == next((at for at in range(len(ranks)) if set(ranks[at:]) == {1}), None) == since
    caption = lens_caption(made, "X")
    if lost:
        assert re.search(rf"input of layer {lost}\b|that of layer {lost}\b", caption), caption
    assert ("Only" in caption) == (ranks.index(1) == len(ranks) - 1 if 1 in ranks else False), caption
    assert ("at no layer" in caption) == (1 not in ranks), caption
    assert (f"in place {ranks[-1]}" in caption) == (ranks[-1] > 1), caption


def test_parts_add_up_to_the_lead_and_a_silenced_head_changes_it_as_a_plain_hook_does(read, taken_apart, smollm2):
    layer, head = taken_apart.strongest
    whole = lead(smollm2.model, torch.tensor([read.source.ids]), taken_apart.ids)
    assert [answer.label.strip() for answer in taken_apart.targets] == ["Madrid", "Rome"]
    assert taken_apart.total == pytest.approx(whole, abs=1e-3)
    assert sum(part.value for part in taken_apart.by_size) == pytest.approx(whole, abs=1e-3)
    assert len(taken_apart.by_size) == 30 * 9 + 30 + 1
    assert np.allclose(taken_apart.sources.sum(-1), taken_apart.heads, atol=1e-4)
    found = parts.run(read, smollm2, parts.TokenQuestion(), (layer, head))
    handle = heads_output(smollm2.model, layer, head, torch.zeros_like)
    try:
        expected = lead(smollm2.model, torch.tensor([read.source.ids]), taken_apart.ids)
    finally:
        handle.remove()
    assert found.total == pytest.approx(expected, abs=1e-3)
    assert found.heads[layer, head] == 0
    assert found.total < taken_apart.total - 1, "it is the head that names the capital"
    flows = flows_figure(taken_apart, found, (layer, head), MADRID.text).flows
    assert sum(flow.value for flow in flows) == pytest.approx(expected, abs=1e-3)
    assert sum(flow.before for flow in flows) == pytest.approx(taken_apart.total, abs=1e-3)


@pytest.mark.parametrize("example", CONTRASTS, ids=lambda each: each.token)
def test_what_an_example_says_is_so(example, smollm2):
    first, second = (smollm2.tokenizer(text)["input_ids"] for text in (example.text, example.second_prompt))
    assert len(first) == len(second)
    asked = [token_id(smollm2.tokenizer, word) for word in (example.token, example.versus)]
    leads = [lead(smollm2.model, torch.tensor([ids]), asked) for ids in (first, second)]
    assert leads[0] > 0 > leads[1]


@pytest.mark.parametrize(
    "lost, added, expected",
    [(1.77, 3.85, "less"), (-0.2, 1, "less"), (0.95, 1, "same"), (1.2, 1, "more"), (-2, -1, "more"), (0.2, -1, "less")],
)
def test_what_is_lost_without_a_head_is_compared_with_what_it_added(lost, added, expected):
    assert parts.compare_loss(lost, added) == expected
