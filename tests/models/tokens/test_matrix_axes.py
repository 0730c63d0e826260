import pytest
import torch
from torch.testing import assert_close

from attnviz.models.tokens.encoding import encode
from attnviz.models.tokens.matrix_axes import matrix_axis, project_weights
from tests.models.tiny_tokenizers import loaded, word_piece


@pytest.fixture
def cats():
    return encode(loaded(word_piece(), "encoder"), "The cats sat.")  # [CLS] the cat ##s sat . [SEP]


def rows_of(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(0)).softmax(-1)


def test_pieces_with_specials_leave_the_weights_as_they_are(cats):
    weights = rows_of(2, 7, 7)
    side = matrix_axis(cats)
    assert side.labels == ("[CLS]", "the", "cat", "s", "sat", ".", "[SEP]")
    assert not side.notes
    assert torch.equal(project_weights(weights, side, side), weights)


def test_words_sum_over_their_keys_and_average_over_their_queries(cats):
    weights = rows_of(2, 7, 7)
    side = matrix_axis(cats, by_word=True)
    assert side.labels == ("[CLS]", "the", "cats", "sat", ".", "[SEP]")
    merged = project_weights(weights, side, side)
    assert merged.shape == (2, 6, 6)
    assert_close(merged.sum(-1), torch.ones(2, 6))
    assert_close(merged[:, 1, 2], weights[:, 1, 2] + weights[:, 1, 3])
    assert_close(merged[:, 2, 4], (weights[:, 2, 5] + weights[:, 3, 5]) / 2)
    assert "added up" in str(side.notes[0])


def test_hiding_special_tokens_drops_rows_and_columns_and_restores_sums_only_when_asked(cats):
    weights = rows_of(7, 7)
    weights[3] = torch.eye(7)[0]  # a row with all its weight on hidden tokens stays zero
    side = matrix_axis(cats, specials=False)
    plain, restored = (project_weights(weights, side, side, renormalise=asked) for asked in (False, True))
    assert torch.equal(plain, weights[1:6, 1:6])
    assert_close(restored, (plain / plain.sum(-1, keepdim=True)).nan_to_num(0.0))
    assert restored[2].count_nonzero() == 0
    assert str(side.notes[0]) == "2 special tokens are not shown"
