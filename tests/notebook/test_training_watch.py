"""`av.watch` around a training loop: what it records, and what it leaves as it was."""

import json
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.testing import assert_close
from transformers import Trainer, TrainingArguments

import attnviz as av
from tests.models.tiny import llama, tokens


def train(model: nn.Module, steps: int, seed: int = 0) -> None:
    torch.manual_seed(seed)
    optimizers = [torch.optim.SGD(model.parameters(), 0.01), torch.optim.SGD(nn.Linear(2, 2).parameters(), 0.1)]
    for _ in range(steps):
        model(input_ids=tokens(), labels=tokens()).loss.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()


def test_records_are_those_of_captures_and_the_training_is_the_same(tmp_path: Path) -> None:
    watched, plain, path = (
        llama(attention_dropout=0.2).train(),
        llama(attention_dropout=0.2).train(),
        tmp_path / "w.jsonl",
    )
    with av.watch(watched, tokens()[:1], every=2, path=path) as watch:
        train(watched, 5)
        assert len(path.read_text().splitlines()) == 3, "written as it runs"
    train(plain, 5)
    for mine, theirs in zip(watched.parameters(), plain.parameters(), strict=True):
        assert torch.equal(mine, theirs)
    assert all(module.training for module in watched.modules())
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["step"] for record in records] == [0, 2, 4, 5]
    trace = av.capture(watched.eval(), tokens()[:1])
    assert_close(torch.tensor(records[-1]["entropy"]), trace.entropy().mean, rtol=1e-3, atol=1e-4)
    assert_close(torch.tensor(records[-1]["sink_mass"]), trace.sink_mass().mean, rtol=1e-3, atol=1e-4)
    assert_close(torch.tensor(records[-1]["max_logits"]), trace.max_logits().mean)
    loss = watched(input_ids=tokens()[:1], labels=tokens()[:1]).loss
    assert records[-1]["loss"] == pytest.approx(float(loss), rel=1e-4)
    assert len(watch.to_dataframe()) == 4 * 2 * 6
    assert records[-1]["thumbnails"][0]["shape"] == [6, 7, 7]
    train(watched, 1)
    assert watch.steps == 5, "after the block nothing is counted"


def test_a_sentence_that_cannot_be_read_is_refused_before_the_training() -> None:
    with pytest.raises(av.Problem), av.watch(llama(), "no tokenizer"):
        pytest.fail("the training began")


def test_transformers_trainer_calls_it(tmp_path: Path) -> None:
    model, rows = llama(), [{"input_ids": ids, "labels": ids} for ids in tokens().repeat(6, 1)]
    watch = av.watch(model, tokens()[:1], every=2)
    arguments = TrainingArguments(str(tmp_path), max_steps=5, per_device_train_batch_size=2, report_to=[], use_cpu=True)
    Trainer(model, arguments, train_dataset=rows, callbacks=[watch.callback()]).train()
    assert [record["step"] for record in watch.records] == [0, 2, 4, 5]


def test_a_callback_of_a_training_that_failed_counts_each_step_of_the_next_once():
    model = llama()
    watch, optimizer = av.watch(model, tokens()[:1]), torch.optim.SGD(model.parameters())
    callback = watch.callback()
    callback.on_train_begin()
    callback.on_train_begin()  # no end in between: Trainer tells of none where a step raises
    optimizer.step()
    callback.on_train_end()
    assert watch.steps == 1
    optimizer.step()
    assert watch.steps == 1
