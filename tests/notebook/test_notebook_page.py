"""The code of docs/library/notebook.md runs, and what it computes is what hooks on the model give."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.testing import assert_close

import attnviz as av
from tests.models.tiny import given_to, llama, tokens
from tests.models.tiny_tokenizers import word_piece

PAGE = Path(__file__).parents[2] / "docs" / "library" / "notebook.md"
O_PROJ = "model.layers.{}.self_attn.o_proj"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All that the blocks compute. Each begins without what the others have imported, as if it were copied alone."""
    names: dict[str, Any] = {"av": av, "model": llama(), "ids": tokens(), "other_ids": tokens(seed=5)}
    names["tokenizer"] = word_piece()
    names["batches"] = [tokens(2, 9, seed=seed) for seed in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        for block in blocks():
            fresh = {name: value for name, value in names.items() if not isinstance(value, ModuleType)} | {"av": av}
            exec(compile(block, str(PAGE), "exec"), fresh)
            names |= fresh
    return names


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def after_a_hook(ran: dict[str, Any], layer: int, change: Any) -> torch.Tensor:
    with given_to(ran["model"], O_PROJ.format(layer), change):
        logits: torch.Tensor = ran["model"](input_ids=ran["ids"]).logits[:, -1]
    return logits


def inputs_of_o_proj(ran: dict[str, Any], layer: int, ids: torch.Tensor) -> torch.Tensor:
    seen: list[torch.Tensor] = []
    with given_to(ran["model"], O_PROJ.format(layer), lambda given: seen.append(given) or given):
        ran["model"](input_ids=ids)
    return seen[0]


def test_ablations_are_what_writing_into_the_head_s_slice_gives(ran: dict[str, Any]) -> None:
    """Nothing, the mean over all positions of all batches, and what the head did in the other row."""
    mean = torch.cat([inputs_of_o_proj(ran, 1, batch).flatten(0, 1) for batch in ran["batches"]]).mean(0)
    written: dict[str, Any] = {
        "knocked_out": lambda own: torch.zeros_like(own),
        "mean_ablated": lambda own: mean[16:24].expand_as(own),
        "resampled": lambda own: own.flip(0),
    }
    found = ran | {"knocked_out": ran["before"] - ran["knocked_out"]}
    for name, make in written.items():

        def write(z: torch.Tensor, make: Any = make) -> torch.Tensor:
            z[..., 16:24] = make(z[..., 16:24])
            return z

        assert_close(found[name], after_a_hook(ran, 1, write), atol=1e-4, rtol=1e-4, msg=name)


def test_patching_takes_the_head_from_the_other_pass_at_the_last_token(ran: dict[str, Any]) -> None:
    other = inputs_of_o_proj(ran, 0, ran["other_ids"])

    def copy(z: torch.Tensor) -> torch.Tensor:
        z[:, -1, 32:40] = other[:, -1, 32:40]
        return z

    assert_close(ran["patched"][0, 4], after_a_hook(ran, 0, copy), atol=1e-4, rtol=1e-4)
    assert len(ran["patched"]) == 12
