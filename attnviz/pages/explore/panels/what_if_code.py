"""The what-if on screen as a program: it prints the row that the page names, before and after."""

from __future__ import annotations

from attnviz.app.cache import model_cache
from attnviz.app.code_snippet import snippet
from attnviz.app.text import plain
from attnviz.base.words import _
from attnviz.models.capture import Trace
from attnviz.pages.explore.choices import HeadPlace
from attnviz.pages.explore.panels import copied_run
from attnviz.pages.explore.panels.shown_head import Shown
from attnviz.runs.head_matrix import Matrix
from attnviz.runs.predictions import slots
from attnviz.runs.what_if import WhatIf, largest_change


def draw(
    shown: Shown, changed_at: HeadPlace, change: WhatIf, before: Matrix, after: Matrix, trace: Trace | None
) -> None:
    """Draw the program under the pictures of `shown`; the change was made at `changed_at`, maybe another head."""
    if not shown.stack.same_tokens:
        return
    found = largest_change(before, after)
    row = before.row_at[found.row if found else min(shown.query, len(before.row_at) - 1)]
    guesses = trace is not None and any(
        slot.position is None for slot in slots(shown.run, model_cache.model_of(shown.run))
    )
    about = _(
        "Paste this code into a notebook: it prints the row of “{token}” in layer {layer}, head {head}, before and "
        "after this change, a line for each of the model's own tokens."
    ).format(token=plain(shown.stack.queries.labels[row]), layer=shown.layer, head=shown.head)
    snippet(code_of(shown, changed_at, change, row, trace is not None, guesses), key="what-if", about=about)


def code_of(shown: Shown, changed_at: HeadPlace, change: WhatIf, row: int, again: bool, guesses: bool) -> str:
    """The program. `again`: the model runs again with the change; `guesses`: it predicts a next token."""
    names = "Edit, capture, intervene" if again else "capture"
    first, *others = copied_run.imports(shown.run, names)
    lines = [
        first,
        "from attnviz.core import masks",
        *others,
        *copied_run.opening(shown.run, shown.stack.id),
        "n = len(tokens.labels)",
        *_mask(shown, change),
        "",
    ]
    lines += _again(shown, changed_at, change) if again else _at_once(shown, change)
    lines += [
        f"for token, old, new in zip(tokens.labels, before[{row}], after[{row}]):",
        '    print(f"{token:>12} {old:.4f} {new:.4f}")',
    ]
    if guesses:
        lines += [
            "old, new = trace.logits[0].softmax(-1), changed.logits[0].softmax(-1)  # of the next token",
            "shift = (new - old).abs().sum().item() / 2",
            'print(f"{shift:.1%} of the probability moved to other tokens")',
        ]
    return "\n".join(lines)


def _mask(shown: Shown, change: WhatIf) -> list[str]:
    """Lines that define `mask_of`, where the change has a mask."""
    pattern = {
        "none": "torch.ones(n, n, dtype=torch.bool)",
        "causal": "masks.causal(n, n)",
        "window": f"masks.sliding_window(n, n, window={change.window})",
    }.get(change.pattern)
    lines = []
    if change.pattern == "painted":
        bits = f"torch.tensor(list(bytes.fromhex({change.painted.hex()!r})))"
        lines = [f"bits = {bits}[:, None] >> torch.arange(7, -1, -1) & 1  # the painted mask, row by row"]
        pattern = "bits.flatten()[: n * n].reshape(n, n).bool()"
    if change.hidden:
        keys = [key for key in change.hidden if key < len(shown.stack.keys.labels)]
        lines += [f"kept = torch.ones(n, dtype=torch.bool).index_fill(0, torch.tensor({keys}), False)"]
        pattern = f"{pattern} & kept" if pattern else "layer.mask & kept"
    if pattern is None:
        return []
    return [*lines, "", "def mask_of(layer):", f"    return {pattern}"]


def _arguments(change: WhatIf, layer: str) -> str:
    """`mask=..., scale=...` for a layer of that name, as far as they are changed."""
    scale = {
        "none": "None",
        "inverse": f"1 / {layer}.q.shape[-1]",
        "factor": f"{layer}.scale * {change.factor!r}" if change.rescales else None,
    }.get(change.scale)
    mask = f"mask_of({layer})" if change.pattern != "model" or change.hidden else None
    given = {"mask": mask, "scale": scale}
    return "".join(f", {name}={value}" for name, value in given.items() if value is not None)


def _at_once(shown: Shown, change: WhatIf) -> list[str]:
    return [
        f"layer = layers[{shown.layer}]",
        f"before = layer.weights({shown.head})[0, 0]  # (Q, K)",
        f"after = layer.weights({shown.head}{_arguments(change, 'layer')})[0, 0]  # from the same Q and K",
    ]


def _again(shown: Shown, changed_at: HeadPlace, change: WhatIf) -> list[str]:
    lines = ["edits = []"]
    layer, head = changed_at
    if change.changes_attention:
        chosen = "layers" if change.where == "all" else f"[layers[{layer}]]"
        heads = str(head) if change.where == "head" else '"all"'
        lines += [
            f"for layer in {chosen}:",
            f"    edits.append(Edit(layer.index, {heads}, layer.stack, layer.kind{_arguments(change, 'layer')}))",
        ]
    for index in sorted({place[0] for place in change.silenced}):
        quiet = tuple(number for where, number in change.silenced if where == index)
        place = f"layers[{index}]"
        lines.append(f"edits.append(Edit({place}.index, {quiet}, {place}.stack, {place}.kind, silence=True))")
    return [
        *lines,
        "changed = intervene(loaded.model, edits, **inputs)",
        f"before = layers[{shown.layer}].weights({shown.head})[0, 0]  # (Q, K)",
        f"after = {copied_run.layers_of('changed', shown.run, shown.stack.id)}[{shown.layer}]",
        f"after = after.weights({shown.head})[0, 0]",
    ]
