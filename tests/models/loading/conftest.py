"""A folder as somebody may have one."""

from pathlib import Path

import pytest

from tests.models.tiny import llama
from tests.models.tiny_tokenizers import saved


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A whole one: a tiny Llama with a tokenizer."""
    return saved(llama(), tmp_path / "mine")
