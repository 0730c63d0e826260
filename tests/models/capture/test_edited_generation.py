"""A text written under edits, step by step with a cache, against full passes without one under the same edits."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

import attnviz as av
from attnviz.base.message import Problem
from attnviz.models.capture import Edit
from tests.models.capture.plain_models import Writer
from tests.models.capture.test_generated import GREEDY, SHORT_SIGHTED, STEPS, same
from tests.models.tiny import llama, t5, tokens

GIVEN = 6
LENGTH = GIVEN + STEPS - 1
TRIL = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
NEAR = TRIL & TRIL.triu(-3).bool()
OTHER = tokens(2, LENGTH, seed=9)


def source() -> Any:
    return av.capture(llama(), OTHER, residual=True)


EDITS: dict[str, Any] = {
    "silence": lambda: Edit(0, 2, silence=True),
    "silence at": lambda: av.ablate(0, [1, -1], at=[-1, 3, 7, 9]),
    "factor": lambda: av.rescale(-1, 3, factor=2.5),
    "scale at": lambda: av.rescale(1, 3, scale=None, at=8),
    "uniform": lambda: Edit(0, uniform=True),
    "mask": lambda: av.remask(0, [0, 5], mask=NEAR),
    "mask of each head at": lambda: av.remask(1, [0, 5], mask=torch.stack([TRIL, NEAR]), at=range(4, 9)),
    "block": lambda: av.remask(0, block=[(-1, 0), (8, 7), (9, -1)]),
    "weights": lambda: Edit(0, 4, weights=(NEAR * 0.5)),
    "weights at": lambda: Edit(1, 4, weights=lambda own: own * 2, at=[2, 8]),
    "change": lambda: Edit(0, [1, 2], change=lambda q, k, v: (q + 1, k.flip(1), v * 2)),
    "output": lambda: av.patch(1, 2, source=source()),
    "output at": lambda: av.patch(1, 2, source=source(), at=[5, 8]),
    "two": lambda: [av.ablate(0, 1), Edit(0, 1, output=lambda own: own * 0 + 3.0, at=[2, 7]), av.ablate(0, 4)],
    "stream": lambda: Edit(1, stream=source(), at=[1, 8]),
    "stream function": lambda: [Edit(-1, stream=lambda own: own / 2), av.ablate(1, 0)],
}


def placed(edit: Edit, length: int) -> Edit:
    """The edit for a pass over the first `length` positions, with what is said of later ones left out of it."""
    short: dict[str, Any] = {}
    if edit.at != "all":
        at = [each if each >= 0 else GIVEN + each for each in ([edit.at] if isinstance(edit.at, int) else edit.at)]
        short["at"] = [each for each in at if each < length]
    if edit.block:
        pairs = [tuple(each if each >= 0 else GIVEN + each for each in pair) for pair in edit.block]
        short["block"] = [pair for pair in pairs if max(pair) < length]
    for name in ("mask", "weights"):
        if isinstance(getattr(edit, name), Tensor):
            short[name] = getattr(edit, name)[..., :length, :length]
    if isinstance(edit.output, av.Trace):
        short["output"] = av.capture(llama(), OTHER[:, :length])
    if isinstance(edit.stream, av.Trace):
        short["stream"] = av.capture(llama(), OTHER[:, :length], residual=True)
    return replace(edit, **short)


def in_full_passes(model: Any, edits: list[Edit], ids: Tensor, name: str = "input_ids") -> tuple[Tensor, list[Tensor]]:
    """What is written, and each token's logits, by passes that know of no other."""
    logits = []
    for _ in range(STEPS):
        here = [placed(edit, ids.shape[1]) for edit in edits]
        here = [edit for edit in here if edit.at != [] and (edit.block or edit.given() or edit.stream is not None)]
        run = av.intervene if here else lambda model, _, **given: av.capture(model, **given)
        logits.append(run(model, here, **{name: ids}).logits)
        ids = torch.cat([ids, logits[-1].argmax(-1, keepdim=True)], 1)
    return ids, logits


def written(model: Any, given: Any, edits: list[Edit], ids: Tensor, name: str = "input_ids", **how: Any) -> av.Trace:
    """The trace of what a model writes under edits, which is compared with full passes under the same."""
    write = [ids, STEPS] if name == "idx" else [ids]
    trace = av.intervene(model.generate, given, *write, logits="all", **how)
    expected, logits = in_full_passes(model, edits, ids, name)
    assert torch.equal(trace.inputs["sequences"], expected)
    assert_close(trace.logits, torch.stack(logits, 1), atol=1e-4, rtol=1e-4)
    return trace


@pytest.mark.parametrize("how", [{}, {"use_cache": False}, {"cache_implementation": "static"}], ids=str)
@pytest.mark.parametrize("kind", EDITS)
def test_token_by_token_it_is_what_full_passes_under_the_edit_write(kind: str, how: dict[str, Any]) -> None:
    model, ids, made = llama(), tokens(2, GIVEN), EDITS[kind]()
    edits = made if isinstance(made, list) else [made]
    trace = written(model, made, edits, ids, **GREEDY, **how)
    assert not torch.allclose(trace.logits, av.capture(model.generate, ids, logits="all", **GREEDY).logits, atol=1e-3)
    whole = av.intervene(model, [placed(edit, LENGTH) for edit in edits], trace.inputs["input_ids"], logits="all")
    same(trace, whole, atol=1e-4)


def test_a_cache_that_drops_keys_an_encoder_beside_it_and_a_model_of_one_s_own() -> None:
    model, ids = SHORT_SIGHTED(), tokens(2, GIVEN)
    edits = [av.ablate(0, 2, at=[-1, 8]), av.remask(-1, 3, block=[(8, 6), (9, 7)])]
    written(model, edits, edits, ids, **GREEDY)
    with pytest.raises(Problem, match="mask looks at positions that this model's cache has dropped"):
        av.intervene(model.generate, av.remask(0, mask=TRIL), ids, **GREEDY)

    written(Writer().eval(), av.ablate(0, -1, at=[1, 5]), [av.ablate(0, 3, at=[1, 5])], ids, "idx")

    both = t5(initializer_factor=3.0)
    edits = [
        av.ablate(-1, 1, stack="encoder", at=-1),
        av.remask(0, 2, kind="cross", block=[(2, -1)]),
        av.ablate(1, 3, stack="decoder", at=[0, 3]),
    ]
    trace = av.intervene(both.generate, edits, ids, logits="all", **GREEDY)
    absolute = [edits[0], av.remask(0, 2, kind="cross", block=[(2, 5)]), edits[2]]
    whole = av.intervene(
        both, absolute, input_ids=ids, decoder_input_ids=trace.inputs["decoder_input_ids"], logits="all"
    )
    assert_close(trace.logits, whole.logits, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "edit, said",
    [
        (lambda: av.remask(0, mask=None), "mask=None looks ahead of a position that is being written"),
        (lambda: av.remask(0, mask=torch.ones(LENGTH, LENGTH).bool()), "mask looks ahead of a position"),
        (lambda: av.remask(0, mask=torch.ones(1, 1).bool(), at=8), "mask looks ahead of a position"),
        (lambda: Edit(0, weights=torch.ones(LENGTH, LENGTH)), "weights looks ahead of a position"),
        (lambda: Edit(0, weights=lambda own: own.flip(-1)), "weights looks ahead of a position"),
        (lambda: av.remask(0, mask=TRIL[:7, :7]), "mask is made for 7 positions and position 7 is to be changed"),
        (
            lambda: av.patch(0, source=av.capture(llama(), tokens(2, 7))),
            "output is made for 7 positions and position 7",
        ),
        (lambda: Edit(0, stream=av.capture(llama(), tokens(2, 7), residual=True)), "stream is made for 7 positions"),
        (lambda: av.ablate(0, at=[40, 41]), r"no position of at=\[40, 41\]"),
        (lambda: av.ablate(2), "has no layer 2 to change"),
    ],
)
def test_what_cannot_be_written_under_is_refused(edit: Any, said: str) -> None:
    with pytest.raises(Problem, match=said):
        av.intervene(llama().generate, edit(), tokens(2, GIVEN), **GREEDY)
