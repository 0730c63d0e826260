"""Heads found over many sentences: planted ones are found, and scores are those of formulas written once more here."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnviz.analysis.heads.scan import HeadScores, scan
from attnviz.models.capture import capture
from tests.models.tiny import llama

HEADS = 4
PREVIOUS, FIRST, COPIES = (0, 1), (1, 3), (1, 0)  # where the planted model looks so


class Planted(nn.Module):
    """Two layers whose heads attend to places that are written into them; all others attend evenly."""

    def forward(self, input_ids: Tensor) -> Tensor:
        length = input_ids.shape[1]
        same = input_ids.unsqueeze(-1) == input_ids.unsqueeze(-2)  # (B, T, T)
        here = torch.arange(length)
        target = {
            PREVIOUS: (here[:, None] - 1 == here).expand_as(same),
            FIRST: (here == 0).expand_as(same),
            COPIES: same.tril(-1),
        }
        values = torch.zeros(len(input_ids), HEADS, length, 1)
        for layer in range(2):
            scores = torch.zeros(len(input_ids), HEADS, length, length)
            for (at, head), wanted in target.items():
                if at == layer:
                    scores[:, head] = 30.0 * wanted
            eye = torch.eye(length).expand_as(scores)
            values = F.scaled_dot_product_attention(scores, eye, values, is_causal=True, scale=1.0)
        return values


def sentences(count: int, seed: int = 0) -> list[Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return [torch.randint(0, 9, (int(torch.randint(8, 20, (), generator=draw)),), generator=draw) for _ in range(count)]


def last(*args: object, **kwargs: object) -> HeadScores:
    """The scores of a scan that went to its end."""
    return list(scan(*args, **kwargs))[-1]  # type: ignore[arg-type]


def test_planted_heads_are_found_with_nothing_else_near_them() -> None:
    table = last(Planted(), sentences(6), ("previous_token", "first_token", "duplicate_token"))
    for pattern, place in (("previous_token", PREVIOUS), ("first_token", FIRST), ("duplicate_token", COPIES)):
        best, second = table.top(2, pattern)
        assert (best.layer, best.head) == place
        assert best.mean > 0.99
        assert best.stderr < 1e-6
        assert best.stability == 1.0
        assert best.sentences == 6
        assert second.mean < 0.6
    assert table.grid("previous_token").shape == (2, HEADS)


def test_a_score_is_the_mean_over_sentences_of_the_mean_over_rows_with_a_target() -> None:
    """Written out a second time, cell by cell."""
    model, texts = llama(), sentences(3)
    table = last(model, texts, ("induction",))
    each = []
    for ids in texts:
        weights = capture(model, input_ids=ids[None]).layers[1].weights()[0, 2]
        rows = []
        for q in range(len(ids)):
            keys = [k + 1 for k in range(q) if ids[k] == ids[q]]
            if keys:
                rows.append(sum(weights[q, k].item() for k in keys))
        each.append(sum(rows) / len(rows))
    assert table.mean["induction"][table.places.index((1, 2))] == pytest.approx(np.mean(each), abs=1e-6)


def test_padding_changes_no_score() -> None:
    model = llama()
    short, long = torch.randint(1, 50, (1, 6)), torch.randint(1, 50, (1, 9))
    batch = torch.zeros(2, 9, dtype=torch.long)
    mask = torch.zeros(2, 9, dtype=torch.long)
    batch[0, 3:], mask[0, 3:] = short, 1
    batch[1], mask[1] = long, 1
    together = last(model, [{"input_ids": batch, "attention_mask": mask}], ("previous_token", "first_token"))
    apart = last(model, [short, long], ("previous_token", "first_token"))
    for name in together.by_sentence:
        np.testing.assert_allclose(together.by_sentence[name], apart.by_sentence[name], atol=1e-5)
