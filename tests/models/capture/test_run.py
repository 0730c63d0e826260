"""A capture of one pass: its weights, logits, masks and what is refused, against the model's own answers."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from attnviz.base.message import Problem
from attnviz.models.capture import Edit, capture, intervene
from tests.models.tiny import bert, eager, equal_weights, given_to, llama, padded, tokens, zeros


@pytest.mark.parametrize("build", [llama, bert])
def test_left_padding_leaves_rows_without_a_key_at_zero_in_a_decoder(build):
    model, inputs = build(), {"input_ids": tokens(), "attention_mask": padded("left")}
    layers = capture(model, **inputs).layers
    equal_weights(layers, eager(model, **inputs).attentions)
    stages = layers[0].stages(4)
    assert stages.empty_rows[0, 0].tolist() == [build is llama] * 3 + [False] * 4
    assert (stages.weights[0, 0, :3].count_nonzero() == 0) == (build is llama)


@pytest.mark.parametrize("side", ["none", "left", "right"])
@pytest.mark.parametrize("build", [llama, bert])
def test_logits_are_left_as_they_were_and_the_last_are_those_of_the_last_real_token(build, side):
    model, inputs = build(), {"input_ids": tokens(), "attention_mask": padded(side)}
    with torch.no_grad():
        plain = model(**inputs).logits
    assert torch.equal(capture(model, **inputs, logits="all").logits, plain)
    last = 3 if side == "right" else 6
    assert_close(capture(model, **inputs, logits="last").logits, torch.stack([plain[0, last], plain[1, 6]]))
    assert capture(model, **inputs, logits=None).logits is None


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


@pytest.mark.parametrize(
    "ask, sentence",
    [
        *(
            ({"heads": heads}, r"^heads=.* must be a number or several numbers$")
            for heads in (1.5, "3", (0, "1"), True, [True, False], torch.tensor([True, False]), [0.0, 1.9])
        ),
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
