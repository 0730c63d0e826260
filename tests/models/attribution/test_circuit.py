"""What a circuit keeps, against hooks of torch's that put the other prompt's answers into the same model."""

import pytest
import torch

from attnviz.models.attribution.circuit import Ablation, Member, find_circuit
from attnviz.models.capture import capture, logit_diff
from tests.models.capture.leaves import values_of
from tests.models.tiny import changed, tokens
from tests.models.tiny_streams import STREAMS

MEMBERS = [(0, 2), (1, 0), (1, 5), (2, None), (0, None)]


def answers_of(model, family, ids):
    """What output projections are given and MLPs answer, by (layer, whether it is the MLP), by torch alone."""
    _, projection, mlp = STREAMS[family]
    heads = {(n, False): projection.format(n) for n in range(3)}
    mlps = {(n, True): mlp.format(n) for n in range(3)}
    return values_of(model, heads, mlps, lambda: model(input_ids=ids))


def lead_by_hooks(model, family, ids, members, instead):
    """The lead of 7 over 9 when all but the members are replaced by `instead`, by torch alone."""
    _, projection, mlp = STREAMS[family]
    heads = {projection.format(n): n for n in range(3)}
    mlps = {mlp.format(n): n for n in range(3) if (n, None) not in members}

    def put(name, given):
        made, other = (each.unflatten(-1, (6, -1)) for each in (given, instead[heads[name], False]))
        out = [head for head in range(6) if (heads[name], head) not in members]
        made[..., out, :] = other[..., out, :]
        return made.flatten(-2)

    def answer(name, own):
        return instead[mlps[name], True].expand_as(own)

    with changed(model, heads, put, grads=True), changed(model, mlps, answer, answers=True, grads=True):
        logits = model(input_ids=ids).logits[:, -1]
    return (logits[:, 7] - logits[:, 9]).mean()


@pytest.mark.parametrize("family", ["llama", "gpt2", "neox", "granite"])
@pytest.mark.parametrize("by", ["mean", "resample"])
def test_what_members_keep_is_what_hooks_leave_of_the_lead(family, by):
    model, ids = STREAMS[family][0](), tokens(1)
    others = [tokens(1, seed=5)] if by == "resample" else [tokens(1, seed=5), tokens(2, seed=6)]
    every = [answers_of(model, family, other) for other in others]
    instead = {place: torch.cat([seen[place] for seen in every]).mean(0, keepdim=True) for place in every[0]}
    ablation = Ablation(model, ids, others, logit_diff(7, 9), by=by)
    assert ablation.per_position
    leads = {n: lead_by_hooks(model, family, ids, MEMBERS[:n], instead).item() for n in (0, 2, 5)}
    with torch.no_grad():
        logits = model(input_ids=ids).logits[0, -1]
    whole = float(logits[7] - logits[9])
    assert ablation.whole == pytest.approx(whole, abs=1e-4)
    assert ablation.ablated == pytest.approx(leads[0], abs=1e-4)
    for n in (2, 5):
        wanted = (leads[n] - leads[0]) / (whole - leads[0])
        assert ablation.kept(MEMBERS[:n]) == pytest.approx(wanted, abs=1e-3)


def slope(model, family, prompt, part, own, new):
    """How fast the prompt's lead falls as a part's answer goes from `own` to `new`, by autograd through hooks."""
    everything = {(n, each) for n in range(3) for each in (*range(6), None)}
    share, start = torch.zeros((), requires_grad=True), answers_of(model, family, prompt)
    instead = {place: start[place] + share * (new[place] - own[place]) for place in own}
    lead = lead_by_hooks(model, family, prompt, everything - {part}, instead)
    return -torch.autograd.grad(lead, share)[0].item()


@pytest.mark.parametrize("family", ["llama", "gpt2", "granite"])
def test_effects_are_the_mean_slope_at_both_prompts_along_what_replaces_a_part(family):
    model, ids, other = STREAMS[family][0](), tokens(1), tokens(1, seed=5)
    found = Ablation(model, ids, other, logit_diff(7, 9), by="resample").effects()
    own, new = answers_of(model, family, ids), answers_of(model, family, other)
    assert len(found) == 3 * 7
    for part, effect in found.items():
        slopes = [slope(model, family, prompt, part, own, new) for prompt in (ids, other)]
        assert effect == pytest.approx(sum(slopes) / 2, rel=1e-3, abs=1e-4)


def test_the_order_is_that_of_the_effects_or_of_the_scores_given_and_comes_as_a_table_and_a_picture():
    asked = STREAMS["llama"][0](), tokens(1), tokens(1, seed=5), logit_diff(7, 9)
    ablation = Ablation(*asked)
    parts = capture(asked[0], input_ids=tokens(1), residual=True).logit_attribution(logit_diff(7, 9))
    assert ablation.direct[Member(1, 4)] == pytest.approx(float(parts.heads[0, 1, 4]))
    assert ablation.direct[Member(2)] == pytest.approx(float(parts.mlps[0, 2]))
    given = find_circuit(*asked, scores={(1, None): -3.0, (0, 4): 2.0}, sizes=(2,))
    assert given.members[:2] == ((1, None), (0, 4))
    found = find_circuit(*asked, sizes=(2, 5))
    assert dict(zip(found.members, found.scores, strict=True)) == pytest.approx(ablation.effects())
    frame = found.to_dataframe()
    assert list(zip(frame.layer, frame.part, strict=True)) == [
        (layer, "mlp" if head is None else head) for layer, head in found.members
    ]
    assert frame.score.tolist() == pytest.approx(found.scores)
    measured = frame.dropna(subset="kept")
    assert list(zip(measured["size"], measured.kept, strict=True)) == list(zip(found.sizes, found.kept, strict=True))
    assert tuple(found.plot().data[0].y) == found.kept
