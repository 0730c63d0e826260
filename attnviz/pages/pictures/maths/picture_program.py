"""A short program that prints a page's numbers with transformers alone: the answer, and a row of one head."""

from __future__ import annotations

import numpy as np

from attnviz.models.pictures import COUNTS
from attnviz.pages.pictures.maths.picture_record import HeadChange, PictureRun, PictureStack

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
from attnviz.pages.pictures.maths.picture_record import HeadChange, seen_keys
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
mask = layer.mask & seen_keys(stack.grid, change.hidden).to(layer.device)
weights = layer.weights({head}, mask=mask, scale=layer.scale_of({head}) * change.factor)
row = weights[0, 0, {query}]  # what {looks} {query} gives to each token
print([f"{{float(weight):.4f}}" for weight in row])
"""


def changed_program(run: PictureRun, stack: PictureStack, query: int, change: HeadChange) -> str:
    """The program with patches hidden, heads silenced or the scale of the head on show changed, run by attnviz."""
    _name, layer, head = change.head
    return _CHANGED.format(
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
        looks="word" if stack == "words" else "token",
    )


def program(run: PictureRun, stack: PictureStack, layer: int, head: int, query: int) -> str:
    """The program for one of our own models; its rows count tokens, with the class token first."""
    words = stack == "words"
    return (_ONE if run.written is None else _SEVERAL).format(
        model=run.model,
        counts=_counts(run),
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
