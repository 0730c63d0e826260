"""Activation patching against torch's own hooks and against finite differences."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attnviz.models.attribution.patching import Cell, Patching, activation_patching, attribution_patching
from tests.models.capture.plain_models import Own
from tests.models.capture.test_gradients import PROJECTIONS, gemma2
from tests.models.tiny import bert, changed, llama, tokens

MODELS: dict[str, Any] = {"llama": llama, "bert": bert, "gemma2": gemma2, "own": lambda: Own().eval()}
PLACES = PROJECTIONS | {"own": "h.{}.out_proj"}
BLOCKS = {"llama": "model.layers.{}", "bert": "bert.encoder.layer.{}", "gemma2": "model.layers.{}", "own": "h.{}"}
CLEAN, CORRUPTED = tokens(1, 7), tokens(1, 7, seed=5)
TOKEN, VERSUS = 7, 11


def lead(model: nn.Module, ids: Tensor, position: int) -> float:
    output = model(ids)
    logits = getattr(output, "logits", output)[0, position].double()
    return float(logits[TOKEN] - logits[VERSUS])


def by_hooks(name: str, model: nn.Module, cell: Cell, share: float = 1.0, position: int = -1) -> float:
    """What that share of the way from the corrupted to the clean value of one cell adds to the lead."""
    place = (BLOCKS if cell.head is None else PLACES)[name].format(cell.layer)
    rows = slice(None) if cell.position is None else cell.position
    clean: dict[str, Tensor] = {}

    def keep(_: str, given: Tensor) -> Tensor:
        clean[place] = given
        return given

    def put(_: str, given: Tensor) -> Tensor:
        width = given.shape[-1] if cell.head is None else given.shape[-1] // heads_of(model)
        first = 0 if cell.head is None else cell.head * width
        part = (0, rows, slice(first, first + width))
        given[part] += share * (clean[place][part] - given[part])
        return given

    with changed(model, [place], keep):
        model(CLEAN)
    with changed(model, [place], put):
        after = lead(model, CORRUPTED, position)
    with torch.no_grad():
        return after - lead(model, CORRUPTED, position)


def heads_of(model: nn.Module) -> int:
    return int(getattr(getattr(model, "config", None), "num_attention_heads", 4))


def found_in(model: nn.Module, **more: Any) -> Patching:
    return attribution_patching(model, CLEAN, CORRUPTED, TOKEN, VERSUS, **more)


@pytest.mark.parametrize("name", MODELS)
def test_the_linearised_effect_is_the_slope_towards_the_clean_run(name: str) -> None:
    model = MODELS[name]().double()
    found = found_in(model)
    assert found.heads.shape == (2, heads_of(model), 7)
    assert found.streams.shape == (2, 7)
    cells = [Cell(0, 1, 2), Cell(0, 2, 6), Cell(1, 3, 6), Cell(0, 3), Cell(0, None, 3), Cell(1, None, 6), Cell(1)]
    for cell in cells:
        far, near = (
            (by_hooks(name, model, cell, step) - by_hooks(name, model, cell, -step)) / (2 * step)
            for step in (0.02, 0.01)  # not smaller: these models' norms compute in float32
        )
        assert found.at(cell) == pytest.approx((4 * near - far) / 3, rel=1e-3, abs=1e-4)
    assert abs(found.at(Cell(0, 3))) > 1e-3
    assert found.by_head[0, 3] == pytest.approx(found.at(Cell(0, 3)))


@pytest.mark.parametrize("at_once", [1, 3])
@pytest.mark.parametrize("name", MODELS)
def test_exact_cells_are_those_of_hooks(name: str, at_once: int) -> None:
    model = MODELS[name]()
    cells = [Cell(1, 2), Cell(0, 1, 2), Cell(0, None, 3), Cell(1, None, -1), Cell(-1, -1), Cell(0, 2, 6), Cell(1, 0, 6)]
    made = list(activation_patching(model, CLEAN, CORRUPTED, TOKEN, cells, VERSUS, at_once=at_once))
    counted = [Cell(1, heads_of(model) - 1) if cell.layer < 0 else cell for cell in cells]
    expected = [by_hooks(name, model, cell) for cell in counted]
    assert [value for _, value in made] == pytest.approx(expected, abs=2e-5)
    assert [cell for cell, _ in made] == cells, "as they were given"
    assert max(map(abs, expected)) > 0.1


def test_of_another_position_and_of_prompts_with_padding() -> None:
    model = llama()
    cell = Cell(0, 4)
    ((_, value),) = activation_patching(model, CLEAN, CORRUPTED, TOKEN, [cell], VERSUS, position=-3)
    assert value == pytest.approx(by_hooks("llama", model, cell, position=-3), abs=2e-5)
    mask = torch.tensor([[0, 0, 1, 1, 1, 1, 1, 1, 1]])
    padded = [
        {"input_ids": torch.cat([torch.zeros(1, 2, dtype=torch.long), ids], 1), "attention_mask": mask}
        for ids in (CLEAN, CORRUPTED)
    ]
    found = attribution_patching(model, *padded, TOKEN, VERSUS)
    torch.testing.assert_close(found.heads[..., 2:], found_in(model).heads, atol=1e-5, rtol=1e-4)
    assert found.heads[..., :2].abs().max() == 0
