import pytest
import torch
from torch.testing import assert_close

from attnviz.analysis.model_run import Request, run_model
from attnviz.analysis.predictions import (
    compare_predictions,
    likeliest_tokens,
    make_sampler,
    probabilities,
    probability_shift,
)
from attnviz.analysis.predictions import run as measure_fit
from attnviz.base.message import Problem
from attnviz.models.capture import capture
from attnviz.pages.home import choices
from tests.models.tiny import llama, tokens


def test_guesses_are_the_softmax_of_the_logits_best_first():
    logits = capture(llama(), input_ids=tokens()).logits[0]
    found = likeliest_tokens(logits, 5)
    expected = logits.softmax(-1).sort(descending=True)
    assert [token for token, _ in found] == expected.indices[:5].tolist()
    assert_close(torch.tensor([probability for _, probability in found]), expected.values[:5])


def test_temperature_and_top_k_change_the_probabilities():
    logits = torch.tensor([1.0, 3.0, 2.0, -1.0])
    assert probabilities(logits, 0).tolist() == [0, 1, 0, 0]
    assert_close(probabilities(logits, 2.0), (logits / 2).softmax(-1))
    assert probabilities(logits, top_k=2).count_nonzero() == 2
    assert_close(probabilities(logits, 1e-6), torch.tensor([0.0, 1.0, 0.0, 0.0]))
    assert_close(probabilities(logits, 1e30), torch.full((4,), 0.25))
    assert [token for token, _ in likeliest_tokens(logits, 10, top_k=2)] == [1, 2]


def test_a_seed_repeats_what_is_drawn_and_at_temperature_0_the_likeliest_is_taken():
    logits = torch.tensor([1.0, 3.0, 2.0, -1.0])
    drawn = [[choose(logits) for _ in range(20)] for choose in (make_sampler(1.5, seed=seed) for seed in (3, 3, 4))]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) > 1
    assert make_sampler()(logits) == 1


def test_moved_lists_the_likeliest_tokens_before_and_after():
    before, after = torch.tensor([3.0, 1.0, 0.0, -1.0]), torch.tensor([-1.0, 1.0, 0.0, 3.0])
    (first, high, low), (last, _, high_after) = compare_predictions(before, after, 1)
    assert (first, last) == (0, 3)
    assert high == pytest.approx(high_after)
    assert probability_shift(before, before) == 0
    assert probability_shift(before, after) == pytest.approx(high - low)


@pytest.mark.parametrize("bad", [{"temperature": -1.0}, {"temperature": float("nan")}, {"top_k": 0}])
def test_invalid_arguments_and_a_batch_are_refused_in_one_sentence(bad):
    with pytest.raises(Problem, match="must be"):
        probabilities(torch.zeros(3), **bad)
    with pytest.raises(Problem, match=r"one position's have shape \(V,\)"):
        likeliest_tokens(torch.zeros(2, 3))


# How well a model reads a sentence.
SENTENCES = [choices.EXAMPLE, choices.CHINESE, "注"]


@pytest.mark.parametrize("text", SENTENCES)
def test_tokens_parts_and_nats_are_those_of_transformers_and_the_tokenizer(smollm2, text):
    found = measure_fit(run_model(Request("smollm2-135m", text), smollm2), smollm2)
    ids = smollm2.tokenizer(text, return_tensors="pt").input_ids
    with torch.no_grad():
        loss = smollm2.model(input_ids=ids, labels=ids).loss
    assert found.nats == pytest.approx(float(loss) * (ids.shape[1] - 1), rel=1e-4)
    assert (found.characters, found.tokens) == (len(text), ids.shape[1])
    assert found.parts == sum("\ufffd" in smollm2.tokenizer.decode([token]) for token in ids[0].tolist())


def test_a_single_token_surprises_by_nothing(smollm2):
    alone = measure_fit(run_model(Request("smollm2-135m", "a"), smollm2), smollm2)
    assert (alone.tokens, alone.nats) == (1, 0)
