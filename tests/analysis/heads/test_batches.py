"""What a data set may be made of, and that large batches are taken in parts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attnviz.analysis.heads.batches import batch_inputs, find_token_ids
from attnviz.analysis.heads.removal_costs import head_costs
from attnviz.analysis.heads.scan import scan
from tests.models.tiny import llama, tokens

IDS = [[5, 6, 7], [8, 9, 10]]


class Letters:
    """A tokenizer: each letter is a token."""

    def __call__(self, text: str, return_tensors: str) -> dict[str, torch.Tensor]:
        assert return_tensors == "pt"
        return {"input_ids": torch.tensor([[ord(letter) - 90 for letter in text]])}


def read(batches: Any, tokenizer: Any = None) -> list[list[list[int]]]:
    return [find_token_ids(inputs).tolist() for inputs in batch_inputs(torch.nn.Identity(), batches, tokenizer)]


def test_token_ids_come_as_lists_tensors_arrays_rows_of_a_data_set_and_from_a_generator() -> None:
    apart = [[ids] for ids in IDS]
    assert read(IDS) == apart
    assert read([torch.tensor(ids) for ids in IDS]) == apart
    assert read([np.array(ids) for ids in IDS]) == apart
    assert read([{"input_ids": ids} for ids in IDS]) == apart
    assert read(ids for ids in IDS) == apart
    assert read(IDS[0]) == [[IDS[0]]]
    assert read(torch.tensor(IDS)) == [IDS]
    assert read(np.array(IDS)) == [IDS]


def test_sentences_come_as_strings_rows_of_a_data_set_and_lines_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("abc\n\n  \ndef\n", "utf-8")
    wanted = [[[7, 8, 9]], [[10, 11, 12]]]
    assert read(["abc", "def"], Letters()) == wanted
    assert read(file, Letters()) == wanted
    assert read([file], Letters()) == wanted
    assert read([{"text": "abc"}, {"text": "def"}], Letters()) == wanted
    assert read("abc", Letters()) == wanted[:1]


def test_one_large_batch_scores_and_costs_what_its_sentences_do(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    ids = tokens(5, 6)
    apart = [list(run(llama(), [ids[n : n + 1] for n in range(5)]))[-1] for run in (scan, head_costs)]
    monkeypatch.setattr(sys.modules["attnviz.analysis.heads.scan"], "TOKENS_AT_ONCE", 12)
    monkeypatch.setattr(sys.modules["attnviz.analysis.heads.removal_costs"], "SENTENCES_TOKENS", 12)
    for run, expected in zip((scan, head_costs), apart, strict=True):
        yields = list(run(llama(), ids))
        assert [each.sentences for each in yields] == [2, 4, 5]
        for name, rows in expected.by_sentence.items():
            np.testing.assert_allclose(yields[-1].by_sentence[name], rows, atol=2e-5)
