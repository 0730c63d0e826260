"""Find a model's rotary position embedding, and edits that remove it or change its base."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from attnviz.base.message import Problem
from attnviz.core.rope import Pairing, frequencies, rotate
from attnviz.models.capture.edit import TensorChange
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.run import capture

SHIFT = 3  #: positions by which the second of the two passes is shifted
CLOSE = 1e-3  #: two passes of a model in float32 differ by less, as a share of the longest query


@dataclass(frozen=True, eq=False)
class Rotary:
    """The rotation that a model's attention layers apply to queries and keys, found by trying.

    `pairing` and `turns` (radians per position, (D/2,)) as in `attnviz.core.rope`; `length` is the factor by which
    rotated vectors are longer. `layers` are those that rotate: some models leave some out.
    """

    turns: Tensor
    pairing: Pairing
    length: float
    layers: frozenset[int]

    @property
    def width(self) -> int:
        """Number of a head's dimensions that are rotated."""
        return 2 * len(self.turns)

    @property
    def base(self) -> float:
        """Base of the frequencies, from the second pair, to six digits."""
        return float(f"{float(self.turns[1]) ** -len(self.turns):.6g}") if len(self.turns) > 1 else 1.0

    def change_base(self, base: float | None) -> TensorChange:
        """For `Edit.change`: undo the rotation and, with a `base`, rotate again with the frequencies of that base."""
        new = None if base is None else frequencies(self.width, base)

        def change(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            return self._rotate_again(q, new), self._rotate_again(k, new), v

        return change

    def _rotate_again(self, x: Tensor, new: Tensor | None) -> Tensor:
        """x (B, H, T, D) without its rotation, rotated again by frequencies `new`; positions are 0 to T-1."""
        positions = torch.arange(x.shape[-2], device=x.device, dtype=torch.float64)[:, None]
        turned, rest = x[..., : self.width].double(), x[..., self.width :]
        plain = rotate(turned, -positions * self.turns.to(x.device), self.pairing, 1 / self.length)
        if new is not None:
            plain = rotate(plain, positions * new.to(x.device), self.pairing, self.length)
        return torch.cat([plain.to(x.dtype), rest], -1)


def find_rotary(model: nn.Module) -> Rotary:
    """Find the rotation of a decoder; raises a Problem for a model with other position embeddings.

    Found by running it twice on the same tokens, the second time with all positions shifted: the scores stay, and
    every query must have turned by exactly the frequencies that the model's rotary module holds.
    """
    module = next((m for name, m in model.named_modules() if isinstance(getattr(m, "inv_freq", None), Tensor)), None)
    name = type(model).__name__
    if module is None:
        raise Problem("{model} does not rotate queries and keys: positions come in another way", model=name)
    turns = module.inv_freq.detach().double().cpu()
    length = float(getattr(module, "attention_scaling", 1.0))
    ids = torch.arange(1, 5, device=module.inv_freq.device)[None]
    passes = [
        capture(model, input_ids=ids, position_ids=torch.arange(4, device=ids.device)[None] + shift, logits=None)
        for shift in (0, SHIFT)
    ]
    before, after = ([layer for layer in trace.layers if layer.q is not None] for trace in passes)
    for pairing in ("half", "interleaved"):
        rotary = Rotary(turns, pairing, length, frozenset())
        turned = [a.index for b, a in zip(before, after, strict=True) if _is_turned(rotary, b, a)]
        if turned:
            return replace(rotary, layers=frozenset(turned))
    raise Problem("{model} rotates queries and keys in a way that attnviz does not know", model=name)


def _is_turned(rotary: Rotary, before: RecordedLayer, after: RecordedLayer) -> bool:
    """Whether the layer's queries turned by SHIFT positions as `rotary` says."""
    was, now = (layer.qkv[0].double().cpu() for layer in (before, after))
    if was.shape[-1] < rotary.width:
        return False
    turned = rotate(was[..., : rotary.width], (SHIFT * rotary.turns).expand(was.shape[-2], -1), rotary.pairing)
    expected = torch.cat([turned, was[..., rotary.width :]], -1)
    return float((now - expected).norm(dim=-1).max()) < CLOSE * float(was.norm(dim=-1).max())


#: where families keep a table with one vector for each position
TABLES: Sequence[str] = ("position_embeddings", "wpe", "embed_positions")


def learned_positions(model: nn.Module) -> Tensor | None:
    """Table of learned position embeddings, (positions, M); None if the model has none."""
    for name, module in model.named_modules():
        if name.rsplit(".", 1)[-1] in TABLES and isinstance(module, nn.Embedding):
            return module.weight.detach()
    return None
