"""Apply a mask, a scale or an ablation to a recorded head at once, or to a new run of the model."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.analysis.head_matrix import AS_IT_IS, DisplayOptions, Matrix, head_matrix
from attnviz.analysis.model_run import ModelRun, Stack, StackId
from attnviz.base.head_edit import MASKS, HeadEdit
from attnviz.base.largest import find_largest
from attnviz.base.message import Message
from attnviz.base.packed import unpack_bits
from attnviz.core import masks
from attnviz.core.measures import weight_moved
from attnviz.models.capture import Edit, MaskChoice, NumberChoice, RecordedLayer, ScaleChoice, Trace, intervene
from attnviz.models.catalogue import LoadedModel


def _replacing_mask(edit: HeadEdit, n_q: int, n_k: int) -> Tensor | None:
    """The mask (Q, K) in place of the model's own; None where that stays."""
    if edit.mask == "model":
        return None
    if edit.mask == "painted":
        return torch.from_numpy(unpack_mask(edit.painted, n_q, n_k))
    mask = MASKS[edit.mask]
    function: Callable[..., Tensor] = getattr(masks, mask.function)
    return function(n_q, n_k, **{name: getattr(edit, name) for name in mask.arguments})


def mask_code(edit: HeadEdit) -> str:
    """Python code of the replacing mask for n tokens, "" for the model's own; a painted one is made of `bits`."""
    if edit.mask in ("model", "painted"):
        return "" if edit.mask == "model" else "bits.flatten()[: n * n].reshape(n, n).bool()"
    mask = MASKS[edit.mask]
    arguments = "".join(f", {name}={getattr(edit, name)!r}" for name in mask.arguments)
    return f"masks.{mask.function}(n, n{arguments})"


def mask_of(edit: HeadEdit, layer: RecordedLayer) -> MaskChoice:
    """The mask that this edit puts on a layer; "model" when it leaves the layer's own."""
    pattern = _replacing_mask(edit, *layer.shape[2:])
    if not edit.hidden:
        return "model" if pattern is None else pattern
    allowed = layer.mask if pattern is None else pattern
    return allowed & torch.tensor([key not in edit.hidden for key in range(layer.shape[3])], device=allowed.device)


def scale_of(edit: HeadEdit, layer: RecordedLayer) -> ScaleChoice:
    """The number that q.kT is multiplied by, "model" where it is the model's own."""
    if edit.scale == "none":
        return None
    if edit.scale == "inverse":
        return 1.0 / layer.qkv[0].shape[-1]
    return layer.scale * edit.factor if edit.rescales else "model"


def edited_head(stack: Stack, layer: int, head: int, edit: HeadEdit, look: DisplayOptions = AS_IT_IS) -> Matrix:
    """The head itself under the new mask and scale, from the recorded Q and K: nothing is run again."""
    recorded = stack.layers[layer]
    return head_matrix(stack, layer, head, look, mask_of(edit, recorded), scale_of(edit, recorded))


def changed_layers(
    stack: Stack, layer: int, head: int, edit: HeadEdit
) -> Iterator[tuple[int, list[int], np.ndarray, np.ndarray]]:
    """Yield each layer that the edit changes: index, heads, weights (h, Q, K), hidden cells (h, Q, K).

    From the recorded Q and K, one layer at a time; layers that give only their weights are left out.
    """
    for index in range(len(stack.layers)) if edit.where == "all" else [layer]:
        recorded = stack.layers[index]
        if not recorded.exact:
            continue
        heads = [head] if edit.where == "head" else list(range(recorded.n_heads))
        mask = mask_of(edit, recorded)
        weights = recorded.weights(heads, mask, scale_of(edit, recorded))[0].float()
        allowed = recorded.mask_for(mask).expand(-1, *recorded.shape[1:])[0, heads]
        yield index, heads, weights.cpu().numpy(), ~allowed.cpu().numpy()


def to_edits(stack: Stack, layer: int, head: int, edit: HeadEdit) -> list[Edit]:
    """The change as the edits that `intervene` takes."""

    def make_edit(recorded_layer: RecordedLayer, heads: NumberChoice, **change: Any) -> Edit:
        return Edit(
            recorded_layer.index,
            heads,
            recorded_layer.stack,
            recorded_layer.kind,
            tower=recorded_layer.tower or None,
            **change,
        )

    edited_layers = stack.layers if edit.where == "all" else stack.layers[layer : layer + 1]
    heads: NumberChoice = head if edit.where == "head" else "all"
    changed = [
        make_edit(recorded, heads, mask=mask_of(edit, recorded), scale=scale_of(edit, recorded))
        for recorded in edited_layers
    ]
    silenced = [
        make_edit(stack.layers[at], tuple(number for where, number in edit.silenced if where == at), silence=True)
        for at in sorted({where for where, _ in edit.silenced})
    ]
    return (changed if edit.changes_attention else []) + silenced


def run_again(run: ModelRun, loaded: LoadedModel, stack: StackId, layer: int, head: int, edit: HeadEdit) -> Trace:
    """Run the model again with the change made during the pass, so that it reaches later layers and the logits."""
    return intervene(
        loaded.model,
        to_edits(run.stack(stack), layer, head, edit),
        logits=loaded.predicts,
        **run.inputs_on(loaded.model.device),
    )


@dataclass(frozen=True)
class Movement:
    """A head whose weights moved: its place in the stack, and how much."""

    layer: int
    head: int
    share: float  #: of its weight that moved to other keys, 0 to 1, mean over all rows


def sort_by_movement(before: Stack, after: Stack, least: float = 5e-4) -> list[Movement]:
    """The heads whose weights moved by more than `least`, the most moved first."""
    movements = []
    for index, (old, new) in enumerate(zip(before.layers, after.layers, strict=True)):
        shares = weight_moved(old.weights()[0].float(), new.weights()[0].float())  # (H,)
        movements += [Movement(index, head, share) for head, share in enumerate(shares.tolist()) if share > least]
    return sorted(movements, key=lambda movement: -movement.share)


def output_length(stack: Stack, layer: int, head: int) -> float:
    """Mean length of a head's output (weights times values, before W_O) over tokens."""
    output = stack.layers[layer].stages(head).output[0, 0]  # (Q, Dv)
    return float(torch.linalg.vector_norm(output.float(), dim=-1).mean())


def unpack_mask(bits: bytes, q_len: int, k_len: int) -> np.ndarray:
    """The mask (Q, K) that was painted; all True when the bits are for another size."""
    try:
        return unpack_bits(bits, (q_len, k_len))
    except ValueError:
        return np.ones((q_len, k_len), bool)


LEAST = 5e-4  #: of a weight, or of the largest value: what is less would read as no change


@dataclass(frozen=True)
class LargestChange:
    """The row that changes most, the cell of it that changes most, and how much."""

    row: int
    col: int
    before: float  #: of the cell; 0 where it is masked
    after: float
    weight_shift: float  #: how much of the row was taken from some keys, or added to others: the larger of the two
    empty: bool  #: whether the row may look at nothing afterwards, and could before
    alone: bool  #: whether all other rows change less


def largest_change(before: Matrix, after: Matrix) -> LargestChange | None:
    """The largest change between two matrices of the same rows and columns; None where nothing changes."""
    old, new = (np.where(matrix.hidden, 0.0, np.nan_to_num(matrix.values)) for matrix in (before, after))
    difference = (new - old).astype(np.float64)  # (Q, K)
    if not difference.size:
        return None
    row_shifts = np.maximum(difference.clip(0).sum(1), (-difference).clip(0).sum(1))  # (Q,)
    unit = 1.0 if before.meaning != "values" else float(max(old.max(), new.max()))
    most = find_largest(row_shifts)
    row = most.index
    if row_shifts[row] < LEAST * unit or not row_shifts[row]:
        return None
    col = int(np.abs(difference[row]).argmax())
    empty = bool(after.hidden[row].all() and not before.hidden[row].all())
    return LargestChange(
        row, col, float(old[row, col]), float(new[row, col]), float(row_shifts[row]), empty, most.alone
    )


def change_sentence(before: Matrix, after: Matrix) -> Message:
    """A sentence on how the second picture differs from the first, naming the row and the cell that change most."""
    change, values = largest_change(before, after), before.meaning == "values"
    if change is None and values:
        return Message("No weight × value in this picture changes.")
    if change is None:
        return Message("No row of this picture changes by as much as 0.05% of its weight.")
    cell = {"token": before.row_name(change.row), "key": before.col_name(change.col)}
    verb = Message("changes most") if change.alone else Message("changes")
    params = cell | {"before": change.before, "after": change.after, "moved": change.weight_shift, "changes": verb}
    if change.empty:
        return Message("“{token}” {changes}: it may no longer look at anything.", params)
    if values:
        return Message(
            "“{token}” {changes}: weight times value of “{key}”, after W_O, is {after:.2f} long where it was "
            "{before:.2f}.",
            params,
        )
    return Message(
        "“{token}” {changes}: {moved:.1%} of its weight goes to other tokens, and “{key}” gets {after:.1%} "
        "where it got {before:.1%}.",
        params,
    )


def difference_sentence(left: Matrix, right: Matrix) -> Message:
    """A sentence on where two heads differ most on the same tokens."""
    change = largest_change(left, right)
    if change is None:
        return Message("The two pictures do not differ.")
    cell = {"token": left.row_name(change.row), "key": left.col_name(change.col)}
    where = Message("differ most in") if change.alone else Message("differ in")
    params = cell | {"left": change.before, "right": change.after, "differ": where}
    if left.meaning == "values":
        return Message(
            "They {differ} “{token}”: weight times value of “{key}”, after W_O, is {left:.2f} long on the left "
            "and {right:.2f} on the right.",
            params,
        )
    return Message(
        "They {differ} “{token}”: it gives “{key}” {left:.1%} on the left and {right:.1%} on the right.", params
    )
