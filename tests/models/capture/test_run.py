import gc
import itertools
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch
from torch import nn
from torch.testing import assert_close
from transformers import MambaConfig, MambaForCausalLM

from attnviz.base.message import Problem
from attnviz.core.attention import attend
from attnviz.core.masks import causal
from attnviz.models.capture import Edit, adapter, adopt, capture, intervene
from attnviz.models.capture.adapter import NAME, switched
from attnviz.models.capture.output_projection import lengths_through, output_projection_of, value_lengths
from tests.models.tiny import bert, eager, equal_weights, given_to, llama, padded, tokens, zeros


@pytest.mark.parametrize("build", [llama, bert])
def test_left_padding_leaves_rows_without_a_key_at_zero_in_a_decoder(build):
    model, inputs = build(), {"input_ids": tokens(), "attention_mask": padded("left")}
    layers = capture(model, **inputs).layers
    equal_weights(layers, eager(model, **inputs).attentions)
    stages = layers[0].stages(4)
    assert stages.empty_rows[0, 0].tolist() == [build is llama] * 3 + [False] * 4
    assert (stages.weights[0, 0, :3].count_nonzero() == 0) == (build is llama)


@pytest.mark.parametrize("build", [llama, bert])
def test_recording_leaves_the_logits_as_they_were(build):
    model, ids = build(), tokens()
    with torch.no_grad():
        plain = model(input_ids=ids).logits
    assert torch.equal(capture(model, input_ids=ids, logits="all").logits, plain)
    assert_close(capture(model, input_ids=ids, logits="last").logits, plain[:, -1])
    assert capture(model, input_ids=ids, logits=None).logits is None


@pytest.mark.parametrize("side", ["left", "right"])
def test_last_logits_are_those_of_the_last_real_token(side):
    model, inputs = llama(), {"input_ids": tokens(), "attention_mask": padded(side)}
    with torch.no_grad():
        plain = model(**inputs).logits
    last = 3 if side == "right" else 6
    assert_close(capture(model, **inputs).logits, torch.stack([plain[0, last], plain[1, 6]]))


@pytest.mark.parametrize("logits", ["last", "all", None])
@pytest.mark.parametrize("build", [llama, bert])
def test_labels_may_be_given(build, logits):
    model, inputs = build(), {"input_ids": tokens(), "attention_mask": padded("left")}
    found = capture(model, **inputs, labels=tokens(), logits=logits)
    expected = capture(model, **inputs, logits=logits)
    assert len(found.layers) == len(expected.layers) == 2
    if logits is None:
        assert found.logits is None
    else:
        assert_close(found.logits, expected.logits)


def test_heads_can_be_asked_for_one_by_one_or_together(monkeypatch):
    layer = capture(llama(), input_ids=tokens()).layers[1]
    every, mask = layer.weights(), torch.rand(6, 7, 7) > 0.5
    masked = layer.weights(mask=mask)
    assert_close(layer.weights([4, 1]), every[:, [4, 1]])
    assert_close(layer.weights(5), every[:, 5:6])
    assert_close(layer.stages(3).weights, every[:, 3:4])
    monkeypatch.setattr("attnviz.models.capture.recorded_layer.CHUNK", 1)  # as of a long sequence: a few at a time
    assert_close(layer.weights(), every)
    assert_close(layer.weights(mask=mask), masked)


def test_scale_none_leaves_the_scores_as_they_are():
    layer = capture(llama(), input_ids=tokens()).layers[0]
    stages = layer.stages(0, scale=None)
    assert torch.equal(stages.scores, stages.scaled)
    assert_close(
        layer.weights(0, scale=None), attend(layer.q[:, :1], layer.k[:, :1], layer.v[:, :1], layer.mask, None).weights
    )
    assert_close(layer.weights(scale="sqrt"), layer.weights())
    assert layer.scale == pytest.approx(8**-0.5)


def test_another_mask_replaces_the_pattern_but_never_uncovers_padding():
    layer = capture(llama(), input_ids=tokens(), attention_mask=padded("right")).layers[0]
    free, mine = layer.weights(mask=None), torch.ones(7, 7, dtype=torch.bool)
    assert free[1].count_nonzero() == free[1].numel()
    assert free[0, :, :, 4:].count_nonzero() == 0
    assert (free[0, :, :, :4] > 0).all()
    assert_close(free, layer.weights(mask=mine))
    assert layer.weights(mask=~mine).count_nonzero() == 0
    mine[:, 2] = False
    narrowed = layer.weights(mask=layer.mask & mine)
    assert narrowed[..., 2].count_nonzero() == 0
    assert narrowed.triu(1).count_nonzero() == 0


def test_a_key_that_only_some_heads_hide_is_no_padding():
    model, ids = llama(), tokens(1)
    allowed = causal(7, 7).expand(1, 6, 7, 7).clone()
    allowed[:, 0, :, 2] = False  # one head's own pattern
    allowed[:, :, :, 5] = False  # all heads'
    allowed[:, :, 5, 5] = False
    layer = capture(model, input_ids=ids, attention_mask=allowed).layers[0]
    assert torch.equal(layer.padding, (torch.arange(7) != 5)[None, None, None])
    assert torch.equal(layer.real_queries, (torch.arange(7) != 5)[None, None])
    free = layer.weights(mask=None)
    assert (free[0, :, :, 2] > 0).all()
    assert free[0, :, :, 5].count_nonzero() == 0
    assert_close(free[:, 3:4], layer.weights(3, mask=None))
    assert layer.weights()[0, 0, :, 2].count_nonzero() == 0


def test_one_new_token_sees_its_padding_still_hidden():
    model, mask = llama(), padded("left", length=8)
    ids = tokens(length=8)
    with torch.no_grad():
        cache = model(input_ids=ids[:, :7], attention_mask=mask[:, :7], use_cache=True).past_key_values
        whole = model(input_ids=ids, attention_mask=mask).logits
    trace = capture(model, input_ids=ids[:, 7:], attention_mask=mask, past_key_values=cache)
    assert_close(trace.logits, whole[:, -1], atol=1e-4, rtol=0)
    free = trace[0].weights(mask=None)
    assert free[0, :, :, :3].count_nonzero() == 0
    assert (free[0, :, :, 3:] > 0).all()


def test_a_foreign_model_is_given_back_as_it_came():
    model = llama()
    capture(model, input_ids=tokens())
    assert model.config._attn_implementation == "sdpa"
    with pytest.raises(RuntimeError):
        capture(model, input_ids=tokens(), attention_mask=torch.ones(2, 3, 5, 9, dtype=torch.bool))
    assert model.config._attn_implementation == "sdpa"


def test_an_adopted_model_runs_as_before_and_records_only_when_asked():
    model, ids = llama(), tokens()
    with torch.no_grad():
        before = model(input_ids=ids).logits
        with switched(model):
            adopt(model)  # during a capture, too
        after = model(input_ids=ids).logits
    assert torch.equal(before, after)
    assert model.config._attn_implementation == NAME
    assert len(capture(model, input_ids=ids).layers) == 2
    assert model.config._attn_implementation == NAME
    assert adopt(llama()).config._attn_implementation == NAME


@pytest.mark.parametrize("own", [True, False])
def test_eight_threads_on_one_model_lose_no_layer(own):
    model = adopt(llama()) if own else llama()
    sentences = [tokens(1, 4 + n, seed=n) for n in range(8)]
    expected = [capture(model, input_ids=ids).layers[1].weights() for ids in sentences]
    wrong = []

    def work(n: int) -> None:
        for _ in range(10):
            trace = capture(model, input_ids=sentences[n])
            if len(trace.layers) != 2 or not torch.allclose(trace.layers[1].weights(), expected[n], atol=1e-6):
                wrong.append(n)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert wrong == []
    assert model.config._attn_implementation == (NAME if own else "sdpa")


def test_another_thread_that_asks_for_eager_attentions_meanwhile_gets_them():
    model, ids = llama(), tokens()
    model.set_attn_implementation("eager")
    with torch.no_grad():
        expected = model(input_ids=ids, output_attentions=True).attentions
    stop, wrong = threading.Event(), []

    def outsider() -> None:
        with torch.no_grad():
            while not stop.is_set():
                found = model(input_ids=ids, output_attentions=True).attentions
                if found[1] is None or not torch.equal(found[1], expected[1]):
                    wrong.append(found)

    thread = threading.Thread(target=outsider)
    thread.start()
    layers = [len(capture(model, input_ids=ids).layers) for _ in range(30)]
    stop.set()
    thread.join()
    assert wrong == []
    assert set(layers) == {2}
    assert model.config._attn_implementation == "eager"


@pytest.mark.parametrize("own", [True, False])
def test_another_way_of_running_a_model_waits_for_the_captures_that_are_under_way(own):
    model = adopt(llama()) if own else llama()
    entered = threading.Event()

    def other() -> None:
        with switched(model, "eager"):
            entered.set()

    thread = threading.Thread(target=other)
    with switched(model):
        thread.start()
        assert not entered.wait(0.3)
        assert model.config._attn_implementation == NAME
    thread.join(5)
    assert entered.is_set()
    assert model.config._attn_implementation == (NAME if own else "sdpa")


def test_a_capture_that_starts_while_another_one_switches_keeps_the_model_switched(monkeypatch):
    model, write = llama(), adapter._set
    entered, go, found = threading.Event(), threading.Event(), []

    def second() -> None:
        with switched(model):
            entered.set()
            go.wait(5)
            found.append(model.config._attn_implementation)

    thread = threading.Thread(target=second)

    def slowly(config, name):
        write(config, name)
        if not thread.ident:
            thread.start()
            entered.wait(0.3)  # the config says ours already, and nothing says yet who has it

    monkeypatch.setattr(adapter, "_set", slowly)
    with switched(model):
        pass
    entered.wait(5)
    go.set()
    thread.join(5)
    assert found == [NAME]
    assert model.config._attn_implementation == "sdpa"


def test_who_runs_a_model_while_it_is_being_switched_is_told_what_it_was(monkeypatch):
    model, write, told = llama(), adapter._set, []

    def watched(config, name):
        write(config, name)
        told.append(adapter.original(model))

    monkeypatch.setattr(adapter, "_set", watched)
    with switched(model):
        pass
    assert told == ["sdpa", "sdpa"]


@pytest.mark.slow
def test_a_thousand_captures_leave_nothing_behind():
    model, ids = llama(num_hidden_layers=1), tokens(1, 4)

    def alive() -> int:
        gc.collect()
        return sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects())

    capture(model, input_ids=ids)
    before = alive()
    for _ in range(1000):
        last = weakref.ref(capture(model, input_ids=ids).layers[0])
    assert last() is None
    assert alive() == before


def test_nbytes_counts_what_the_pass_made_and_not_the_model():
    trace = capture(llama(), input_ids=tokens(), logits=None)
    q, k, v = 2 * 6 * 7 * 8, 2 * 2 * 7 * 8, 2 * 2 * 7 * 8
    lengths = 2 * 6 * 7  # of the values after the output projection: one number beside the 8 of a head
    assert trace.nbytes == 2 * 4 * (q + k + v + lengths)


class Lora(nn.Module):
    """As adapters wrap a layer: `weight` is still that of the layer below."""

    def __init__(self, base_layer: nn.Linear, dropout: float = 0.0) -> None:
        super().__init__()
        self.base_layer = base_layer
        self.lora_A = nn.Linear(base_layer.in_features, 3, bias=False)
        self.lora_B = nn.Linear(3, base_layer.out_features, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.in_features = base_layer.in_features

    @property
    def weight(self):
        return self.base_layer.weight

    def forward(self, x):
        return self.base_layer(x) + 2.0 * self.lora_B(self.lora_A(self.dropout(x)))


def with_lora(**given):
    model = llama()
    torch.manual_seed(3)
    for layer in model.model.layers:
        layer.self_attn.o_proj = Lora(layer.self_attn.o_proj, **given)
    return model


def matrix_of(o):
    """What the layer with its adapter multiplies by."""
    return o.base_layer.weight.detach() + 2.0 * o.lora_B.weight.detach() @ o.lora_A.weight.detach()


def lengths_by_loop(layer, matrix):
    """Each value of each head through that head's columns of the matrix."""
    b, heads, _, k_len = layer.shape
    per, width = heads // layer.v.shape[1], layer.v.shape[-1]
    found = torch.empty(b, heads, k_len)
    for row, head, key in itertools.product(range(b), range(heads), range(k_len)):
        found[row, head, key] = (matrix[:, head * width : (head + 1) * width] @ layer.v[row, head // per, key]).norm()
    return found


@pytest.mark.parametrize("length", [3, 7])  # fewer values than a head is wide, and more
def test_values_go_through_the_output_projection_and_an_adapter_on_it(length):
    model, ids = with_lora(), tokens(length=length)
    for layer, block in zip(capture(model, input_ids=ids).layers, model.model.layers, strict=True):
        o = block.self_attn.o_proj
        assert_close(layer.value_norms(), lengths_by_loop(layer, matrix_of(o)), atol=1e-5, rtol=1e-4)
        assert not torch.allclose(layer.value_norms(), lengths_by_loop(layer, o.weight), rtol=0.02)
        assert_close(output_projection_of(block.self_attn, block, 48), matrix_of(o), atol=1e-6, rtol=1e-5)
    plain = llama()
    layer = capture(plain, input_ids=ids).layers[0]
    w_o = plain.model.layers[0].self_attn.o_proj.weight
    assert_close(layer.value_norms(), lengths_by_loop(layer, w_o), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("build", [llama, bert, with_lora])
def test_a_trace_stays_as_it_was_when_the_model_changes(build):
    model = build()
    trace = capture(model, input_ids=tokens())
    before = [layer.value_norms().clone() for layer in trace.layers]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.data.normal_()
    for layer, norms in zip(trace.layers, before, strict=True):
        assert torch.equal(layer.value_norms(), norms)
        assert layer.w_o is None
    again = capture(model, input_ids=tokens()).layers
    assert not torch.allclose(again[0].value_norms(), before[0], rtol=0.1)


def test_asking_an_adapter_leaves_its_hooks_its_mode_and_chance_alone():
    model = with_lora(dropout=0.5).train()
    o, told = model.model.layers[0].self_attn.o_proj, []
    o.register_forward_hook(lambda *_: told.append(1))
    torch.manual_seed(5)
    with torch.no_grad():
        plain = model(input_ids=tokens()).logits[:, -1]
    torch.manual_seed(5)
    trace = capture(model, input_ids=tokens())
    assert len(told) == 2  # one pass each
    assert all(module.training for module in model.modules())
    assert_close(trace.logits, plain)
    assert_close(trace[0].value_norms(), lengths_by_loop(trace[0], matrix_of(o)), atol=1e-5, rtol=1e-4)


def test_two_threads_may_ask_one_adapter_in_training_at_once():
    o = with_lora(dropout=0.5).train().model.layers[0].self_attn.o_proj
    modes, inside, second_done = [], threading.Event(), threading.Event()
    forward = o.lora_A.forward

    def watched(x):  # the first thread stands still in its question until the second one has had its answer
        modes.append(o.dropout.training)
        if not inside.is_set():
            inside.set()
            second_done.wait(5)
        return forward(x)

    o.lora_A.forward = watched
    v, found = torch.randn(1, 2, 3, 8, generator=torch.Generator().manual_seed(2)), []
    first = threading.Thread(target=lambda: found.append(lengths_through(o, v, 6)))
    first.start()
    inside.wait(5)
    with torch.no_grad():
        o(torch.randn(1, 48))  # whoever trains it meanwhile
    found.append(lengths_through(o, v, 6))
    second_done.set()
    first.join(5)
    for lengths in found:
        assert_close(lengths, value_lengths(v, matrix_of(o), 6), atol=1e-5, rtol=1e-4)
    assert all(modes), "the dropout of the layer itself was never switched off"


class Hooked(nn.Module):
    """As libraries wrap a layer that is there: a partial on the module stands in the place of its forward."""

    def __init__(self, inner: nn.Linear) -> None:
        super().__init__()
        self.inner, self.drop = inner, nn.Dropout(0.5)
        self.in_features = inner.in_features
        self.forward = partial(Hooked.wrapped, self)

    def wrapped(self, x):
        return self.inner(self.drop(x))


def test_a_layer_whose_forward_was_replaced_is_asked_without_dropout():
    layer = Hooked(nn.Linear(48, 48)).train()
    v = torch.randn(1, 2, 3, 8, generator=torch.Generator().manual_seed(2))
    assert_close(lengths_through(layer, v, 6), value_lengths(v, layer.inner.weight.detach(), 6), atol=1e-5, rtol=1e-4)
    assert layer.drop.training


def test_an_output_projection_that_cannot_be_asked_costs_the_lengths_only():
    class Counts(nn.Linear):
        def forward(self, x):
            if x.dim() != 3:
                raise RuntimeError("three dimensions, please")
            return super().forward(x)

    model = llama()
    plain = capture(model, input_ids=tokens())
    for layer in model.model.layers:
        weight = layer.self_attn.o_proj.weight
        layer.self_attn.o_proj = Counts(48, 48, bias=False)
        layer.self_attn.o_proj.weight = weight
    trace = capture(model, input_ids=tokens())
    assert_close(trace.logits, plain.logits)
    with pytest.raises(Problem, match="value weighting is not available"):
        trace.layers[0].value_norms()


def test_a_model_without_attention_and_ids_that_are_no_batch_are_refused_in_one_sentence():
    model = MambaForCausalLM(MambaConfig(hidden_size=16, num_hidden_layers=1, vocab_size=50, state_size=4))
    with pytest.raises(Problem, match="MambaForCausalLM has no attention layers"):
        capture(model, input_ids=tokens(1, 4) % 50)
    with pytest.raises(Problem, match=r"input_ids has shape \(7,\); it must be \(batch, length\)"):
        capture(llama(), input_ids=tokens()[0])
    with pytest.raises(Problem, match=r"logits='first' must be \"last\", \"all\" or None"):
        capture(llama(), input_ids=tokens(), logits="first")


@pytest.mark.parametrize(
    "ask, sentence",
    [
        *(
            ({"heads": heads}, r"^heads=.* must be a number or several numbers$")
            for heads in (1.5, "3", True, [True, False, False, True, False, False], [0.0, 1.9])
        ),
        ({"heads": 6}, "head 6 does not exist: layer 0 has heads 0 to 5"),
        ({"heads": []}, "heads must name at least one head"),
        ({"mask": torch.ones(3, 3, dtype=torch.bool)}, r"mask has shape \(3, 3\); it must broadcast to \(2, 6, 7, 7\)"),
        ({"mask": torch.ones(7, 7)}, "mask has dtype torch.float32; it must be boolean"),
        ({"mask": "causal"}, "mask='causal' must be"),
        ({"scale": "half"}, "scale='half' must be"),
    ],
)
def test_invalid_arguments_are_refused_in_one_sentence(ask, sentence):
    layer = capture(llama(), input_ids=tokens()).layers[0]
    with pytest.raises(Problem, match=sentence):
        layer.weights(**ask)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_model_in_8_bits_is_read_and_changed_as_it_computes():
    """Linear layers in int8, their inputs rounded to the range of the whole batch: so all logits are asked for."""
    model = torch.ao.quantization.quantize_dynamic(llama(), {nn.Linear}, dtype=torch.qint8)
    ids = tokens()
    with torch.no_grad():
        expected = model(input_ids=ids).logits
    trace = capture(model, input_ids=ids, logits="all")
    assert_close(trace.logits, expected, atol=1e-4, rtol=1e-4)
    reference = eager(model, input_ids=ids)
    assert_close(trace[0].weights(), reference.attentions[0], atol=1e-5, rtol=1e-4)
    assert float((trace[0].weights() - capture(llama(), input_ids=ids)[0].weights()).abs().max()) > 1e-3, "not float32"
    attention = model.model.layers[1].self_attn
    values = trace[1].v.repeat_interleave(3, 1)  # (B, H, K, D)
    alone = torch.zeros(1, 48)
    alone[0, 16:24] = values[0, 2, 4]
    added = attention.o_proj(alone) - attention.o_proj(torch.zeros(1, 48))
    assert_close(trace[1].value_norms()[0, 2, 4], added.norm(), atol=0.0, rtol=0.05)
    silenced = intervene(model, Edit(layers=1, heads=2, silence=True), input_ids=ids, logits="all").logits
    with given_to(model, "model.layers.1.self_attn.o_proj", zeros(slice(16, 24))):
        by_hand = model(input_ids=ids).logits
    steps = float((expected - by_hand).abs().max())
    assert steps > 0.1
    assert float((silenced - by_hand).abs().max()) < 0.1 * steps, "but for inputs at the edge of two steps"


def test_bfloat16_keeps_its_number_type_and_its_weights():
    model, ids = llama().bfloat16(), tokens()
    trace = capture(model, input_ids=ids)
    assert trace[0].q.dtype == trace.logits.dtype == torch.bfloat16
    for layer, weights in zip(trace, eager(model, input_ids=ids).attentions, strict=True):
        assert_close(layer.weights().float(), weights.float(), atol=5e-2, rtol=0.0)
