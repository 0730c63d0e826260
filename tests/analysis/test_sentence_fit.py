"""How well a model reads a sentence, against the loss that transformers computes itself and the text of each token."""

import pytest
import torch

from attnviz.analysis import predictions
from attnviz.analysis.model_run import Request, run_model
from attnviz.models.loading import EXAMPLES
from attnviz.pages.home import choices

SENTENCES = [choices.EXAMPLE, choices.CHINESE, next(e.text for e in EXAMPLES if e.id == "chinese"), "注"]


@pytest.mark.parametrize("text", SENTENCES)
def test_tokens_parts_and_nats_are_those_of_transformers_and_the_tokenizer(smollm2, text):
    found = predictions.run(run_model(Request("smollm2-135m", text), smollm2), smollm2)
    ids = smollm2.tokenizer(text, return_tensors="pt").input_ids
    with torch.no_grad():
        loss = smollm2.model(input_ids=ids, labels=ids).loss
    assert found.nats == pytest.approx(float(loss) * (ids.shape[1] - 1), rel=1e-4)
    assert (found.characters, found.tokens) == (len(text), ids.shape[1])
    assert found.parts == sum("\ufffd" in smollm2.tokenizer.decode([token]) for token in ids[0].tolist())


def test_the_same_sentence_takes_more_in_chinese(smollm2):
    english, chinese = (
        predictions.run(run_model(Request("smollm2-135m", text), smollm2), smollm2) for text in SENTENCES[:2]
    )
    assert chinese.tokens > 2 * english.tokens
    assert chinese.nats > 1.4 * english.nats
    assert english.parts == 0
    alone = predictions.run(run_model(Request("smollm2-135m", "a"), smollm2), smollm2)
    assert (alone.tokens, alone.nats) == (1, 0), "a single token surprises by nothing"
