"""Every head of a picture in numbers and small maps: how far it looks, how spread, how much at the class token.

A short program prints the page's numbers with transformers alone: the answer, and a row of one head.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnviz.core import measures
from attnviz.models.pictures import COUNTS, PatchGrid
from attnviz.pages.pictures.maths.picture_record import HeadChange, PatchStack, PictureRun, visible_keys

PATCH_MEASURES = ("distance", "entropy", "class")
UNCHANGED = HeadChange()
OUTLIER = 5.0  #: times what the median patch is given, from which on a patch counts as an outlier


def weights_with_change(stack: PatchStack, at: int, change: HeadChange = UNCHANGED) -> Tensor:
    """(H, Q, K): what each head of a layer gives to each token under a change, from recorded queries and keys.

    `change.hidden` counts patches of this stack's own grid. A layer that gives its weights only is left as it is.
    """
    layer = stack.layers[at]
    mask: Any = "model"
    if change.hidden and layer.exact:
        mask = layer.mask & visible_keys(stack.grid, change.hidden).to(layer.device)
    weights = layer.weights(mask=mask)[0].float()
    of, changed, head = change.head
    if change.factor != 1.0 and layer.exact and (of, changed) == (stack.id, at):
        scaled = layer.weights(head, mask=mask, scale=layer.scale_of(head) * change.factor)[0, 0].float()
        weights = weights.index_copy(0, weights.new_tensor([head]).long(), scaled[None])
    return weights


@dataclass(frozen=True, eq=False)
class HeadMaps:
    """Of every head of a stack: its measures (N,), and two rows of weights (N, K): the mean, and the usual one."""

    distance: np.ndarray  #: pixels from a patch to where it looks, on average; NaN where queries are words
    entropy: np.ndarray  #: 0: one token, 1: all alike
    on_class: np.ndarray  #: the share that patches give to the class token; NaN where there is none
    mean: np.ndarray  #: (N, K)
    usual: np.ndarray  #: (N, K): the row that is on show while none is chosen


def head_maps(stack: PatchStack, change: HeadChange = UNCHANGED) -> HeadMaps:
    """All heads of a stack under a change, a layer at a time."""
    grid, parts = stack.grid, []
    apart = torch.from_numpy(patch_distances(grid))
    for at in range(len(stack.layers)):
        weights = weights_with_change(stack, at, change)
        rows = weights if stack.words else weights[:, grid.first :]
        parts.append(
            (
                _distance(rows, apart, grid, bool(stack.words)),
                measures.entropy_share(rows).mean(-1),
                rows[..., 0].mean(-1) if grid.has_class else torch.full((len(rows),), torch.nan),
                rows.mean(-2),
                weights[:, stack.usual],
            )
        )
    return HeadMaps(*(torch.cat(each).double().numpy() for each in zip(*parts, strict=True)))


def _distance(rows: Tensor, apart: Tensor, grid: PatchGrid, words: bool) -> Tensor:
    """Mean pixels from each patch to the patches that it looks at; special tokens lie nowhere and are left out."""
    if words:
        return torch.full((len(rows),), torch.nan)
    seen = rows[..., grid.first :].double()
    return ((seen * apart).sum(-1) / seen.sum(-1).clamp_min(1e-12)).mean(-1).float()


def patch_distances(grid: PatchGrid) -> np.ndarray:
    """Pixels between the centres of any two patches, (P, P)."""
    row, column = np.divmod(np.arange(grid.patches), grid.columns)
    y, x = row * grid.patch[0], column * grid.patch[1]
    return np.hypot(y[:, None] - y[None], x[:, None] - x[None])


def picture_rollout(stack: PatchStack, change: HeadChange = UNCHANGED) -> np.ndarray:
    """(L, T, T): the share of each token in each after every layer (Abnar and Zuidema 2020)."""
    weights = torch.stack([weights_with_change(stack, at, change).mean(0) for at in range(len(stack.layers))])
    return measures.rollout(weights[:, None]).numpy()


def mean_weights(stack: PatchStack, change: HeadChange = UNCHANGED) -> np.ndarray:
    """(Q, K): the mean of all heads of all layers, each head counting alike."""
    of_layers = (weights_with_change(stack, at, change).sum(0) for at in range(len(stack.layers)))
    return (sum(of_layers, torch.tensor(0.0)) / sum(layer.n_heads for layer in stack.layers)).cpu().numpy()


def attention_received(stack: PatchStack, layer: int) -> np.ndarray:
    """(K,): the share that each token is given in a layer, on average over its heads and all that look."""
    return stack.layers[layer].weights()[0].float().mean((0, 1)).cpu().numpy()


def find_sinks(stack: PatchStack, layer: int) -> tuple[int, ...]:
    """Patches that all others look at, far more than at a patch like any other: `OUTLIER` times the median one.

    Models without registers keep notes of their own in such patches of little content: Darcet et al. 2023, "Vision
    Transformers Need Registers" (arXiv 2309.16588).
    """
    shares = attention_received(stack, layer)[stack.grid.first :]
    return tuple(np.flatnonzero(shares > OUTLIER * np.median(shares)).tolist())


_ONE = """\
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
_SEVERAL = """\
import attnviz
import torch
from pathlib import Path
from transformers import VisionEncoderDecoderModel

folder = Path(attnviz.__file__).parent / "models" / "shipped" / "{model}"
model = VisionEncoderDecoderModel.from_pretrained(folder, attn_implementation="eager")
counts = torch.tensor({counts})
given = {{"pixel_values": counts[None, None] / 8 - 1}}
written = torch.tensor([[model.config.decoder_start_token_id]])
with torch.no_grad():
    while written[0, -1] != model.config.eos_token_id:
        logits = model(**given, decoder_input_ids=written).logits
        written = torch.cat([written, logits[:, -1:].argmax(-1)], 1)
    output = model(**given, decoder_input_ids=written[:, :-1], output_attentions=True)
print(" ".join(model.config.id2label[int(word)] for word in written[0, 1:]))
row = output.{attentions}[{layer}][0, {head}, {query}]  # what {looks} {query} gives to each token
print([f"{{float(weight):.4f}}" for weight in row])
"""


_CHANGED = """\
import numpy as np
from attnviz.models.loading import load
from attnviz.pages.pictures.maths.picture_record import HeadChange, visible_keys
from attnviz.pages.pictures.maths.picture_run import rerun, run_picture

counts = np.array({counts})
loaded = load("{model}")
run = run_picture(loaded, counts)
change = HeadChange(hidden={hidden}, silenced={silenced}, factor={factor}, head={at})
answer, _trace = rerun(loaded, run, change)
for name, each in (("with the change", answer), ("without", run.answer)):
    print(f"{{name}}: {{each.said}} {{each.share:.4f}}")
stack = run.stack("{stack}")
layer = stack.layers[{layer}]
mask = layer.mask & visible_keys(stack.grid, change.hidden).to(layer.device)
weights = layer.weights({head}, mask=mask, scale=layer.scale_of({head}) * change.factor)
row = weights[0, 0, {query}]  # what {looks} {query} gives to each token
print([f"{{float(weight):.4f}}" for weight in row])
"""


def program(run: PictureRun, query: int, change: HeadChange) -> str:
    """The program for one of our own models and the head of `change`; its rows count tokens, the class token first.

    With transformers alone while nothing is changed; hidden patches, silenced heads and another scale by attnviz.
    """
    stack, layer, head = change.head
    words, unchanged = stack == "words", _ONE if run.written is None else _SEVERAL
    return (_CHANGED if change else unchanged).format(
        model=run.model,
        counts=_counts(run),
        hidden=change.hidden,
        silenced=change.silenced,
        factor=change.factor,
        at=change.head,
        stack=stack,
        layer=layer,
        head=head,
        query=query,
        attentions="cross_attentions" if words else "encoder_attentions",
        looks="word" if words else "token",
    )


def _counts(run: PictureRun) -> str:
    """The picture's pixels, 0 to 16, as a list in the program."""
    shown = run.prepared.inputs["pixel_values"][0, 0]
    counts = np.rint(((shown + 1) * (COUNTS / 2)).cpu().numpy()).astype(int).tolist()
    return "[\n    " + ",\n    ".join(str(row) for row in counts) + ",\n]"
