"""Entropy, share on the first token and largest score of heads, against whole matrices of each sentence alone."""

import pytest
import torch
from torch.testing import assert_close

import attnviz as av
from attnviz.models.capture import bands
from tests.models.tiny import eager, llama, padded, tokens


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("cells", [1 << 20, 1])
def test_they_are_those_of_the_sentence_without_padding(side: str, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bands, "CELLS", cells)
    monkeypatch.setattr(bands, "FEWEST_ROWS", 2)
    model, mask = llama(), padded(side)
    mask_positions = (mask.cumsum(-1) - 1).clamp_min(0)
    trace = av.capture(model, tokens(), attention_mask=mask, position_ids=mask_positions)
    for row in range(2):
        ids = tokens()[row : row + 1, mask[row].bool()]
        weights = torch.stack(eager(model, input_ids=ids).attentions)[:, 0]  # (L, H, Q, K)
        assert_close(trace.entropy().values[:, row], -torch.xlogy(weights, weights).sum(-1).mean(-1))
        assert_close(trace.sink_mass().values[:, row], weights[..., 0].mean(-1))
        alone = av.capture(model, ids)
        scores = torch.stack([layer.q @ layer.k.repeat_interleave(3, 1).mT * layer.scale for layer in alone])[:, 0]
        seen = torch.ones(ids.shape[1], ids.shape[1]).tril().bool()
        assert_close(trace.max_logits().values[:, row], scores.masked_fill(~seen, -torch.inf).amax((-1, -2)))


def test_a_head_that_was_rescaled_has_its_own_largest_score() -> None:
    plain = av.capture(llama(), tokens()).max_logits().values
    edited = av.intervene(llama(), av.rescale(1, 2, factor=3.0), tokens())
    expected = plain.clone()
    expected[1, :, 2] *= 3
    assert_close(edited.max_logits().values, expected)


def test_each_has_a_frame_a_plot_and_the_heads_of_most() -> None:
    trace = av.capture(llama(), tokens())
    for measure in (trace.entropy(), trace.sink_mass(), trace.max_logits()):
        frame = measure.to_dataframe()
        assert len(frame) == 2 * 2 * 6
        layer, head, value = measure.top(1)[0]
        assert (
            value
            == float(measure.mean.max())
            == pytest.approx(frame[(frame.layer == layer) & (frame["head"] == head)][measure.name].mean())
        )
        assert measure.plot().data[0].z.shape == (2, 6)
        assert len(repr(measure)) < 200
