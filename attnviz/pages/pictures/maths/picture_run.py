"""Forward passes over a picture: its attention, the answer, and a smallest set of patches for that answer.

No single patch of the smallest set can be hidden without another answer. There are other such sets: the result depends
on the order in which patches are removed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.base.message import Message, Problem
from attnviz.base.rounding import Rounded, format_number
from attnviz.models.capture import Edit, Trace, capture, intervene
from attnviz.models.catalogue import LoadedModel
from attnviz.models.pictures import PreparedPicture, find_grid, has_two_encoders, prepare, takes_text
from attnviz.pages.pictures.maths.picture_record import (
    HeadChange,
    PatchStack,
    PictureAnswer,
    PictureRun,
    build_edits,
    build_hiding_masks,
    layer_windows,
    stage_stacks,
    visible_keys,
)
from attnviz.pages.pictures.maths.prompted_run import (
    best_description,
    compare_descriptions,
    rerun_prompted,
    run_compared,
    run_prompted,
)

MOST_WORDS = 12
MOST_NAMED = 10  #: labels that an answer has probabilities of


def run_picture(loaded: LoadedModel, pixels: np.ndarray, text: str = "") -> PictureRun:
    """Run a model over grey values (height, width) or RGB (height, width, 3). Problem if it takes text only.

    `text` is the question, or the descriptions to compare the picture with, for models that take text.
    """
    if takes_text(loaded.model):
        return run_prompted(loaded, pixels, text)
    if has_two_encoders(loaded.model):
        return run_compared(loaded, pixels, text)
    if loaded.model.main_input_name != "pixel_values":
        raise Problem("{name} takes text and no pictures", name=loaded.name)
    prepared = prepare(loaded, pixels)
    inputs: dict[str, Any] = {name: tensor.to(loaded.model.device) for name, tensor in prepared.inputs.items()}
    written = None
    if loaded.model.config.is_encoder_decoder:
        written = decode_greedily(loaded.model, inputs)
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
        omitted_stages=left_out,
    )


def rerun(loaded: LoadedModel, run: PictureRun, change: HeadChange) -> tuple[PictureAnswer, Trace]:
    """Run the model again under a change: its answer and its trace.

    A generating model writes its answer anew, token by token.
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
    inputs = {name: tensor for name, tensor in run.inputs.items() if name != "decoder_input_ids"}
    if run.written is None:
        trace = intervene(model, edits, logits="all", **inputs)
        return make_answer(model, trace, None), trace
    written = decode_greedily(model, inputs, edits)
    trace = intervene(model, edits, logits="all", **inputs, decoder_input_ids=written[:, :-1])
    return make_answer(model, trace, written), trace


def compare_answers(before: PictureAnswer, after: PictureAnswer) -> str:
    """What became of an answer: "other", or the same one "surer", "less" sure, or "alike" to 0.1%."""
    if before.text != after.text:
        return "other"
    was, now = (format_number(answer.share, ".1%") for answer in (before, after))
    return "alike" if was == now else "surer" if after.share > before.share else "less"


def make_edits(run: PictureRun, change: HeadChange) -> list[Edit]:
    """Edits for `intervene` that make a change."""
    masks = build_hiding_masks(run, change.hidden) if change.hidden else {}
    if change.hidden and not run.windows:
        for stack in run.stacks:
            seen, beside = (
                visible_keys(stack.grid, change.hidden),
                {(layer.kind, layer.tower) for layer in stack.layers},
            )
            masks |= {layer.place: seen for layer in run.trace.layers if (layer.kind, layer.tower) in beside}
    return build_edits(run, change, masks)


def make_stacks(
    model: Any, trace: Trace, prepared: PreparedPicture, query_tokens: tuple[str, ...]
) -> tuple[PatchStack, ...]:
    """Stacks of self-attention over patches and of cross-attention from words; empty without an encoder."""
    patches = [layer for layer in trace.layers if layer.kind == "self" and layer.stack == "encoder"]
    if not patches:
        return ()
    tokens = patches[0].shape[3]
    patch_layers = tuple(
        layer for layer in patches if layer.shape[2] == layer.shape[3] == tokens and layer.shape[0] == 1
    )
    grid = find_grid(model, *prepared.size, tokens)
    stacks = [PatchStack("picture", patch_layers, grid)] if patch_layers else []
    cross_layers = tuple(layer for layer in trace.layers if layer.kind == "cross" and layer.shape[3] == tokens)
    if cross_layers:
        stacks.append(PatchStack("words", cross_layers, grid, query_tokens))
    return tuple(stacks)


def decode_greedily(model: Any, inputs: dict[str, Any], edits: Sequence[Edit] = ()) -> Tensor:
    """Token ids (1, T) of greedy decoding, with start and end tokens."""
    start, end = model.config.decoder_start_token_id, model.config.eos_token_id
    written = torch.tensor([[start]], device=inputs["pixel_values"].device)
    for _ in range(MOST_WORDS):
        model_inputs = inputs | {"decoder_input_ids": written}
        trace = (
            intervene(model, edits, logits="all", **model_inputs)
            if edits
            else capture(model, logits="all", **model_inputs)
        )
        assert trace.logits is not None
        word = trace.logits[:, -1].argmax(-1, keepdim=True)
        written = torch.cat([written, word], 1)
        if int(word) == end:
            break
    return written


def decode_words(model: Any, written: Tensor | None) -> tuple[str, ...]:
    """Labels of token ids (1, T), without the start token. None: no labels."""
    if written is None:
        return ()
    names = model.config.id2label
    return tuple(str(names.get(int(token_id), int(token_id))) for token_id in written[0, 1:])


def make_answer(model: Any, trace: Trace, written: Tensor | None) -> PictureAnswer:
    """Answer from the logits: written tokens or the likeliest labels; empty without logits."""
    logits = trace.logits
    if logits is None or (written is None and logits.dim() != 2):
        return PictureAnswer()
    if written is not None:
        shares = logits[0].float().softmax(-1).gather(-1, written[0, 1:, None])[:, 0]
        return PictureAnswer(decode_words(model, written), tuple(shares.tolist()))
    shares = logits[0].float().softmax(-1)
    names = model.config.id2label
    best = shares.topk(min(MOST_NAMED, len(shares)))
    others = tuple(
        (str(names.get(at, at)), share) for at, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    )
    return PictureAnswer((others[0][0],), (others[0][1],), others)


@dataclass(frozen=True)
class SmallestSet:
    """Patches that remain visible, the number of all patches, and the number of forward passes."""

    patches: tuple[int, ...]
    n_patches: int
    passes: int
    answer: str
    share: float  #: the probability of the answer with these patches alone

    @property
    def hidden(self) -> tuple[int, ...]:
        """Patches that were removed."""
        return tuple(patch for patch in range(self.n_patches) if patch not in set(self.patches))

    @property
    def message(self) -> Message:
        """The result as a sentence."""
        return Message(
            "{count} of {of} patches are enough for *{said}* ({share} sure): hide any one of them and it says "
            "something else. Found in {passes} passes; other sets may do as well.",
            {
                "count": len(self.patches),
                "of": self.n_patches,
                "said": self.answer,
                "share": f"{Rounded(self.share):.0%}",
                "passes": self.passes,
            },
        )


def find_smallest_set(
    loaded: LoadedModel, run: PictureRun, order: Sequence[int] | None = None
) -> Iterator[SmallestSet]:
    """Yield partial results, the last one complete: remove blocks of patches, then single ones, greedily.

    `order` lists patches in the order of removal; None: by index.
    """
    n_patches = run.stacks[0].grid.patches
    answers: dict[frozenset[int], PictureAnswer] = {frozenset(range(n_patches)): run.answer}

    def keeps_answer(patches: Sequence[int]) -> bool:
        name = frozenset(patches)
        if name not in answers:
            hidden = HeadChange(tuple(patch for patch in range(n_patches) if patch not in name))
            answers[name] = rerun(loaded, run, hidden)[0]
        return answers[name].text == run.answer.text

    def partial_result(patches: tuple[int, ...]) -> SmallestSet:
        return SmallestSet(patches, n_patches, len(answers) - 1, run.answer.text, answers[frozenset(patches)].share)

    patches: tuple[int, ...] = tuple(range(n_patches))
    for patches in shrink_set(tuple(order or range(n_patches)), keeps_answer):
        yield partial_result(patches)
    yield partial_result(patches)


def shrink_set(order: Sequence[int], keeps: Callable[[Sequence[int]], bool]) -> Iterator[tuple[int, ...]]:
    """Yield ever smaller sets that satisfy `keeps`; from the last, no single element can be removed.

    Blocks of half of the elements are tried first, then of a quarter, and so on. Single elements are tried until a
    whole round removes none.
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
