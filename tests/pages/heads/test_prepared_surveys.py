"""What the page shows first is what these weights give on these sentences: the beginning is computed again."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load
from attnviz.pages.heads.maths import head_survey
from attnviz.pages.heads.maths.sentence_sets import TextKind

pytestmark = pytest.mark.numbers


def in_batches(loaded: LoadedModel, sentences: Sequence[str]) -> tuple[Tensor, ...]:
    """Token ids of sentences that are equally long, sixteen at a time, in their order."""
    ids: Tensor = loaded.tokenizer(list(sentences), return_tensors="pt").input_ids
    return ids.split(16)


PAIRS = [(model, text) for model in ("smollm2-135m", "minilm-l6") for text in ("books", "repeated")]


@pytest.mark.slow
@pytest.mark.parametrize("model, text", PAIRS)
def test_a_prepared_survey_has_the_scores_of_its_first_sentence(model: str, text: TextKind) -> None:
    config = head_survey.Config(text)
    survey = head_survey.find_prepared_scan(model, config)
    assert survey is not None
    loaded = load(model)
    assert survey.sentences == config.sentences(loaded)
    assert len(survey.sentences) == 64
    assert {"weights", "seed", "made", "torch", "transformers", "model"} <= set(survey.about)
    *_, last = head_survey.scan_patterns(loaded, head_survey.Config("own", survey.sentences[0]))
    assert last.sentences == survey.sentences[:1]
    assert last.scores is not None
    assert {name.removesuffix(" rows") for name in last.scores.by_sentence} == survey.measures.keys() - {
        *head_survey.COSTS
    }
    for name in survey.measures.keys() - {*head_survey.COSTS}:
        held, each = survey.measures[name], last.scores.by_sentence[name]
        heads, places = np.nonzero(held.best == 0)
        np.testing.assert_allclose(held.best_scores[heads, places], each[0, heads], atol=1e-3, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model, text, pattern", [("smollm2-135m", "repeated", "induction"), ("minilm-l6", "books", "first_token")]
)
def test_the_share_of_rows_that_a_name_explains_is_counted_on_transformers_eager_weights(
    model: str, text: TextKind, pattern: str
) -> None:
    """Row by row, in the strongest head of that name; the score of each tenth's first sentence as well."""
    survey = head_survey.find_prepared_scan(model, head_survey.Config(text))
    assert survey is not None
    held, loaded = survey.measures[pattern], load(model)
    column = int(np.nanargmax(held.mean))
    layer, head = survey.places[column]
    eager: Any = copy.deepcopy(loaded.model)
    eager.set_attn_implementation("eager")
    shares, scores = [], []
    for ids in in_batches(loaded, survey.sentences):
        with torch.no_grad():
            weights = eager.base_model(ids, output_attentions=True).attentions[layer][:, head].float()
        for tokens, rows in zip(ids.tolist(), weights, strict=True):
            masses = []
            for q, token in enumerate(tokens):
                keys = [0] if pattern == "first_token" else [k + 1 for k in range(q) if tokens[k] == token]
                masses.append(float(rows[q, keys].sum()) if keys else float("nan"))
            shares.append(np.mean(np.nan_to_num(masses) >= 0.5))
            scores.append(np.nanmean(masses))
    assert held.explained[column] == pytest.approx(np.mean(shares), abs=2e-3)
    ordered = sorted(scores, reverse=True)
    np.testing.assert_allclose(held.best_scores[column], [ordered[-(-64 * n // 10)] for n in range(10)], atol=1e-3)


def test_other_weights_other_sentences_and_ones_own_text_have_no_prepared_survey(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert head_survey.find_prepared_scan("gpt2", head_survey.Config()) is None
    assert head_survey.find_prepared_scan("smollm2-135m", head_survey.Config(count=8)) is None
    assert head_survey.find_prepared_scan("smollm2-135m", head_survey.Config("repeated", seed=1)) is None
    assert head_survey.find_prepared_scan("../../secret", head_survey.Config()) is None
    monkeypatch.setattr(head_survey.prepared_files, "packaged_weights", lambda model: "other weights")
    assert head_survey.find_prepared_scan("smollm2-135m", head_survey.Config()) is None


@pytest.mark.slow
@pytest.mark.parametrize("text, layer, head", [("books", 1, 3), ("repeated", 16, 0)])
def test_a_prepared_cost_is_the_rise_of_the_loss_with_the_head_s_slice_zeroed(
    text: TextKind, layer: int, head: int
) -> None:
    """By a hook of torch before the output projection, over every sentence that the mean rests on."""
    survey = head_survey.find_prepared_scan("smollm2-135m", head_survey.Config(text))
    assert survey is not None
    held, column, loaded = survey.measures["silenced"], survey.column(layer, head), load("smollm2-135m")
    inner: Any = loaded.model
    count = int(held.counts[column])

    def silence(module: Any, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        parts = given[0].unflatten(-1, (inner.config.num_attention_heads, -1)).clone()
        parts[:, :, head] = 0
        return (parts.flatten(-2),)

    def losses(ids: Tensor) -> Tensor:
        with torch.no_grad():
            logits = inner(ids).logits[:, :-1].float()
        return cross_entropy(logits.mT, ids[:, 1:], reduction="none").mean(1)

    rises: list[float] = []
    for ids in in_batches(loaded, survey.sentences[:count]):
        before = losses(ids)
        hook = inner.model.layers[layer].self_attn.o_proj.register_forward_pre_hook(silence)
        rises += (losses(ids) - before).tolist()
        hook.remove()
    assert count >= 9
    assert held.mean[column] == pytest.approx(np.mean(rises), rel=2e-3)
    assert held.stderr[column] == pytest.approx(np.std(rises, ddof=1) / count**0.5, rel=2e-3)
