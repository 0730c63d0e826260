"""A trained head without RoPE, against the model itself with another rotary module."""

import pytest
import torch

from attnviz.analysis.changed_rope import Config, run
from attnviz.models.capture import capture


class Rotation(torch.nn.Module):
    """A rotary module with these frequencies, as transformers calls one."""

    def __init__(self, turns):
        super().__init__()
        self.turns = turns

    def forward(self, x, position_ids):
        angles = position_ids[..., None].float() * torch.cat([self.turns, self.turns]).float()
        return angles.cos(), angles.sin()


@pytest.fixture
def rotating(smollm2):
    """Put another rotation into the model for one test."""
    before = smollm2.model.model.rotary_emb

    def put(turns):
        smollm2.model.model.rotary_emb = Rotation(turns)

    yield put
    smollm2.model.model.rotary_emb = before


@pytest.mark.parametrize("change, base", [("removed", 1.0), ("base", 500.0), ("base", 1e6)])
def test_changing_every_layer_is_giving_the_model_another_rotary_module(smollm2, decoded, rotating, change, base):
    config = Config(9, 4, change, base, "all")
    result = run(decoded, smollm2, config)
    i = torch.arange(0, 64, 2, dtype=torch.float64)
    rotating(torch.zeros(32) if change == "removed" else base ** -(i / 64))
    theirs = capture(smollm2.model, **decoded.inputs_on(smollm2.model.device))
    assert theirs.layers[9].weights(4)[0, 0].numpy() == pytest.approx(result.after, abs=2e-4)
    expected = theirs.logits[0].softmax(-1)
    now = max(result.tokens, key=lambda token: token.after)
    assert now.after == pytest.approx(float(expected.max()), abs=1e-4)
    assert result.probability_shift > 0.03


def test_a_head_that_looks_one_back_forgets_how_without_rope(smollm2, decoded):
    result = run(decoded, smollm2, Config())
    before, after = result.previous
    assert before > 0.7
    assert after < 0.2
    assert result.first[1] > result.first[0] + 0.3
    assert result.distance_before[1] == pytest.approx(before, abs=1e-6)
    assert 0.4 < result.weight_shift <= 1


def test_only_the_chosen_head_of_its_layer_changes(smollm2, decoded):
    alone = run(decoded, smollm2, Config(16, 0, where="head"))
    other = run(decoded, smollm2, Config(16, 1, where="head"))
    both = run(decoded, smollm2, Config(16, 1, where="layer"))
    assert both.after == pytest.approx(other.after, abs=1e-6)
    assert other.weight_shift != pytest.approx(alone.weight_shift)
    assert both.probability_shift > alone.probability_shift
