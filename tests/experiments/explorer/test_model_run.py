from __future__ import annotations

import pytest
import torch

from attnviz.core.message import Problem
from attnviz.experiments.explorer.model_run import Request, read, read_earlier
from attnviz.models.catalogue.example_sentences import EXAMPLES
from attnviz.models.loading.example_traces import prepare_examples
from attnviz.models.settings import current


def test_a_decoder_has_one_stack_that_looks_at_itself(decoded):
    (stack,) = decoded.stacks
    assert stack.id == "decoder"
    assert stack.same_tokens
    assert len(stack.layers) == 30
    assert stack.queries.labels[1] == "animal"
    assert stack.has(29, 8)
    assert not stack.has(30, 0)
    assert not stack.has(0, 9)


def test_an_encoder_reads_two_sentences_as_a_pair(paired):
    (stack,) = paired.stacks
    assert stack.id == "encoder"
    assert stack.queries.labels[0] == "[CLS]"
    assert {span.segment for span in stack.queries.spans} == {0, 1}


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_sentence_is_refused_in_words(smollm2, text):
    with pytest.raises(Problem, match="The sentence is empty"):
        read(Request("smollm2-135m", text), smollm2)


def test_a_frame_that_the_model_does_not_have_is_the_usual_one(minilm):
    assert read(Request("minilm-l6", "a cat", frame="chat"), minilm).source.frame == "usual"


def test_a_long_text_is_cut_and_says_where(minilm):
    reading = read(Request("minilm-l6", "cat " * 5000), minilm)
    assert len(reading.source) <= minilm.max_tokens
    assert "Cut at" in str(reading.notices[0])


def test_what_is_kept_is_computed_once_and_the_last_few_passes_only(decoded):
    made = []
    for _ in range(2):
        assert decoded.kept("x", lambda: made.append(1) or 7) == 7
    assert made == [1]
    for number in range(6):
        decoded.kept_lately(number, lambda n=number: n)
    assert decoded.kept_lately(0, lambda: "made again") == "made again"
    assert decoded.kept_lately(5, lambda: "made again") == 5


def test_an_example_kept_from_earlier_is_what_the_model_would_read_now(smollm2):
    prepare_examples(smollm2, current())
    example = next(each for each in EXAMPLES if each.model == "smollm2-135m")
    request = Request(example.model, example.text, example.second)
    asked = []
    earlier, now = read_earlier(request, lambda: asked.append(1) or smollm2), read(request, smollm2)
    layer, head = example.head
    for kept, fresh in zip(earlier.stacks, now.stacks, strict=True):
        assert kept.queries.labels == fresh.queries.labels
        torch.testing.assert_close(
            kept.layers[layer].weights(head), fresh.layers[layer].weights(head), atol=1e-5, rtol=0
        )
    assert not asked, "the picture needs no model"
    assert earlier.inputs["input_ids"].shape == (1, len(earlier.source))
    assert asked == [1]


def test_a_sentence_that_is_no_example_was_not_kept():
    assert read_earlier(Request("smollm2-135m", "Something else"), lambda: None) is None
