"""One pass of a model over a picture: which token is which patch, what the model answers, and its attention.

Many passes find a smallest set of patches that keeps the answer: none of them can be taken away alone. It is one such
set and not the only one: which patches are left depends on the order in which others were taken away.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Message, Problem
from attnviz.base.rounding import Rounded
from attnviz.models.capture import Edit, Trace, capture, intervene
from attnviz.models.catalogue import LoadedModel
from attnviz.models.pictures import PreparedPicture, find_grid, has_two_encoders, prepare, takes_text
from attnviz.pages.pictures.maths.picture_record import (
    HeadChange,
    PatchStack,
    PictureAnswer,
    PictureRun,
    layer_windows,
    masks_without,
    stage_stacks,
    visible_keys,
    window_edits,
)
from attnviz.pages.pictures.maths.prompted_run import (
    best_description,
    compare_descriptions,
    rerun_prompted,
    run_compared,
    run_prompted,
)

MOST_WORDS = 12


def run_picture(loaded: LoadedModel, pixels: np.ndarray, words: str = "") -> PictureRun:
    """One pass over counts (height, width) or colours (height, width, 3); a Problem from a model of text.

    `words` are what a model of pictures and words is asked, or descriptions to compare the picture with.
    """
    if takes_text(loaded.model):
        return run_prompted(loaded, pixels, words)
    if has_two_encoders(loaded.model):
        return run_compared(loaded, pixels, words)
    if loaded.model.main_input_name != "pixel_values":
        raise Problem("{name} takes text and no pictures", name=loaded.name)
    prepared = prepare(loaded, pixels)
    inputs: dict[str, Any] = {name: each.to(loaded.model.device) for name, each in prepared.inputs.items()}
    written = None
    if loaded.model.config.is_encoder_decoder:
        written = write(loaded.model, inputs)
        inputs = inputs | {"decoder_input_ids": written[:, :-1]}
    trace = capture(loaded.model, logits="all", **inputs)
    windows = layer_windows(loaded, trace, prepared)
    stacks, left_out = stage_stacks(windows, prepared)
    if not windows:
        stacks = make_stacks(loaded.model, trace, prepared, decode_words(loaded.model, written))
    if not stacks:
        raise Problem("{name} has no layer whose tokens are patches of the whole picture", name=loaded.name)
    return PictureRun(
        loaded.entry.id,
        loaded.name,
        prepared,
        trace,
        stacks,
        make_answer(loaded.model, trace, written),
        loaded.weights_are,
        written,
        inputs,
        windows,
        left_out=left_out,
    )


def rerun(loaded: LoadedModel, run: PictureRun, change: HeadChange) -> tuple[PictureAnswer, Trace]:
    """The answer when patches are hidden in every layer, heads are silenced or a scale is changed, and that pass.

    A model that writes is asked anew word by word: what it wrote before is not put into its mouth.
    """
    if run.prompt is not None:
        return rerun_prompted(loaded, run, change)
    edits = make_edits(run, change)
    if not edits:
        return run.answer, run.trace
    model = loaded.model
    if run.texts is not None:
        trace, fits = compare_descriptions(model, run.inputs, edits)
        return best_description(model, run.texts.names, fits), trace
    inputs = {name: each for name, each in run.inputs.items() if name != "decoder_input_ids"}
    if run.written is None:
        trace = intervene(model, edits, logits="all", **inputs)
        return make_answer(model, trace, None), trace
    written = write(model, inputs, edits)
    trace = intervene(model, edits, logits="all", **inputs, decoder_input_ids=written[:, :-1])
    return make_answer(model, trace, written), trace


def make_edits(run: PictureRun, change: HeadChange) -> list[Edit]:
    """The change as `intervene` takes it."""
    masks = masks_without(run, change.hidden) if change.hidden else {}
    if change.hidden and not run.windows:
        for stack in run.stacks:
            seen, beside = (
                visible_keys(stack.grid, change.hidden),
                {(layer.kind, layer.tower) for layer in stack.layers},
            )
            masks |= {layer.place: seen for layer in run.trace.layers if (layer.kind, layer.tower) in beside}
    return window_edits(run, change, masks)


def make_stacks(model: Any, trace: Trace, prepared: PreparedPicture, words: tuple[str, ...]) -> tuple[PatchStack, ...]:
    """Layers of patches that look at all patches, and layers of words that do."""
    patches = [layer for layer in trace.layers if layer.kind == "self" and layer.stack == "encoder"]
    if not patches:
        return ()
    tokens = patches[0].shape[3]
    whole = tuple(layer for layer in patches if layer.shape[2] == layer.shape[3] == tokens and layer.shape[0] == 1)
    grid = find_grid(model, *prepared.size, tokens)
    stacks = [PatchStack("picture", whole, grid)] if whole else []
    across = tuple(layer for layer in trace.layers if layer.kind == "cross" and layer.shape[3] == tokens)
    if across:
        stacks.append(PatchStack("words", across, grid, words))
    return tuple(stacks)


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


def decode_words(model: Any, written: Tensor | None) -> tuple[str, ...]:
    """The words of token ids, without the start."""
    if written is None:
        return ()
    names = model.config.id2label
    return tuple(str(names.get(int(each), int(each))) for each in written[0, 1:])


def make_answer(model: Any, trace: Trace, written: Tensor | None) -> PictureAnswer:
    """What the model says: the words it writes, the likeliest names, or a vector where it says nothing."""
    logits = trace.logits
    if logits is None or (written is None and logits.dim() != 2):
        return PictureAnswer()
    if written is not None:
        shares = logits[0].float().softmax(-1).gather(-1, written[0, 1:, None])[:, 0]
        return PictureAnswer(decode_words(model, written), tuple(shares.tolist()))
    shares = logits[0].float().softmax(-1)
    names = model.config.id2label
    best = shares.topk(min(5, len(shares)))
    others = tuple(
        (str(names.get(at, at)), share) for at, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    )
    return PictureAnswer((others[0][0],), (others[0][1],), others)


@dataclass(frozen=True)
class SmallestSet:
    """The patches that are still looked at, how many there were, and how often the model ran."""

    kept: tuple[int, ...]
    of: int
    passes: int
    said: str
    share: float  #: the probability of the answer with these patches alone

    @property
    def hidden(self) -> tuple[int, ...]:
        """The patches that were taken away."""
        return tuple(patch for patch in range(self.of) if patch not in set(self.kept))

    @property
    def message(self) -> Message:
        """The result as a sentence."""
        return Message(
            "{count} of {of} patches are enough for *{said}* ({share} sure): hide any one of them and it says "
            "something else. Found in {passes} passes; other sets may do as well.",
            {
                "count": len(self.kept),
                "of": self.of,
                "said": self.said,
                "share": f"{Rounded(self.share):.0%}",
                "passes": self.passes,
            },
        )


def find_smallest_set(
    loaded: LoadedModel, run: PictureRun, order: Sequence[int] | None = None
) -> Iterator[SmallestSet]:
    """Partial results, the last one complete: greedily, in blocks first, then patch by patch until none can go.

    `order` says which patches to try first, the least telling ones; without it, as they lie.
    """
    of = run.stacks[0].grid.patches
    answers: dict[frozenset[int], PictureAnswer] = {frozenset(range(of)): run.answer}

    def keeps(kept: Sequence[int]) -> bool:
        name = frozenset(kept)
        if name not in answers:
            hidden = HeadChange(tuple(patch for patch in range(of) if patch not in name))
            answers[name] = rerun(loaded, run, hidden)[0]
        return answers[name].said == run.answer.said

    def so_far(kept: tuple[int, ...]) -> SmallestSet:
        return SmallestSet(kept, of, len(answers) - 1, run.answer.said, answers[frozenset(kept)].share)

    kept: tuple[int, ...] = tuple(range(of))
    for kept in shrink_set(tuple(order or range(of)), keeps):
        yield so_far(kept)
    yield so_far(kept)


def shrink_set(order: Sequence[int], keeps: Callable[[Sequence[int]], bool]) -> Iterator[tuple[int, ...]]:
    """Ever smaller sets, each of which `keeps` what is wanted; from the last no single one can be taken away.

    Blocks of half of what is left are tried first, then of a quarter, and so on; single ones are tried again and again
    until a whole round takes none.
    """
    left = list(order)
    block = max(1, len(left) // 2)
    while True:
        took, at = False, 0
        while at < len(left):
            without = left[:at] + left[at + block :]
            if keeps(without):
                left, took = without, True
                yield tuple(sorted(left))
            else:
                at += block
        if block > 1:
            block = max(1, block // 2)
        elif not took:
            return
