"""What a head costs, against a loop of hooks and torch's own cross entropy."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import attnviz as av
from attnviz.analysis.heads.removal_costs import head_costs, mean_outputs
from tests.models.capture.plain_models import Own
from tests.models.tiny import llama, padded, tokens
from tests.models.tiny_streams import STREAMS

BATCHES = [{"input_ids": tokens(2, 9, seed=seed), "attention_mask": padded("right", 2, 9)} for seed in range(2)]


def loss(model: nn.Module, inputs: dict[str, Tensor]) -> Tensor:
    with torch.no_grad():
        logits = model(**inputs).logits
    targets = inputs["input_ids"].masked_fill(inputs["attention_mask"] == 0, -100)[:, 1:]
    rows = zip(logits[:, :-1], targets, strict=True)
    return torch.stack([F.cross_entropy(scores, wanted, ignore_index=-100) for scores, wanted in rows])


def by_hooks(model: nn.Module, inputs: dict[str, Tensor], means: dict[str, Tensor] | None) -> np.ndarray:
    """One whole pass for each head, (B, N)."""
    base, rises = loss(model, inputs), []
    for number, block in enumerate(model.model.layers):
        for head in range(6):

            def change(module: nn.Module, given: tuple[Tensor], n: int = number, h: int = head) -> tuple[Tensor]:
                made = given[0].clone()
                mean = 0.0 if means is None else means[f"model.layers.{n}.self_attn"][h, 0]
                made[..., 8 * h : 8 * h + 8] = mean
                return (made,)

            hook = block.self_attn.o_proj.register_forward_pre_hook(change)
            rises.append(loss(model, inputs) - base)
            hook.remove()
    return torch.stack(rises, 1).numpy()


@pytest.mark.parametrize("build", [lambda: llama(num_hidden_layers=3), STREAMS["granite"][0]], ids=["llama", "granite"])
def test_the_costs_are_those_of_one_whole_pass_for_each_head(build: Callable[[], nn.Module]) -> None:
    """Granite divides its logits by a factor of its own."""
    model = build()
    means = mean_outputs(model, BATCHES)
    *_, last = head_costs(model, BATCHES, means)
    assert last.sentences == 4
    for name, given in (("silenced", None), ("mean", means)):
        expected = np.concatenate([by_hooks(model, inputs, given) for inputs in BATCHES])
        np.testing.assert_allclose(last.by_sentence[name], expected, atol=2e-5)
        assert np.abs(expected).max() > 0.05


def test_a_plain_model_has_the_costs_of_one_edited_pass_for_each_head() -> None:
    model, ids = Own().eval(), tokens(2, 8)
    table = av.cost_of_heads(model, [ids], means=av.mean_outputs(model, [ids]))

    def loss_of(logits: Tensor) -> float:
        return float(F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()))

    before = loss_of(av.capture(model, ids, logits="all").logits)
    for (layer, head), cost in np.ndenumerate(table.mean["silenced"]):
        after = loss_of(av.intervene(model, av.ablate(f"h.{layer}", head), ids, logits="all").logits)
        assert cost == pytest.approx(after - before, abs=1e-5)
    assert set(table.mean) == {"silenced", "mean", "direct"}
    assert np.ptp(table.mean["silenced"]) > 1e-3


def test_a_stopped_run_goes_on_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, file = llama(), tmp_path / "costs.npz"
    whole = list(head_costs(model, BATCHES))[-1]
    first = next(iter(head_costs(model, BATCHES, keep=file)))
    assert first.sentences == 2
    ran: list[int] = []
    module = sys.modules["attnviz.analysis.heads.removal_costs"]

    before = module._measure_batch
    monkeypatch.setattr(module, "_measure_batch", lambda *given: ran.append(1) or before(*given))
    again = list(head_costs(model, BATCHES, keep=file))
    assert len(ran) == 1
    np.testing.assert_array_equal(again[-1].by_sentence["silenced"], whole.by_sentence["silenced"])
    list(head_costs(llama(seed=1), BATCHES, keep=file))
    assert len(ran) == 3, "another model's costs were taken for this one's"
    file.write_bytes(b"half")
    assert next(iter(head_costs(model, BATCHES, keep=file))).sentences == 2
