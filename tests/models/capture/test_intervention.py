import pytest
import torch
from torch.testing import assert_close

from attnviz.base.message import Problem
from attnviz.core.masks import causal
from attnviz.models.capture import Edit, intervene
from attnviz.models.capture.run import capture
from tests.models.tiny import bert, eager, equal_weights, given_to, llama, padded, tokens, zeros


@pytest.mark.parametrize("build", [llama, bert])
@pytest.mark.parametrize(
    "nothing",
    [
        Edit(scale=8**-0.5, layers=1),
        Edit(scale="sqrt", heads=(0, 3)),
        Edit(factor=1.0),
        Edit(change=lambda q, k, v: (q, k, v)),
        Edit(change=lambda q, k, v: (q, k, v), heads=[2]),
    ],
)
def test_an_edit_that_changes_nothing_changes_nothing(build, nothing):
    model, inputs = build(), {"input_ids": tokens(), "attention_mask": padded("right")}
    before, after = capture(model, **inputs, logits="all"), intervene(model, nothing, **inputs, logits="all")
    assert_close(after.logits, before.logits, atol=1e-5, rtol=1e-5)
    for one, other in zip(before.layers, after.layers, strict=True):
        assert_close(one.weights(), other.weights(), atol=1e-5, rtol=0)


def test_silencing_a_head_equals_zeroing_its_slice_of_the_output_projection_s_input():
    model, ids = llama(), tokens()
    after = intervene(model, Edit(layers=0, heads=(1, 4), silence=True), input_ids=ids)
    with given_to(model, "model.layers.0.self_attn.o_proj", zeros([*range(8, 16), *range(32, 40)])):
        expected = model(input_ids=ids).logits[:, -1]
    assert_close(after.logits, expected, atol=1e-5, rtol=1e-5)
    assert after.layers[0].silenced == {1, 4}
    before = capture(model, input_ids=ids)  # the model is as it was, and what an edit does to later layers is seen
    assert model.config._attn_implementation == "sdpa"
    assert_close(before.logits, capture(llama(), input_ids=ids).logits, atol=0, rtol=0)
    assert not torch.allclose(after.logits, before.logits, atol=1e-3)
    assert not torch.allclose(before.layers[1].weights(), after.layers[1].weights(), atol=1e-3)


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


@pytest.mark.parametrize("build", [llama, bert])
def test_uniform_attention_is_even_over_the_keys_that_may_be_seen(build):
    model, ids = build(), tokens()
    layer = intervene(model, Edit(layers=0, heads=(2,), uniform=True), input_ids=ids).layers[0]
    seen = layer.mask.expand(2, layer.n_heads, 7, 7)[:, 2:3].float()
    assert_close(layer.weights(2), seen / seen.sum(-1, keepdim=True))


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
        (Edit(heads=[], silence=True), "heads is empty: name at least one"),
        (Edit(heads="3", silence=True), "heads='3' must be a number, several numbers, or \"all\""),
        (Edit(layers=1.5, silence=True), "layers=1.5 must be a number"),
        (Edit(kind="cross", silence=True), "LlamaForCausalLM has no layer of this kind to change"),
        (Edit(stack="encoder", silence=True), "LlamaForCausalLM has no layer of this kind to change"),
        (Edit(change=lambda q, k, v: (q, k)), "the function must return three tensors"),  # type: ignore[return-value]
        (Edit(change=lambda q, k, v: None), "the function must return three tensors"),
        (Edit(change=lambda q, k, v: (q, k, v[0, 0, 0])), "the function returned v of shape"),
        (Edit(layers=2, silence=True), "LlamaForCausalLM has no layer 2 to change"),
        (Edit(heads=6, silence=True), "head 6 does not exist: layer 0 has heads 0 to 5"),
        (Edit(mask=torch.ones(2, 2, dtype=torch.bool)), r"it must broadcast to \(2, 6, 7, 7\)"),
        (Edit(change=lambda q, k, v: (q, k[..., :3], v)), "the function returned q of shape"),
    ],
)
def test_invalid_edits_are_refused_in_one_sentence(edit, sentence):
    with pytest.raises(Problem, match=sentence):
        intervene(llama(), edit, input_ids=tokens())
