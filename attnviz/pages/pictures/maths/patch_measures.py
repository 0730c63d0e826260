"""Measures and small maps of every head: mean distance, entropy, and weight on the class token.

A short program prints the numbers of the page with transformers alone: the answer, and one row of a head.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.base.rounding import format_number
from attnviz.core import measures
from attnviz.models.pictures import COUNTS, PatchGrid
from attnviz.pages.pictures.maths.picture_record import HeadChange, PatchStack, PictureRun, visible_keys

UNCHANGED = HeadChange()
OUTLIER = 5.0  #: an outlier patch gets at least so many times the weight of the median patch


def weights_with_change(stack: PatchStack, at: int, change: HeadChange = UNCHANGED) -> Tensor:
    """Weights (H, Q, K) of a layer under a change, from its recorded queries and keys.

    `change.hidden` are patches of this stack's grid. A layer with recorded weights only stays unchanged.
    """
    layer = stack.layers[at]
    mask: Any = "model"
    if change.hidden and layer.exact:
        mask = layer.mask & visible_keys(stack.grid, change.hidden).to(layer.device)
    weights = layer.weights(mask=mask)[0].float()
    stack_id, changed_layer, head = change.head
    if change.factor != 1.0 and layer.exact and (stack_id, changed_layer) == (stack.id, at):
        scaled = layer.weights(head, mask=mask, scale=layer.scale_of(head) * change.factor)[0, 0].float()
        weights = weights.index_copy(0, weights.new_tensor([head]).long(), scaled[None])
    return weights


@dataclass(frozen=True, eq=False)
class HeadMaps:
    """Measures (N,) of all heads of a stack, and two rows of weights (N, K): the mean row and the default one."""

    distance: np.ndarray  #: mean pixels from a patch to its keys; NaN if queries are words
    entropy: np.ndarray  #: 0: one token, 1: uniform
    class_weight: np.ndarray  #: weight of patches on the class token; NaN if there is none
    mean: np.ndarray  #: (N, K)
    default_row: np.ndarray  #: (N, K): the row that is on show while none is chosen


def head_maps(stack: PatchStack, change: HeadChange = UNCHANGED) -> HeadMaps:
    """Measure all heads of a stack under a change, a layer at a time."""
    grid, layers = stack.grid, []
    apart = torch.from_numpy(patch_distances(grid))
    for at in range(len(stack.layers)):
        weights = weights_with_change(stack, at, change)
        rows = weights if stack.query_tokens else weights[:, grid.first :]
        layers.append(
            (
                _mean_distance(rows, apart, grid, bool(stack.query_tokens)),
                measures.entropy_share(rows).mean(-1),
                rows[..., 0].mean(-1) if grid.has_class else torch.full((len(rows),), torch.nan),
                rows.mean(-2),
                weights[:, stack.default_query],
            )
        )
    return HeadMaps(*(torch.cat(columns).double().numpy() for columns in zip(*layers, strict=True)))


def _mean_distance(rows: Tensor, apart: Tensor, grid: PatchGrid, queries_are_tokens: bool) -> Tensor:
    """Mean distance (H,) in pixels from patches to their keys; special tokens have no position and do not count."""
    if queries_are_tokens:
        return torch.full((len(rows),), torch.nan)
    seen = rows[..., grid.first :].double()
    return ((seen * apart).sum(-1) / seen.sum(-1).clamp_min(1e-12)).mean(-1).float()


def patch_distances(grid: PatchGrid) -> np.ndarray:
    """Distances (P, P) in pixels between the centres of patches."""
    row, column = np.divmod(np.arange(grid.patches), grid.columns)
    y, x = row * grid.patch[0], column * grid.patch[1]
    return np.hypot(y[:, None] - y[None], x[:, None] - x[None])


def most_watched_patch(stack: PatchStack, layer: int, head: int) -> int | None:
    """The patch that the class token looks at most in a head; None where the next has as much, to 0.1%."""
    row = stack.layers[layer].weights(head)[0, 0, 0, stack.grid.first :]
    (most, second), patches = row.topk(2)
    return None if format_number(float(most), ".1%") == format_number(float(second), ".1%") else int(patches[0])


def picture_rollout(stack: PatchStack, change: HeadChange = UNCHANGED) -> np.ndarray:
    """Attention rollout (L, T, T) up to every layer (Abnar and Zuidema 2020)."""
    weights = torch.stack([weights_with_change(stack, at, change).mean(0) for at in range(len(stack.layers))])
    return measures.rollout(weights[:, None]).numpy()


def mean_weights(stack: PatchStack, change: HeadChange = UNCHANGED) -> np.ndarray:
    """Mean weights (Q, K) over all heads of all layers."""
    of_layers = (weights_with_change(stack, at, change).sum(0) for at in range(len(stack.layers)))
    return (sum(of_layers, torch.tensor(0.0)) / sum(layer.n_heads for layer in stack.layers)).cpu().numpy()


def attention_received(stack: PatchStack, layer: int) -> np.ndarray:
    """Mean weight (K,) that each token receives in a layer, over heads and queries."""
    return stack.layers[layer].weights()[0].float().mean((0, 1)).cpu().numpy()


def find_sinks(stack: PatchStack, layer: int) -> tuple[int, ...]:
    """Patches that receive more than `OUTLIER` times the weight of the median patch, by index.

    Models without registers store global information in such patches: Darcet et al. 2023, "Vision Transformers Need
    Registers" (arXiv 2309.16588).
    """
    shares = attention_received(stack, layer)[stack.grid.first :]
    return tuple(np.flatnonzero(shares > OUTLIER * np.median(shares)).tolist())


_CLASSIFIER_PROGRAM = """\
import attnviz
import torch
from pathlib import Path
from transformers import ViTForImageClassification

folder = Path(attnviz.__file__).parent / "models" / "shipped" / "{model}"
model = ViTForImageClassification.from_pretrained(folder, attn_implementation="eager")
counts = torch.tensor({counts})
with torch.no_grad():
    output = model(pixel_values=counts[None, None] / 8 - 1, output_attentions=True)
shares = output.logits[0].softmax(-1)
print(model.config.id2label[int(shares.argmax())], f"{{float(shares.max()):.4f}}")
row = output.attentions[{layer}][0, {head}, {query}]  # what token {query} gives to each token
print([f"{{float(weight):.4f}}" for weight in row])
"""
_WRITER_PROGRAM = """\
import attnviz
import torch
from pathlib import Path
from transformers import VisionEncoderDecoderModel

folder = Path(attnviz.__file__).parent / "models" / "shipped" / "{model}"
model = VisionEncoderDecoderModel.from_pretrained(folder, attn_implementation="eager")
counts = torch.tensor({counts})
inputs = {{"pixel_values": counts[None, None] / 8 - 1}}
written = torch.tensor([[model.config.decoder_start_token_id]])
with torch.no_grad():
    while written[0, -1] != model.config.eos_token_id:
        logits = model(**inputs, decoder_input_ids=written).logits
        written = torch.cat([written, logits[:, -1:].argmax(-1)], 1)
    output = model(**inputs, decoder_input_ids=written[:, :-1], output_attentions=True)
print(" ".join(model.config.id2label[int(word)] for word in written[0, 1:]))
row = output.{attentions}[{layer}][0, {head}, {query}]  # what {looks} {query} gives to each token
print([f"{{float(weight):.4f}}" for weight in row])
"""


_CHANGE_PROGRAM = """\
import numpy as np
from attnviz.models.loading import load
from attnviz.pages.pictures.maths.picture_record import HeadChange, visible_keys
from attnviz.pages.pictures.maths.picture_run import rerun, run_picture

counts = np.array({counts})
loaded = load("{model}")
run = run_picture(loaded, counts)
change = HeadChange(hidden={hidden}, silenced={silenced}, factor={factor}, head={at})
answer, _trace = rerun(loaded, run, change)
for name, result in (("with the change", answer), ("without", run.answer)):
    print(f"{{name}}: {{result.text}} {{result.share:.4f}}")
stack = run.stack("{stack}")
layer = stack.layers[{layer}]
mask = layer.mask & visible_keys(stack.grid, change.hidden).to(layer.device)
weights = layer.weights({head}, mask=mask, scale=layer.scale_of({head}) * change.factor)
row = weights[0, 0, {query}]  # what {looks} {query} gives to each token
print([f"{{float(weight):.4f}}" for weight in row])
"""


def program(run: PictureRun, query: int, change: HeadChange) -> str:
    """Program for a packaged model and the head of `change`; `query` counts tokens, the class token first.

    It uses transformers alone if nothing is changed, else attnviz.
    """
    stack, layer, head = change.head
    is_cross_attention, unchanged = stack == "words", _CLASSIFIER_PROGRAM if run.written is None else _WRITER_PROGRAM
    return (_CHANGE_PROGRAM if change else unchanged).format(
        model=run.model,
        counts=_pixel_list(run),
        hidden=change.hidden,
        silenced=change.silenced,
        factor=change.factor,
        at=change.head,
        stack=stack,
        layer=layer,
        head=head,
        query=query,
        attentions="cross_attentions" if is_cross_attention else "encoder_attentions",
        looks="word" if is_cross_attention else "token",
    )


def _pixel_list(run: PictureRun) -> str:
    """Pixels of the picture, 0 to 16, as a Python list."""
    pixels = run.prepared.inputs["pixel_values"][0, 0]
    counts = np.rint(((pixels + 1) * (COUNTS / 2)).cpu().numpy()).astype(int).tolist()
    return "[\n    " + ",\n    ".join(str(row) for row in counts) + ",\n]"
