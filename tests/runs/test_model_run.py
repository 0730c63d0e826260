from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from attnviz.base.message import Problem
from attnviz.models.capture import intervene
from attnviz.models.catalogue.example_sentences import EXAMPLES
from attnviz.models.loading.example_traces import prepare_examples
from attnviz.models.loading.load_model import load
from attnviz.models.settings import current
from attnviz.runs.model_run import Request, has_kept_run, kept_run, run_model
from tests.models.tiny import llama
from tests.models.tiny_tokenizers import word_piece


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
        run_model(Request("smollm2-135m", text), smollm2)


def test_a_frame_that_the_model_does_not_have_is_the_usual_one(minilm):
    assert run_model(Request("minilm-l6", "a cat", frame="chat"), minilm).source.frame == "usual"


def test_a_long_text_is_cut_and_says_where(minilm):
    run = run_model(Request("minilm-l6", "cat " * 5000), minilm)
    assert len(run.source) <= minilm.max_tokens
    assert "Cut at" in str(run.notices[0])


def test_an_example_kept_from_earlier_is_what_the_model_would_read_now(smollm2):
    prepare_examples(smollm2, current())
    example = next(each for each in EXAMPLES if each.model == "smollm2-135m")
    request = Request(example.model, example.text, example.second)
    assert has_kept_run(request)
    earlier, now = kept_run(request), run_model(request, smollm2)
    layer, head = example.head
    for kept, fresh in zip(earlier.stacks, now.stacks, strict=True):
        assert kept.queries.labels == fresh.queries.labels
        torch.testing.assert_close(
            kept.layers[layer].weights(head), fresh.layers[layer].weights(head), atol=1e-5, rtol=0
        )
    again = intervene(smollm2.model, [], **earlier.inputs_on(smollm2.model.device))
    torch.testing.assert_close(again.logits, now.trace.logits, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("more", [{"text": "Something else"}, {"frame": "none"}, {"second": "And a second one"}])
def test_only_an_example_exactly_as_it_stands_was_kept(more):
    example = next(each for each in EXAMPLES if each.model == "smollm2-135m")
    request = replace(Request(example.model, example.text, example.second), **more)
    assert not has_kept_run(request)
    assert kept_run(request) is None


def test_a_stack_is_found_by_name_and_a_missing_one_is_a_lookup_error(decoded):
    assert decoded.stack("decoder") is decoded.stacks[0]
    with pytest.raises(LookupError):
        decoded.stack("cross")


def test_a_run_says_what_was_done_to_the_weights_and_whether_they_were_trained(smollm2, tmp_path):
    assert run_model(Request("smollm2-135m", "a cat"), smollm2).weights_are == "trained"
    model = llama()
    model.save_pretrained(tmp_path, state_dict={f"module.{name}": w for name, w in model.state_dict().items()})
    word_piece().save_pretrained(tmp_path)
    run = run_model(Request(str(tmp_path), "the cat"), load(str(tmp_path)))
    assert run.weights_are == "random"
    assert str(run.notices[0]) == "The prefix module. was taken off the names of the weights"
