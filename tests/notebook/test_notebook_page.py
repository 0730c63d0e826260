"""The code of docs/library/notebook.md runs; what each edit does is held in tests/models/capture/test_edits.py."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import attnviz as av
from tests.models.tiny import given_in, given_to, llama, tokens
from tests.models.tiny_tokenizers import word_piece

PAGE = Path(__file__).parents[2] / "docs" / "library" / "notebook.md"


def test_each_block_runs_as_if_it_were_copied_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what the others have imported; the mean ablation is over all positions of all batches."""
    names: dict[str, Any] = {"av": av, "model": llama(), "ids": tokens(), "other_ids": tokens(seed=5)}
    names["tokenizer"] = word_piece()
    names["batches"] = [tokens(2, 9, seed=seed) for seed in range(3)]
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        fresh = {name: value for name, value in names.items() if not isinstance(value, ModuleType)} | {"av": av}
        exec(compile(block, str(PAGE), "exec"), fresh)
        names |= fresh
    assert len(names["patched"]) == 12
    model, place = names["model"], "model.layers.1.self_attn.o_proj"
    mean = torch.cat([given_in(model, place, batch).flatten(0, 1) for batch in names["batches"]]).mean(0)

    def write(z: torch.Tensor) -> torch.Tensor:
        z[..., 16:24] = mean[16:24]
        return z

    with given_to(model, place, write):
        expected = model(names["ids"]).logits[:, -1]
    torch.testing.assert_close(names["mean_ablated"], expected, atol=1e-4, rtol=1e-4)
