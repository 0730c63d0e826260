"""What models that are not of transformers are given."""

import pytest
import torch
from torch import Tensor

from tests.models.capture.plain_models import BATCH, LENGTH, WIDTH


@pytest.fixture
def x() -> Tensor:
    return torch.randn(BATCH, LENGTH, WIDTH, generator=torch.Generator().manual_seed(0))
