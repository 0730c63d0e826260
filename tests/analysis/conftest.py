import pytest

from attnviz.analysis.model_run import Request, run_model
from tests.models.conftest import minilm, smollm2

__all__ = ["minilm", "smollm2"]

SENTENCE = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="session")
def decoded(smollm2):
    """A sentence run through SmolLM2."""
    return run_model(Request("smollm2-135m", SENTENCE), smollm2)


@pytest.fixture(scope="session")
def paired(minilm):
    """Two sentences run through MiniLM as a pair."""
    return run_model(Request("minilm-l6", "She plays guitar.", "He studies tokenizers daily."), minilm)
