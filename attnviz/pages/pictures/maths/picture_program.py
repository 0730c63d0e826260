"""A short program that prints a page's numbers: the answer, and a row of one head, as it is and as it is changed."""

from __future__ import annotations

import numpy as np

from attnviz.models.pictures import COUNTS
from attnviz.pages.pictures.maths.picture_record import HeadChange, PictureRun, PictureStack


def program(run: PictureRun, stack: PictureStack, layer: int, head: int, query: int) -> str:
    """The program for one of our own models; its rows count tokens, with the class token first."""
    return f"""\
import attnviz as av
import numpy as np
from attnviz.pages.pictures.maths.picture_run import run_picture

run = run_picture(av.load({run.model!r}), np.array({_counts(run)}))
print(run.answer.said, f"{{run.answer.share:.4f}}")
weights = run.stack({stack!r}).layers[{layer}].weights({head})
{_row(stack, query)}"""


def changed_program(run: PictureRun, stack: PictureStack, query: int, change: HeadChange) -> str:
    """The program with patches hidden, heads silenced or the scale of the head on show changed."""
    _name, layer, head = change.head
    return f"""\
import attnviz as av
import numpy as np
from attnviz.pages.pictures.maths.picture_record import HeadChange, seen_keys
from attnviz.pages.pictures.maths.picture_run import rerun, run_picture

loaded = av.load({run.model!r})
run = run_picture(loaded, np.array({_counts(run)}))
change = {change!r}
answer, _trace = rerun(loaded, run, change)
for name, each in (("with the change", answer), ("without", run.answer)):
    print(f"{{name}}: {{each.said}} {{each.share:.4f}}")
stack = run.stack({stack!r})
layer = stack.layers[{layer}]
mask = layer.mask & seen_keys(stack.grid, change.hidden).to(layer.device)
weights = layer.weights({head}, mask=mask, scale=layer.scale_of({head}) * change.factor)
{_row(stack, query)}"""


def _row(stack: PictureStack, query: int) -> str:
    looks = "word" if stack == "words" else "token"
    return f"""\
row = weights[0, 0, {query}]  # what {looks} {query} gives to each token
print([f"{{float(weight):.4f}}" for weight in row])
"""


def _counts(run: PictureRun) -> str:
    """The picture's pixels, 0 to 16, as a list in the program."""
    shown = run.prepared.inputs["pixel_values"][0, 0]
    counts = np.rint(((shown + 1) * (COUNTS / 2)).cpu().numpy()).astype(int).tolist()
    return "[\n    " + ",\n    ".join(str(row) for row in counts) + ",\n]"
