"""What a policy keeps of a cache: against a mask on the full pass, real eviction, and what is shipped."""

import copy

import numpy as np
import pytest
import torch

from attnviz.core.cache import EVICTION_RULES, Eviction
from attnviz.pages.decoding.choices import TEXT_EXAMPLE
from attnviz.pages.decoding.maths import decoders, kept_positions
from attnviz.pages.decoding.maths.decoders import ModelDecoder
from attnviz.pages.decoding.maths.kept_positions import Config
from tests.pages.decoding.conftest import of_family

TEXT = "the cat sat on the mat, don't you think the cat's hat is nice?"


def evicted_for_real(reading, kept):
    """One token a pass, keys and values really removed from transformers' cache before each, head by head."""
    model = reading.decoder.loaded.model
    cache, logits = copy.deepcopy(reading.cache), []
    held = [[list(range(reading.prompt))] * layer.keys.shape[1] for layer in cache.layers]
    for row, position in enumerate(range(reading.prompt, reading.total)):
        for number, layer in enumerate(cache.layers):
            stays = np.broadcast_to(kept[number, :, row], (len(held[number]), reading.total))
            left = [
                [n for n, place in enumerate(places) if mine[place]]
                for places, mine in zip(held[number], stays, strict=True)
            ]
            held[number] = [
                [places[n] for n in some] + [position] for places, some in zip(held[number], left, strict=True)
            ]
            index = torch.tensor(left, dtype=torch.long)[None, :, :, None]
            layer.keys, layer.values = (x.take_along_dim(index, 2) for x in (layer.keys, layer.values))
        with torch.no_grad():
            where = torch.tensor([[position]])
            made = model(torch.tensor([[reading.ids[position]]]), past_key_values=cache, position_ids=where)
        logits.append(made.logits[0, -1])
    return torch.stack(logits)


@pytest.mark.parametrize("family", ["llama", "gpt2"])
@pytest.mark.parametrize("kind", EVICTION_RULES)
@pytest.mark.parametrize("budget", [1, 6, 12])
def test_a_policy_is_what_really_evicting_gives_token_by_token(family, kind, budget):
    reading = decoders.read(of_family(family), TEXT)
    logits, kept = kept_positions.decode(reading, Eviction(kind, budget, 1))
    assert np.array_equal(kept[0], kept[1]) == (kind != "heavy" or budget == 1), "layers keep positions of their own"
    assert torch.allclose(logits, evicted_for_real(reading, kept), atol=2e-3, rtol=1e-3)


@pytest.mark.parametrize("family", ["core", "llama", "gpt2", "gemma2-wide"])
def test_with_room_for_all_nothing_moves_and_kl_is_that_of_torch(family):
    reading = decoders.read(of_family(family), TEXT)
    for kind in EVICTION_RULES:
        logits, _kept = kept_positions.decode(reading, Eviction(kind, reading.total))
        assert decoders.compare_predictions(reading, logits).kl.max() < 1e-6
    logits, _kept = kept_positions.decode(reading, Eviction("window", 2))
    full, changed = (each.double().log_softmax(-1) for each in (reading.logits, logits))
    theirs = torch.nn.functional.kl_div(changed, full, log_target=True, reduction="none").sum(-1)
    found = decoders.compare_predictions(reading, logits)
    assert np.allclose(found.kl, theirs.numpy(), atol=1e-9)
    follows = torch.tensor(reading.ids[reading.prompt + 1 :])
    assert found.loss == pytest.approx(float(torch.nn.functional.cross_entropy(logits[:-1].double(), follows)))


MODEL = "smollm2-135m"


@pytest.mark.numbers
def test_it_holds_for_these_weights_this_text_and_this_seed_only():
    found = kept_positions.find_prepared(MODEL, Config(TEXT_EXAMPLE))
    assert found is not None
    assert found.done
    assert kept_positions.find_prepared(MODEL, Config(TEXT_EXAMPLE + "!")) is None
    assert kept_positions.find_prepared(MODEL, Config(TEXT_EXAMPLE, 1)) is None
    assert kept_positions.find_prepared("core", Config(TEXT_EXAMPLE)) is None


@pytest.fixture(scope="module")
def example_reading(smollm2):
    return decoders.read(ModelDecoder(smollm2), TEXT_EXAMPLE)


@pytest.mark.numbers
@pytest.mark.slow
@pytest.mark.parametrize("kind, budget", [("full", 92), ("heavy", 16), ("random", 8), ("sinks", 32), ("window", 4)])
def test_computed_again_it_is_the_same(example_reading, kind, budget):
    prepared = kept_positions.find_prepared(MODEL, Config(TEXT_EXAMPLE))
    assert example_reading.labels == prepared.labels
    logits, positions = kept_positions.decode(example_reading, Eviction(kind, budget))
    moved, held = decoders.compare_predictions(example_reading, logits), prepared.find(kind, budget)
    assert np.allclose(moved.kl, held.shift.kl, atol=1e-2, rtol=1e-2)
    assert moved.loss == pytest.approx(held.shift.loss, abs=1e-2)
    assert (positions == held.positions).mean() > 0.999
    assert held.cache_bytes == sum(2 * la.k.nbytes // la.k.shape[2] for la in example_reading.layers) * min(budget, 92)
