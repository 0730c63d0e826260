from __future__ import annotations

import pytest

from attnviz.experiments.explorer.model_run import Request, read
from tests.models.conftest import minilm, smollm2

__all__ = ["minilm", "smollm2"]

SENTENCE = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="session")
def decoded(smollm2):
    """A sentence as SmolLM2 reads it."""
    return read(Request("smollm2-135m", SENTENCE), smollm2)


@pytest.fixture(scope="session")
def paired(minilm):
    """Two sentences as MiniLM reads them."""
    return read(Request("minilm-l6", "She plays guitar.", "He studies tokenizers daily."), minilm)
