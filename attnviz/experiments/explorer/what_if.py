"""Another mask, another scale, a silenced head: what it does to the head at once, and to a new run of the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from attnviz.core import masks
from attnviz.core.measures import total_variation
from attnviz.experiments.explorer.head_matrix import Look, Matrix, head_matrix
from attnviz.experiments.explorer.model_run import ModelRun, Stack
from attnviz.mask_bits import unpack_bits
from attnviz.models.capture import Edit, MaskChoice, NumberChoice, RecordedLayer, ScaleChoice, Trace, intervene
from attnviz.models.catalogue import LoadedModel

Where = Literal["head", "layer", "all"]


@dataclass(frozen=True)
class WhatIf:
    """What is changed. The defaults change nothing."""

    pattern: Literal["model", "none", "causal", "window", "painted"] = "model"
    window: int = 4  #: tokens that a window sees, itself included
    hidden: tuple[int, ...] = ()  #: key positions that no query may look at
    painted: bytes = b""  #: np.packbits of a (Q, K) boolean, for pattern "painted"
    scale: Literal["model", "none", "inverse", "factor"] = "model"  #: "inverse": 1/D
    factor: float = 1.0  #: the model's own scale times this, for scale "factor"
    where: Where = "head"
    silenced: tuple[tuple[int, int], ...] = ()  #: (layer, head) in the stack

    @property
    def changes_attention(self) -> bool:
        """Whether mask or scale differ from the model's."""
        return self.pattern != "model" or bool(self.hidden) or self.scale not in ("model", "factor") or self.rescales

    @property
    def rescales(self) -> bool:
        return self.scale == "factor" and self.factor != 1.0

    @property
    def changes(self) -> bool:
        """Whether anything is changed, silenced heads included."""
        return self.changes_attention or bool(self.silenced)


def mask_of(what_if: WhatIf, layer: RecordedLayer) -> MaskChoice:
    """The mask that this what-if puts on a layer; "model" when it leaves the layer's own."""
    _, _, q_len, k_len = layer.shape
    pattern: Tensor | None = None
    if what_if.pattern == "none":
        pattern = torch.ones(q_len, k_len, dtype=torch.bool)
    elif what_if.pattern == "causal":
        pattern = masks.causal(q_len, k_len)
    elif what_if.pattern == "window":
        pattern = masks.sliding_window(q_len, k_len, window=what_if.window)
    elif what_if.pattern == "painted":
        pattern = torch.from_numpy(unpacked(what_if.painted, q_len, k_len))
    if not what_if.hidden:
        return "model" if pattern is None else pattern
    kept = torch.ones(k_len, dtype=torch.bool)
    kept[[key for key in what_if.hidden if 0 <= key < k_len]] = False
    if pattern is None:
        return layer.mask & kept.to(layer.mask.device)
    return pattern & kept


def scale_of(what_if: WhatIf, layer: RecordedLayer) -> ScaleChoice:
    """The number that q.kT is multiplied by, "model" where it is the model's own."""
    if what_if.scale == "none":
        return None
    if what_if.scale == "inverse":
        assert layer.q is not None
        return 1.0 / layer.q.shape[-1]
    return layer.scale * what_if.factor if what_if.rescales else "model"


def instantly(stack: Stack, layer: int, head: int, what_if: WhatIf, look: Look | None = None) -> Matrix:
    """The head itself under the new mask and scale, from the recorded Q and K: nothing is run again."""
    chosen = stack.layers[layer]
    return head_matrix(stack, layer, head, look, mask_of(what_if, chosen), scale_of(what_if, chosen))


def changed_layers(
    stack: Stack, layer: int, head: int, what_if: WhatIf
) -> Iterator[tuple[int, list[int], np.ndarray, np.ndarray]]:
    """The layers that the change reaches: place, heads, their weights (h, Q, K), and what the mask hides (h, Q, K).

    From the recorded Q and K, one layer at a time; layers that give only their weights are left out.
    """
    for index in range(len(stack.layers)) if what_if.where == "all" else [layer]:
        chosen = stack.layers[index]
        if not chosen.exact:
            continue
        heads = [head] if what_if.where == "head" else list(range(chosen.n_heads))
        mask = mask_of(what_if, chosen)
        weights = chosen.weights(heads, mask, scale_of(what_if, chosen))[0].float()
        _, _, q_len, k_len = chosen.shape
        allowed = chosen.mask_for(mask).expand(-1, chosen.n_heads, q_len, k_len)[0, heads]
        yield index, heads, weights.cpu().numpy(), ~allowed.cpu().numpy()


def edits(stack: Stack, layer: int, head: int, what_if: WhatIf) -> list[Edit]:
    """The what-if as the edits that `intervene` takes."""
    found = []
    chosen = range(len(stack.layers)) if what_if.where == "all" else [layer]
    kind, side = stack.layers[0].kind, stack.layers[0].stack
    if what_if.changes_attention:
        for index in chosen:
            here = stack.layers[index]
            heads: NumberChoice = head if what_if.where == "head" else "all"
            mask, scale = mask_of(what_if, here), scale_of(what_if, here)
            found.append(Edit(here.index, heads, side, kind, mask=mask, scale=scale, tower=here.tower or None))
    for index in sorted({place[0] for place in what_if.silenced}):
        quiet = tuple(number for where, number in what_if.silenced if where == index)
        here = stack.layers[index]
        found.append(Edit(here.index, quiet, side, kind, silence=True, tower=here.tower or None))
    return found


def run_again(run: ModelRun, loaded: LoadedModel, stack: Stack, layer: int, head: int, what_if: WhatIf) -> Trace:
    """Run the model again with the change made during the pass, so that it reaches later layers and the logits."""
    chosen = edits(stack, layer, head, what_if)
    return intervene(loaded.model, chosen, logits=loaded.predicts, **run.inputs_on(loaded.model.device))


def moved(before: Stack, after: Stack) -> np.ndarray:
    """(N,): for each head the share of its weight that moved to other keys, 0 to 1, mean over rows."""
    parts = []
    for old, new in zip(before.layers, after.layers, strict=True):
        difference = total_variation(old.weights()[0].float(), new.weights()[0].float())  # (H, Q)
        parts.append(difference.mean(-1))
    return torch.cat(parts).cpu().numpy()


@dataclass(frozen=True)
class Movement:
    """A head whose weights moved: its place in the stack, and how much."""

    layer: int
    head: int
    share: float  #: of its weight that moved to other keys, 0 to 1, mean over rows


def by_movement(before: Stack, after: Stack, least: float = 5e-4) -> list[Movement]:
    """The heads whose weights moved by more than `least`, the most moved first."""
    places = [(index, head) for index, layer in enumerate(before.layers) for head in range(layer.n_heads)]
    shares = moved(before, after)
    order = (int(i) for i in np.argsort(-shares, kind="stable") if shares[i] > least)
    return [Movement(places[i][0], places[i][1], float(shares[i])) for i in order]


def output_length(stack: Stack, layer: int, head: int) -> float:
    """How long a head's output (weights times values, before W_O) is, mean over tokens: what silencing zeroes."""
    output = stack.layers[layer].stages(head).output[0, 0]  # (Q, Dv)
    return float(torch.linalg.vector_norm(output.float(), dim=-1).mean())


def unpacked(bits: bytes, q_len: int, k_len: int) -> np.ndarray:
    """The mask (Q, K) that was painted; all True when the bits are for another size."""
    try:
        return unpack_bits(bits, (q_len, k_len))
    except ValueError:
        return np.ones((q_len, k_len), bool)
