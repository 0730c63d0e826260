"""Weights, positions and outputs put into a head, against hooks on the model's own modules."""

import pytest
import torch
from torch.testing import assert_close

from attnviz.base.message import Problem
from attnviz.models.capture import Edit, intervene
from attnviz.models.capture.run import capture
from attnviz.models.capture.trace import Trace
from tests.models.tiny import bert, given_to, llama, tokens


def with_input_of_o_proj(model, layer, change, ids):
    """The logits when `change` is done to what one output projection is given, by a hook."""
    with given_to(model, f"model.layers.{layer}.self_attn.o_proj", change):
        return model(input_ids=ids).logits[:, -1]


def test_patching_one_head_at_some_positions_equals_a_hook_that_copies_its_slice():
    model, ids, clean = llama(), tokens(), tokens(seed=9)
    source = {}
    handle = model.model.layers[1].self_attn.o_proj.register_forward_pre_hook(
        lambda module, given: source.update(z=given[0].detach())
    )
    other = capture(model, input_ids=clean)
    handle.remove()

    def copy(z):
        z[:, [2, 6], 16:24] = source["z"][:, [2, 6], 16:24]
        return z

    patched = intervene(model, Edit(layers=1, heads=2, output=other, at=[2, -1]), input_ids=ids)
    assert_close(patched.logits, with_input_of_o_proj(model, 1, copy, ids), atol=1e-4, rtol=1e-4)
    assert not torch.allclose(patched.logits, capture(model, input_ids=ids).logits, atol=1e-3)


def test_weights_put_into_a_head_are_what_it_multiplies_its_values_by():
    model, ids = llama(), tokens()
    values = capture(model, input_ids=ids)[0].v[:, 1]  # of heads 3 to 5
    eye = torch.eye(7).roll(1, 1) * 2.0  # sums to 2, looks ahead: nothing is normalised or masked again

    def write(z):
        z[..., 32:40] = eye @ values
        return z

    after = intervene(model, Edit(layers=0, heads=4, weights=eye), input_ids=ids)
    assert_close(after.logits, with_input_of_o_proj(model, 0, write, ids), atol=1e-4, rtol=1e-4)
    assert_close(after[0].weights(4), eye.expand(2, 1, 7, 7))
    assert_close(after[0].weights([0, 1, 2, 3, 5]), capture(model, input_ids=ids)[0].weights([0, 1, 2, 3, 5]))


def test_a_blocked_position_has_no_weight_and_the_rest_of_its_row_is_what_softmax_makes_of_it():
    model, ids = llama(), tokens()
    own = capture(model, input_ids=ids)[0].weights(2)[:, 0, -1]
    row = intervene(model, Edit(layers=0, heads=2, block=[(-1, 0), (6, 3)]), input_ids=ids)[0].weights(2)[:, 0, -1]
    kept = own.clone()
    kept[:, [0, 3]] = 0
    assert_close(row, kept / kept.sum(-1, keepdim=True), atol=1e-5, rtol=1e-5)


def test_later_edits_win_and_a_saved_trace_keeps_them(tmp_path):
    model, ids = llama(), tokens()
    edits = [Edit(layers=0, heads=1, silence=True), Edit(layers=0, heads=1, output=lambda z: z * 0 + 3.0)]
    after = intervene(model, edits, input_ids=ids)
    assert after[0].head_outputs(1).unique().tolist() == [3.0]
    after.save(tmp_path / "t")
    assert_close(Trace.load(tmp_path / "t")[0].head_outputs(), after[0].head_outputs())
    silent = intervene(model, edits[::-1], input_ids=ids)
    assert silent[0].head_outputs(1).unique().tolist() == [0.0]


@pytest.mark.parametrize(
    "edit, said",
    [
        (Edit(layers=0, weights=torch.ones(3, 3)), r"weights has shape \(3, 3\); it must broadcast to \(2, 6, 7, 7\)"),
        (Edit(layers=0, block=[(7, 0)]), r"block holds \(7, 0\); this layer has 7 queries and 7 keys"),
        (Edit(layers=0, output={}), "output has nothing for the layer model.layers.0.self_attn"),
    ],
)
def test_what_does_not_fit_is_named(edit, said):
    with pytest.raises(Problem, match=said):
        intervene(llama(), edit, input_ids=tokens())


KINDS = {
    "silence": {"silence": True},
    "factor": {"factor": 3.0},
    "scale": {"scale": None},
    "uniform": {"uniform": True},
    "mask": {"mask": torch.eye(7, dtype=torch.bool)},
    "block": {"block": [(-1, 0), (5, 0), (5, 1)]},
    "change": {"change": lambda q, k, v: (q, k, v * 2 + 1)},
    "weights": {"weights": lambda w: w.flip(-1)},
    "output": {"output": lambda z: z + 1},
}


@pytest.mark.parametrize(
    "model, name",
    [(llama, "model.layers.0.self_attn"), (bert, "bert.encoder.layer.0.attention.self")],
    ids=["llama", "bert"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_at_other_positions_the_layer_hands_on_the_models_own_to_the_last_bit(kind, model, name):
    net, ids, seen = model(), tokens(), []
    handle = net.get_submodule(name).register_forward_hook(lambda module, args, out: seen.append(out[0].detach()))
    capture(net, input_ids=ids)
    intervene(net, Edit(0, 2, at=[5, -1], **KINDS[kind]), input_ids=ids)
    everywhere = intervene(net, Edit(0, 2, **KINDS[kind]), input_ids=ids)
    handle.remove()
    own, changed, wholly = seen
    assert torch.equal(changed[:, :5], own[:, :5])
    assert_close(changed[:, 5:], wholly[:, 5:], atol=1e-5, rtol=1e-5)
    assert not torch.allclose(changed[:, 5:], own[:, 5:], atol=1e-4)
    assert everywhere[0].rows == ((5, 6) if kind == "block" else tuple(range(7)))
