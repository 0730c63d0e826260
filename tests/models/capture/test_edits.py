"""Heads, weights and streams that are changed, against hooks on the model's own modules and edits said otherwise."""

from typing import Any

import pytest
import torch
from torch.testing import assert_close

import attnviz as av
from attnviz.base.message import Problem
from attnviz.core.masks import causal
from attnviz.models.capture import Edit, Trace, capture, intervene
from tests.models.capture.plain_models import Own
from tests.models.tiny import bert, eager, equal_weights, given_to, llama, padded, tokens, zeros
from tests.models.tiny_streams import STREAMS

MODEL, IDS = llama(), tokens()


@pytest.mark.parametrize("family", STREAMS)
def test_silencing_a_head_equals_zeroing_its_slice_of_the_output_projection_s_input(family):
    build, projection, _ = STREAMS[family]
    model = build()
    found = intervene(model, Edit(layers=1, heads=(1, 4), silence=True), input_ids=IDS).logits
    with given_to(model, projection.format(1), zeros([*range(8, 16), *range(32, 40)])):
        expected = model(input_ids=IDS).logits[:, -1]
    assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_a_causal_mask_forced_on_an_encoder_equals_running_it_with_that_mask():
    model, ids = bert(), tokens()
    after = intervene(model, Edit(mask=causal(7)), input_ids=ids, logits="all")
    masked = causal(7).expand(2, 1, 7, 7)
    reference = eager(model, input_ids=ids, attention_mask=torch.zeros(2, 1, 7, 7).masked_fill(~masked, -1e9))
    assert_close(after.logits, reference.logits, atol=1e-4, rtol=1e-4)
    equal_weights(after.layers, reference.attentions)
    assert_close(capture(model, input_ids=ids)[0].weights(mask=causal(7)), reference.attentions[0], atol=1e-5, rtol=0)


EYE = torch.eye(7, dtype=torch.bool)


@pytest.mark.parametrize(
    "edit, asked",
    [
        ({"mask": None}, {"mask": None}),
        ({"mask": EYE}, {"mask": EYE}),
        ({"scale": None}, {"scale": None}),
        ({"scale": "sqrt"}, {}),
        ({"factor": 2.0}, {"scale": 2 * 8**-0.5}),
        ({"mask": EYE.roll(1, 1), "scale": 0.9}, {"mask": EYE.roll(1, 1), "scale": 0.9}),
    ],
    ids=str,
)
def test_chosen_heads_are_what_the_recorded_layer_gives_under_that_mask_and_scale(edit, asked):
    model, inputs = llama(), {"input_ids": tokens(), "attention_mask": padded("right")}
    before = capture(model, **inputs)[0]
    after = intervene(model, Edit(layers=0, heads=(5, 3), **edit), **inputs)[0]
    assert_close(after.weights([5, 3]), before.weights([5, 3], **asked))
    assert_close(after.weights([0, 1, 2, 4]), before.weights([0, 1, 2, 4]))
    assert_close(after.stages(3).scores, before.stages(3).scores)
    assert after.scale_of(3) == pytest.approx(asked.get("scale", before.scale) or 1.0)


def test_a_function_that_writes_in_place_reaches_its_own_heads_only():
    model, ids = llama(), tokens()

    def in_place(q, k, v):
        for tensor in (q, k, v):
            tensor.mul_(-0.5)
        return q, k, v

    found, expected = (
        intervene(model, Edit(layers=0, heads=(1, 4), change=change), input_ids=ids)
        for change in (in_place, lambda q, k, v: (-0.5 * q.double(), -0.5 * k.double(), -0.5 * v.double()))
    )
    assert_close(found.logits, expected.logits)  # in whatever number type a function calculates
    before = capture(model, input_ids=ids).layers[0]
    assert_close(found.layers[0].weights([0, 2, 3, 5]), before.weights([0, 2, 3, 5]))


@pytest.mark.parametrize("how", ["wrapped", "in place", "parts", "forward"])
def test_a_compiled_model_is_read_and_changed_as_the_plain_one(how):
    model, ids = llama(), tokens()
    edit = Edit(layers=1, heads=2, silence=True)
    expected, plain = intervene(model, edit, input_ids=ids), capture(model, input_ids=ids)
    calls = []

    def backend(graph, inputs):  # a graph that is run although none should be
        calls.append(graph)
        return graph.forward

    if how == "wrapped":
        model = torch.compile(model, backend=backend, fullgraph=True)
    elif how == "in place":
        model.compile(backend=backend)
    elif how == "forward":
        model.forward = torch.compile(model.forward, backend=backend)
    else:
        model.model.layers[1] = torch.compile(model.model.layers[1], backend=backend)
    for found, wanted in ((intervene(model, edit, input_ids=ids), expected), (capture(model, input_ids=ids), plain)):
        assert_close(found.logits, wanted.logits)
        assert [layer.name for layer in found.layers] == [layer.name for layer in wanted.layers]
    assert not calls
    with torch.no_grad():
        torch.compile(lambda x: x + 1, backend=backend)(torch.ones(1))
    assert calls  # and what comes afterwards is compiled again


@pytest.mark.parametrize(
    "edit, sentence",
    [
        (Edit(layers=(), silence=True), "layers is empty: name at least one"),
        (Edit(heads="3", silence=True), "heads='3' must be a number, several numbers, or \"all\""),
        (Edit(kind="cross", silence=True), "LlamaForCausalLM has no layer of this kind to change"),
        (Edit(change=lambda q, k, v: (q, k)), "the function must return three tensors"),  # type: ignore[return-value]
        (Edit(layers=2, silence=True), "LlamaForCausalLM has no layer 2 to change"),
        (Edit(heads=6, silence=True), "head 6 does not exist: layer 0 has heads 0 to 5"),
        (Edit(mask=torch.ones(2, 2, dtype=torch.bool)), r"it must broadcast to \(2, 6, 7, 7\)"),
        (Edit(change=lambda q, k, v: (q, k[..., :3], v)), "the function returned q of shape"),
        (Edit(layers=0, weights=torch.ones(3, 3)), r"weights has shape \(3, 3\); it must broadcast to \(2, 6, 7, 7\)"),
        (Edit(layers=0, block=[(7, 0)]), r"block holds \(7, 0\); this layer has 7 queries and 7 keys"),
        (Edit(layers=0, output={}), "output has nothing for the layer model.layers.0.self_attn"),
    ],
)
def test_invalid_edits_are_refused_in_one_sentence(edit, sentence):
    with pytest.raises(Problem, match=sentence):
        intervene(llama(), edit, input_ids=tokens())


def test_weights_put_into_a_head_are_what_it_multiplies_its_values_by():
    values = capture(MODEL, input_ids=IDS)[0].v[:, 1]  # of heads 3 to 5
    eye = torch.eye(7).roll(1, 1) * 2.0  # sums to 2, looks ahead: nothing is normalised or masked again

    def write(z):
        z[..., 32:40] = eye @ values
        return z

    after = intervene(MODEL, Edit(layers=0, heads=4, weights=eye), input_ids=IDS)
    with given_to(MODEL, "model.layers.0.self_attn.o_proj", write):
        assert_close(after.logits, MODEL(input_ids=IDS).logits[:, -1], atol=1e-4, rtol=1e-4)
    assert_close(after[0].weights(4), eye.expand(2, 1, 7, 7))
    assert_close(after[0].weights([0, 1, 2, 3, 5]), capture(MODEL, input_ids=IDS)[0].weights([0, 1, 2, 3, 5]))


def test_later_edits_win_and_a_saved_trace_keeps_them(tmp_path):
    model, ids = llama(), tokens()
    edits = [Edit(layers=0, heads=1, silence=True), Edit(layers=0, heads=1, output=lambda z: z * 0 + 3.0)]
    after = intervene(model, edits, input_ids=ids)
    assert after[0].head_outputs(1).unique().tolist() == [3.0]
    after.save(tmp_path / "t")
    assert_close(Trace.load(tmp_path / "t")[0].head_outputs(), after[0].head_outputs())
    silent = intervene(model, edits[::-1], input_ids=ids)
    assert silent[0].head_outputs(1).unique().tolist() == [0.0]


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


# Edits by the field's names do what the same written as an Edit does.
MEANS = av.mean_outputs(MODEL, [tokens(seed=4)])
OTHER = av.capture(MODEL, tokens(seed=5))
VECTOR = torch.randn(48, generator=torch.Generator().manual_seed(0))
SAME = {
    "ablate by zero": (av.ablate(1, 2), av.Edit(1, 2, silence=True)),
    "ablate by mean": (av.ablate(1, 2, by="mean", source=MEANS), av.Edit(1, 2, output=MEANS)),
    "ablate by resample": (av.ablate(1, 2, by="resample"), av.Edit(1, 2, output=lambda own: own.roll(1, 0))),
    "ablate by another prompt": (av.ablate(0, by="resample", source=OTHER, at=-1), av.Edit(0, output=OTHER, at=-1)),
    "knockout": (av.knockout(0, queries=[-1, 3], keys=[0, 1]), av.Edit(0, block=[(6, 0), (6, 1), (3, 0), (3, 1)])),
    "steer": (av.steer(1, VECTOR, factor=2.0, at=3), av.Edit(1, stream=lambda own: own + 2 * VECTOR, at=3)),
}


@pytest.mark.parametrize("name", SAME)
def test_it_is_the_edit_that_it_names(name: str) -> None:
    one, two = (av.intervene(MODEL, edit, IDS).logits for edit in SAME[name])
    assert_close(one, two)
    assert not torch.equal(one, av.capture(MODEL, IDS).logits)


@pytest.mark.parametrize("wrong", [{"by": "median"}, {"by": "mean"}, {"source": OTHER}])
def test_an_ablation_without_its_source_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(av.Problem, match="by="):
        av.ablate(0, 0, **wrong)


# The residual stream, changed where it enters a block.
MODELS: dict[str, Any] = {"llama": llama, "bert": bert, "plain": lambda: Own().eval()}
LISTS = {"llama": "model.layers", "bert": "bert.encoder.layer", "plain": "h"}


@pytest.mark.parametrize("name", MODELS)
def test_another_text_s_stream_everywhere_gives_that_text_s_answer(name: str) -> None:
    model, ids, other = MODELS[name](), tokens(2, 7), tokens(2, 7, seed=5)
    clean = av.capture(model, other, logits="all", residual=True)
    for layer in (0, 1):
        found = av.intervene(model, Edit(layers=layer, stream=clean), ids, logits="all")
        assert_close(found.logits, clean.logits, atol=1e-5, rtol=1e-5)
    by_name = av.intervene(model, Edit(f"{LISTS[name]}.1", stream=clean), ids, logits="all")
    assert_close(by_name.logits, clean.logits, atol=1e-5, rtol=1e-5)


def test_a_function_of_the_stream_and_an_edit_of_heads_beside_it() -> None:
    model, ids = llama(), tokens()
    half = Edit(layers=1, stream=lambda own: own / 2)
    both = av.intervene(model, [half, Edit(layers=1, heads=2, silence=True)], input_ids=ids, residual=True)
    plain = av.capture(model, input_ids=ids, residual=True)
    assert_close(both.residual[1], plain.residual[1] / 2)
    assert both[1].silenced == {2}
    assert not both[0].silenced
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_a_change_after_another_of_the_same_head_gets_what_that_one_made():
    model, ids, given = llama(), tokens(), []
    first = Edit(layers=0, heads=1, change=lambda q, k, v: (q + 1, k, v))
    second = Edit(layers=0, heads=1, change=lambda q, k, v: (given.append(q.clone()), (2 * q, k, v))[1])
    found = intervene(model, [first, second], input_ids=ids)
    plain = capture(model, input_ids=ids).layers[0].q[:, 1]
    assert_close(given[0][:, 1], plain + 1)
    assert_close(found.layers[0].q[:, 1], 2 * (plain + 1))
