"""One pass of a model over a picture: which token is which patch, what the model answers, and its attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np
import torch
from torch import Tensor

from attnviz.core.message import Problem
from attnviz.models.capture import Edit, RecordedLayer, Trace, capture, intervene
from attnviz.models.catalogue import LoadedModel, WeightsAre
from attnviz.models.pictures import PatchGrid, PreparedPicture, grid_of, prepare

PictureStack = Literal["picture", "words"]  #: patches that look at patches; words that look at patches
MOST_WORDS = 12


@dataclass(frozen=True)
class HeadChange:
    """What a visitor changes: patches that nobody may look at, heads that hand on nothing, the scale of one head.

    Heads are named by stack, layer and head. `factor` multiplies the scale of `head`.
    """

    hidden: tuple[int, ...] = ()  #: patches, row by row from 0
    silenced: tuple[tuple[PictureStack, int, int], ...] = ()
    factor: float = 1.0
    head: tuple[PictureStack, int, int] = ("picture", 0, 0)

    def __bool__(self) -> bool:
        return bool(self.hidden or self.silenced or self.factor != 1.0)


@dataclass(frozen=True, eq=False)
class PictureAnswer:
    """What a model says of a picture: words, each with its probability; of a model that says nothing, a vector."""

    words: tuple[str, ...] = ()  #: one for a model that names a picture, several for one that writes
    shares: tuple[float, ...] = ()  #: the probability of each
    others: tuple[tuple[str, float], ...] = ()  #: of a model that names: the likeliest names, the first included
    vector: np.ndarray | None = None

    @property
    def said(self) -> str:
        return " ".join(self.words)

    @property
    def share(self) -> float:
        """The probability of all the words together."""
        return float(np.prod(self.shares)) if self.shares else 0.0


@dataclass(frozen=True, eq=False)
class PatchStack:
    """Layers whose keys are the same patches."""

    id: PictureStack
    layers: tuple[RecordedLayer, ...]
    grid: PatchGrid
    words: tuple[str, ...] = ()  #: in place of patches, what looks: the word that each query wrote

    @property
    def queries(self) -> int:
        return len(self.words) or self.grid.tokens

    def has(self, layer: int, head: int) -> bool:
        return 0 <= layer < len(self.layers) and 0 <= head < self.layers[layer].n_heads


@dataclass(frozen=True, eq=False)
class PictureRun:
    """A picture as a model was given it, its answer, and its layers. Holds no model."""

    model: str
    name: str
    prepared: PreparedPicture
    trace: Trace
    stacks: tuple[PatchStack, ...]
    answer: PictureAnswer
    weights_are: WeightsAre = "trained"
    written: Tensor | None = None  #: of a model that writes: the token ids, (1, T)
    inputs: dict[str, Any] = field(default_factory=dict)

    def stack(self, name: str) -> PatchStack:
        """The stack of that id, else the first."""
        return next((each for each in self.stacks if each.id == name), self.stacks[0])

    @property
    def nbytes(self) -> int:
        return self.trace.nbytes + self.prepared.shown.nbytes


def run_picture(loaded: LoadedModel, pixels: np.ndarray) -> PictureRun:
    """One pass over counts (height, width) or colours (height, width, 3); a Problem from a model of text."""
    if loaded.model.main_input_name != "pixel_values":
        raise Problem("{name} takes text and no pictures", name=loaded.name)
    prepared = prepare(loaded, pixels)
    inputs: dict[str, Any] = {name: each.to(loaded.model.device) for name, each in prepared.inputs.items()}
    written = None
    if loaded.model.config.is_encoder_decoder:
        written = write(loaded.model, inputs)
        inputs = inputs | {"decoder_input_ids": written[:, :-1]}
    trace = capture(loaded.model, logits="all", **inputs)
    answer = answer_of(loaded.model, trace, written)
    stacks = stacks_of(loaded.model, trace, prepared, words_of(loaded.model, written))
    if not stacks:
        raise Problem("{name} has no layer whose tokens are patches of the whole picture", name=loaded.name)
    return PictureRun(
        loaded.entry.id, loaded.name, prepared, trace, stacks, answer, loaded.weights_are, written, inputs
    )


def rerun(loaded: LoadedModel, run: PictureRun, change: HeadChange) -> tuple[PictureAnswer, Trace]:
    """The answer when patches are hidden in every layer, heads are silenced or a scale is changed, and that pass.

    A model that writes is asked anew word by word: what it wrote before is not put into its mouth.
    """
    edits = edits_of(run, change)
    if not edits:
        return run.answer, run.trace
    model = loaded.model
    inputs = {name: each for name, each in run.inputs.items() if name != "decoder_input_ids"}
    if run.written is None:
        trace = intervene(model, edits, logits="all", **inputs)
        return answer_of(model, trace, None), trace
    written = write(model, inputs, edits)
    trace = intervene(model, edits, logits="all", **inputs, decoder_input_ids=written[:, :-1])
    return answer_of(model, trace, written), trace


def edits_of(run: PictureRun, change: HeadChange) -> list[Edit]:
    """The change as `intervene` takes it."""
    edits: list[Edit] = []
    if change.hidden:
        for stack in run.stacks:
            kind: Literal["self", "cross"] = "cross" if stack.id == "words" else "self"
            seen = seen_keys(stack.grid, change.hidden)
            towers = dict.fromkeys(layer.tower for layer in stack.layers)
            edits += [Edit(mask=seen, kind=kind, tower=tower or None) for tower in towers]
    for name, layer, head in change.silenced:
        found = run.stack(name).layers[layer]
        edits.append(Edit(layers=layer, heads=head, kind=found.kind, tower=found.tower or None, silence=True))
    if change.factor != 1.0:
        name, layer, head = change.head
        found = run.stack(name).layers[layer]
        mask = seen_keys(run.stack(name).grid, change.hidden) if change.hidden else "model"
        edits.append(
            Edit(
                layers=layer,
                heads=head,
                kind=found.kind,
                tower=found.tower or None,
                mask=cast(Any, mask),
                factor=change.factor,
            )
        )
    return edits


def seen_keys(grid: PatchGrid, hidden: Sequence[int]) -> Tensor:
    """Boolean (1, K): True at special tokens and at patches that are not hidden."""
    seen = torch.ones(1, grid.tokens, dtype=torch.bool)
    seen[0, [grid.first + patch for patch in hidden if 0 <= patch < grid.patches]] = False
    return seen


def stacks_of(model: Any, trace: Trace, prepared: PreparedPicture, words: tuple[str, ...]) -> tuple[PatchStack, ...]:
    """Layers of patches that look at all patches, and layers of words that do."""
    patches = [layer for layer in trace.layers if layer.kind == "self" and layer.stack == "encoder"]
    if not patches:
        return ()
    tokens = patches[0].shape[3]
    whole = tuple(layer for layer in patches if layer.shape[2] == layer.shape[3] == tokens and layer.shape[0] == 1)
    grid = grid_of(model, *prepared.size, tokens)
    found = [PatchStack("picture", whole, grid)] if whole else []
    across = tuple(layer for layer in trace.layers if layer.kind == "cross" and layer.shape[3] == tokens)
    if across:
        found.append(PatchStack("words", across, grid, words))
    return tuple(found)


def write(model: Any, inputs: dict[str, Any], edits: Sequence[Edit] = ()) -> Tensor:
    """What the decoder writes, always the likeliest word, from its start to its end, (1, T)."""
    start, end = model.config.decoder_start_token_id, model.config.eos_token_id
    written = torch.tensor([[start]], device=inputs["pixel_values"].device)
    for _ in range(MOST_WORDS):
        given = inputs | {"decoder_input_ids": written}
        trace = intervene(model, edits, logits="all", **given) if edits else capture(model, logits="all", **given)
        assert trace.logits is not None
        word = trace.logits[:, -1].argmax(-1, keepdim=True)
        written = torch.cat([written, word], 1)
        if int(word) == end:
            break
    return written


def words_of(model: Any, written: Tensor | None) -> tuple[str, ...]:
    """The words of token ids, without the start."""
    if written is None:
        return ()
    names = model.config.id2label
    return tuple(str(names.get(int(each), int(each))) for each in written[0, 1:])


def answer_of(model: Any, trace: Trace, written: Tensor | None) -> PictureAnswer:
    """What the model says: the words it writes, the likeliest names, or a vector where it says nothing."""
    logits = trace.logits
    if logits is None:
        return PictureAnswer()
    if written is not None:
        shares = logits[0].float().softmax(-1).gather(-1, written[0, 1:, None])[:, 0]
        return PictureAnswer(words_of(model, written), tuple(shares.tolist()))
    if logits.dim() != 2:
        return PictureAnswer()
    shares = logits[0].float().softmax(-1)
    names = model.config.id2label
    best = shares.topk(min(5, len(shares)))
    others = tuple(
        (str(names.get(at, at)), share) for at, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    )
    return PictureAnswer((others[0][0],), (others[0][1],), others)
