"""Sentences, a tokenizer's answer and lists of ids, for models with and without transformers, one or a batch."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.testing import assert_close
from transformers import MambaConfig, MambaForCausalLM

import attnviz as av
from attnviz.base.message import Problem
from tests.models.capture.plain_models import Writer
from tests.models.capture.test_generated import GREEDY
from tests.models.tiny import bert, eager, equal_weights, llama, tokens
from tests.models.tiny_streams import made
from tests.models.tiny_tokenizers import byte_level, word_piece
from tests.models.tiny_tokenizers import loaded as loaded_as

SHORT, LONG = "the cat", "the cat sat on the mat, don't you think?"


def gpt2() -> nn.Module:
    """Its positions are learned: in a padded row they have to be those of the sentence alone."""
    return made("gpt2", vocab_size=320)


def big_llama() -> nn.Module:
    return llama(vocab_size=320)


def mamba() -> nn.Module:
    return MambaForCausalLM(MambaConfig(hidden_size=16, num_hidden_layers=1, vocab_size=50, state_size=4))


class Letters:
    """A tokenizer that is not transformers'."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int]) -> str:
        return bytes(ids).decode()


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("build", [gpt2, big_llama])
def test_a_row_of_a_padded_batch_is_the_sentence_alone(build: Any, side: str) -> None:
    model, tokenizer = build(), byte_level()
    tokenizer.padding_side = side
    batch = av.capture(model, [SHORT, LONG], tokenizer=tokenizer)
    for row, text in enumerate((SHORT, LONG)):
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        alone, count = av.capture(model, ids), ids.shape[1]
        part = slice(-count, None) if side == "left" else slice(count)
        assert_close(batch.logits[row], alone.logits[0], atol=1e-4, rtol=1e-4)
        for mine, theirs in zip(batch, alone, strict=True):
            assert_close(mine.weights()[row, :, part, part], theirs.weights()[0], atol=1e-5, rtol=1e-4)
        assert batch.tokens[row][part] == av.capture(model, text, tokenizer=tokenizer).tokens
        assert av.show(batch, row=row).queries == list(batch.tokens[row])
    assert [len(row) for row in batch.tokens] == [batch[0].shape[2]] * 2
    assert av.Trace.from_bytes(batch.to_bytes()).tokens == batch.tokens


def test_a_sentence_is_read_as_the_tokenizer_reads_it_and_its_tokens_stay_with_the_trace() -> None:
    tokenizer = word_piece()
    tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    loaded = loaded_as(tokenizer, "encoder", model=bert())
    trace = av.capture(loaded, "the cat sat")
    assert trace.tokens == ("[CLS]", "the", "cat", "sat", "[SEP]")
    equal_weights(trace, eager(bert(), **loaded.tokenizer("the cat sat", return_tensors="pt")).attentions)
    assert av.show(trace).queries == list(trace.tokens)
    assert av.show(trace, [f"w{n}" for n in range(5)]).queries[0] == "w0", "tokens that are given win"
    changed = av.intervene(loaded, av.ablate(0, 0), "the cat sat")
    assert trace.to("cpu").tokens == changed.tokens == trace.tokens
    assert not torch.equal(changed[1].weights(), trace[1].weights())


def test_a_loaded_model_writes_and_each_step_is_kept_or_edited() -> None:
    tokenizer = byte_level()
    loaded = loaded_as(tokenizer, model=big_llama())
    ids = tokenizer(LONG, return_tensors="pt")["input_ids"]
    expected = loaded.model.generate(ids, **GREEDY)
    assert loaded.generate(LONG, **GREEDY) == tokenizer.decode(expected[0], skip_special_tokens=True)
    trace = av.capture(loaded.generate, LONG, **GREEDY)
    assert torch.equal(trace.inputs["sequences"], expected)
    assert trace.tokens[: ids.shape[1]] == av.capture(loaded, LONG).tokens
    assert len(trace.tokens) == expected.shape[1] - 1
    edit = av.ablate(0, 1)
    edited = av.intervene(loaded.generate, edit, LONG, logits="all", **GREEDY)
    assert torch.equal(edited.logits, av.intervene(loaded.model.generate, edit, ids, logits="all", **GREEDY).logits)
    several = av.capture(loaded.generate, [SHORT, LONG], **GREEDY)
    assert [len(row) for row in several.tokens] == [several[0].shape[2]] * 2
    with pytest.raises(Problem, match="tiny writes no text"):
        loaded_as(None, model=bert()).generate("a")


@pytest.mark.parametrize(
    "ask, said",
    [
        (
            lambda: av.capture(big_llama(), [SHORT, LONG]),
            r"a sentence needs its tokenizer: give tokenizer=, or what attnviz\.load gives",
        ),
        (lambda: av.capture(big_llama(), SHORT, tokens(), tokenizer=byte_level()), "one sentence"),
        (lambda: av.show(av.capture(big_llama(), tokens()), SHORT), "one string; give a list"),
        (lambda: av.capture("gpt2", tokens()), "'gpt2' is neither a model nor a method of one"),
        (lambda: av.capture(big_llama(), "cat", tokenizer=len), "reads no text: give one with encode and decode"),
        (lambda: av.capture(big_llama(), "", tokenizer=byte_level()), "The sentence is empty"),
        (
            lambda: av.capture(big_llama(), [[1, 2], [3]]),
            r"input_ids=\[\[1, 2\], \[3\]\] must be numbers in rows of one",
        ),
        (
            lambda: av.capture(Writer(256), ["a", "bc"], tokenizer=Letters()),
            "takes no attention_mask: give sentences of one",
        ),
        (lambda: av.capture(Writer(256), tokens(1, 3), labels=["a"]), "there are 1 labels for 3 positions"),
        (
            lambda: av.capture(big_llama(), input_idz=tokens()),
            "LlamaForCausalLM takes no input_idz: input_ids is close",
        ),
        (lambda: av.capture(big_llama(), tokens(), residuals=True), "takes no residuals: residual is close"),
        (lambda: av.capture(Writer(256), ids=tokens()), "Writer takes no ids; it takes idx"),
        (lambda: av.capture(llama(), input_ids=tokens()[0]), r"\(7,\); it must be \(batch, length\)"),
        (lambda: av.capture(mamba(), input_ids=tokens(1, 4) % 50), "MambaForCausalLM has no attention layers"),
        (lambda: av.capture(big_llama(), tokens(), logits="first"), "logits=first must be one of last, all, None"),
        (lambda: av.capture(big_llama().generate, tokens(), max_new_token=3), "max_new_token: max_new_tokens is close"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(ask: Any, said: str) -> None:
    with pytest.raises(Problem, match=said):
        ask()
