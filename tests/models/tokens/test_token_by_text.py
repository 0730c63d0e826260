"""A token of a vocabulary by its text: with the space before it, as it stands in a sentence."""

import pytest

from attnviz.base.message import Problem
from attnviz.models.capture import capture, logit_diff
from attnviz.models.tokens import token_id
from tests.models.tiny import llama, tokens
from tests.models.tiny_tokenizers import byte_level, unigram, word_piece


def test_a_word_is_taken_with_the_space_that_the_vocabulary_writes_a_mark_without():
    for tokenizer, text, piece in (
        (byte_level(), "cat", "Ġcat"),
        (byte_level(), " cat", "Ġcat"),
        (byte_level(), "?", "?"),
        (unigram(), "cat", "▁cat"),
        (word_piece(), "cat", "cat"),
    ):
        assert tokenizer.convert_ids_to_tokens(token_id(tokenizer, text)) == piece


def test_a_word_of_several_tokens_is_refused_by_naming_them():
    with pytest.raises(Problem, match="token=catsat is not one token: the vocabulary spells it cat, s, at; give one"):
        token_id(byte_level(), "catsat")
    with pytest.raises(Problem, match="the vocabulary spells it"):
        token_id(word_piece(), "☃")
    with pytest.raises(Problem, match="token=cat needs a tokenizer: give tokenizer=, or a token id"):
        capture(llama(), input_ids=tokens(), residual=True).logit_attribution("cat")


def test_a_trace_of_a_loaded_model_knows_its_words(smollm2):
    trace = capture(smollm2, "The capital of Spain is", residual=True)
    madrid, rome = (smollm2.tokenizer(word)["input_ids"][0] for word in (" Madrid", " Rome"))
    found = trace.logit_attribution(logit_diff("Madrid", "Rome"))
    assert float(found.logit - (trace.logits[0, madrid] - trace.logits[0, rome])) == pytest.approx(0.0, abs=1e-4)
    assert trace.logit_lens(["Madrid", rome]).tokens.tolist() == [[madrid, rome]]
    assert int(trace.logit_lens("Madrid").ranks[0, -1, 0]) == 1
    assert float(found.total - found.logit) == pytest.approx(0.0, abs=1e-4 * abs(float(found.logit)))
