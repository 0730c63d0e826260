"""Beside TransformerLens on the same weights: what the twenty questions of benchmarks/tasks leave out."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import GPT2LMHeadModel

import attnviz as av
from tests.notebook import transformer_lens_side as theirs

pytestmark = pytest.mark.slow  # importing TransformerLens takes longer than all that is compared

TOLERANCE = 1e-6  #: of a score between 0 and 1
PATTERNS = {
    "previous_token": "previous_token_head",
    "duplicate_token": "duplicate_token_head",
    "induction": "induction_head",
}
LENGTH = 13


@pytest.fixture(scope="module")
def model() -> GPT2LMHeadModel:
    return theirs.gpt2()


@pytest.fixture(scope="module")
def lens(model: GPT2LMHeadModel, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return theirs.bridge(model, tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Sentences of few words, so that many come twice."""
    draw = torch.Generator().manual_seed(0)
    return [" ".join(f"t{n}" for n in torch.randint(1, 9, (LENGTH - 1,), generator=draw).tolist()) for _ in range(5)]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_scores_are_those_of_detect_head(model: GPT2LMHeadModel, lens: Any, texts: list[str], pattern: str) -> None:
    from transformer_lens.head_detector import detect_head

    expected = detect_head(lens, texts, PATTERNS[pattern])
    ids = [lens.to_tokens(text) for text in texts]
    table = av.find_heads(model, ids, (pattern,), rows="all")
    np.testing.assert_allclose(table.mean[pattern], expected, atol=TOLERANCE)
    assert float(expected.max() - expected.min()) > 0.02, "the heads differ, so that it matters which is which"
