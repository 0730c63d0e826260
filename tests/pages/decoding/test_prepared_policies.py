import numpy as np
import pytest

from attnviz.core.cache import Eviction
from attnviz.pages.decoding.choices import TEXT_EXAMPLE
from attnviz.pages.decoding.maths import decoders, kept_positions
from attnviz.pages.decoding.maths.decoders import ModelDecoder
from attnviz.pages.decoding.maths.kept_positions import Config

pytestmark = pytest.mark.numbers

MODEL = "smollm2-135m"


def test_it_holds_for_these_weights_this_text_and_this_seed_only():
    found = kept_positions.find_prepared(MODEL, Config(TEXT_EXAMPLE))
    assert found is not None
    assert found.done
    assert kept_positions.find_prepared(MODEL, Config(TEXT_EXAMPLE + "!")) is None
    assert kept_positions.find_prepared(MODEL, Config(TEXT_EXAMPLE, 1)) is None
    assert kept_positions.find_prepared("core", Config(TEXT_EXAMPLE)) is None


@pytest.fixture(scope="module")
def reading(smollm2):
    return decoders.read(ModelDecoder(smollm2), TEXT_EXAMPLE)


@pytest.mark.slow
@pytest.mark.parametrize("kind, budget", [("full", 92), ("heavy", 16), ("random", 8), ("sinks", 32), ("window", 4)])
def test_computed_again_it_is_the_same(reading, kind, budget):
    prepared = kept_positions.find_prepared(MODEL, Config(TEXT_EXAMPLE))
    assert reading.labels == prepared.labels
    logits, positions = kept_positions.decode(reading, Eviction(kind, budget))
    moved, held = decoders.compare_predictions(reading, logits), prepared.find(kind, budget)
    assert np.allclose(moved.kl, held.shift.kl, atol=1e-2, rtol=1e-2)
    assert moved.loss == pytest.approx(held.shift.loss, abs=1e-2)
    assert (positions == held.positions).mean() > 0.999
    assert held.cache_bytes == sum(2 * la.k.nbytes // la.k.shape[2] for la in reading.layers) * min(budget, 92)
