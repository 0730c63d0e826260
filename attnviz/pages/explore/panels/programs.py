"""The explorer's programs for a notebook: the row that the page names, as it is, and before and after a change."""

from attnviz.app import show
from attnviz.app.cache import model_cache
from attnviz.app.links.choices import HeadPlace
from attnviz.app.text import plain
from attnviz.base.head_edit import HeadEdit
from attnviz.base.words import _
from attnviz.models.capture import Trace
from attnviz.pages.explore.panels.shown_head import Shown
from attnviz.runs.model_run import ModelRun, StackId
from attnviz.runs.predictions import slots
from attnviz.runs.what_if import PATTERNS


def of_head(shown: Shown) -> None:
    """Draw the code that computes the chosen head's numbers with the package."""
    about = _(
        "Paste this code into a notebook: it prints the weights that the model gives in the row of “{token}” of the "
        "large picture, layer {layer}, head {head}, a line for each of its own tokens. The panels above that change "
        "it have their own code."
    ).format(token=plain(shown.stack.queries.labels[shown.query_at]), layer=shown.layer, head=shown.head)
    kv_head = shown.head // (shown.stack.layers[shown.layer].n_heads // shown.stack.layers[shown.layer].n_kv_heads)
    begin = "\n".join(_opening(shown.run, shown.stack.id, "capture"))
    code = f"""{begin}
layer = layers[{shown.layer}]
q = layer.q[0, {shown.head}]                               # (Q, D): this head's queries
k = layer.k[0, {kv_head}]                               # (K, D): the keys it reads
scores = q @ k.T * layer.scale                   # (Q, K)
scores = scores.masked_fill(~layer.mask[0, 0], -torch.inf)
weights = scores.softmax(-1)                     # rows sum to 1

for token, weight in zip(tokens.labels, weights[{shown.query_at}]):
    print(f"{{token:>12}} {{weight:.4f}}")"""
    show.snippet(code, key="explore", about=about)


def of_what_if(shown: Shown, changed_at: HeadPlace, edit: HeadEdit, row: int, trace: Trace | None) -> None:
    """Draw the program under the pictures of `shown`, of one of its rows; the edit was made at `changed_at`."""
    if not shown.stack.same_tokens:
        return
    query = shown.matrix.row_at[row]
    guesses = trace is not None and any(
        slot.position is None for slot in slots(shown.run, model_cache.model_of(shown.run))
    )
    about = _(
        "Paste this code into a notebook: it prints the row of “{token}” in layer {layer}, head {head}, before and "
        "after this change, a line for each of the model's own tokens."
    ).format(token=plain(shown.stack.queries.labels[query]), layer=shown.layer, head=shown.head)
    captured = "capture" if trace is None else "Edit, capture, intervene"
    at_once = [
        f"layer = layers[{shown.layer}]",
        f"before = layer.weights({shown.head})[0, 0]  # (Q, K)",
        f"after = layer.weights({shown.head}{_arguments(edit, 'layer')})[0, 0]  # from the same Q and K",
    ]
    lines = [
        *_opening(shown.run, shown.stack.id, captured, "from attnviz.core import masks"),
        "n = len(tokens.labels)",
        *_mask(shown, edit),
        "",
        *(at_once if trace is None else _again(shown, changed_at, edit)),
        f"for token, old, new in zip(tokens.labels, before[{query}], after[{query}]):",
        '    print(f"{token:>12} {old:.4f} {new:.4f}")',
    ]
    if guesses:
        lines += [
            "old, new = trace.logits[0].softmax(-1), changed.logits[0].softmax(-1)  # of the next token",
            "shift = (new - old).abs().sum().item() / 2",
            'print(f"{shift:.1%} of the probability moved to other tokens")',
        ]
    show.snippet("\n".join(lines), key="what-if", about=about)


def _mask(shown: Shown, edit: HeadEdit) -> list[str]:
    """Lines that define `mask_of`, where the change has a mask."""
    pattern = None if edit.mask == "model" else PATTERNS[edit.mask].program.format(window=edit.window)
    lines = []
    if edit.mask == "painted":
        lines = [
            f"bits = torch.tensor(list(bytes.fromhex({edit.painted.hex()!r})))[:, None] >> torch.arange(7, -1, -1) & 1"
            "  # the painted mask, row by row"
        ]
    if edit.hidden:
        keys = [key for key in edit.hidden if key < len(shown.stack.keys.labels)]
        lines += [f"kept = torch.ones(n, dtype=torch.bool).index_fill(0, torch.tensor({keys}), False)"]
        pattern = f"{pattern} & kept" if pattern else "layer.mask & kept"
    return [] if pattern is None else [*lines, "", "def mask_of(layer):", f"    return {pattern}"]


def _arguments(edit: HeadEdit, layer: str) -> str:
    """`mask=..., scale=...` for a layer of that name, as far as they are changed."""
    scale = {
        "none": "None",
        "inverse": f"1 / {layer}.q.shape[-1]",
        "factor": f"{layer}.scale * {edit.factor!r}" if edit.rescales else None,
    }.get(edit.scale)
    mask = f"mask_of({layer})" if edit.mask != "model" or edit.hidden else None
    return "".join(f", {name}={value}" for name, value in (("mask", mask), ("scale", scale)) if value is not None)


def _again(shown: Shown, changed_at: HeadPlace, edit: HeadEdit) -> list[str]:
    lines = ["edits = []"]
    layer, head = changed_at
    if edit.changes_attention:
        chosen = "layers" if edit.where == "all" else f"[layers[{layer}]]"
        heads = str(head) if edit.where == "head" else '"all"'
        lines += [
            f"for layer in {chosen}:",
            f"    edits.append(Edit(layer.index, {heads}, layer.stack, layer.kind{_arguments(edit, 'layer')}))",
        ]
    for index in sorted({place[0] for place in edit.silenced}):
        quiet = tuple(number for where, number in edit.silenced if where == index)
        place = f"layers[{index}]"
        lines.append(f"edits.append(Edit({place}.index, {quiet}, {place}.stack, {place}.kind, silence=True))")
    return [
        *lines,
        "changed = intervene(loaded.model, edits, **inputs)",
        f"before = layers[{shown.layer}].weights({shown.head})[0, 0]  # (Q, K)",
        f"after = {_layers_of('changed', shown.run, shown.stack.id)}[{shown.layer}]",
        f"after = after.weights({shown.head})[0, 0]",
    ]


def _opening(run: ModelRun, stack: StackId, captured: str, *more: str) -> list[str]:
    """Lines that define `loaded`, `tokens` (those of the stack's rows), `inputs`, `trace` and `layers`, after what they
    import; `captured` are the names from attnviz.models.capture."""
    request = run.request
    second = f", {request.second!r}" if request.second and run.target is None else ""
    frame = f", frame={run.source.frame!r}" if run.source.frame != "usual" else ""
    lines = [
        "import torch",
        *more,
        f"from attnviz.models.capture import {captured}",
        "from attnviz.models.loading import load",
        f"from attnviz.models.tokens import encode{', encode_target' if run.target is not None else ''}",
        "",
        f"loaded = load({request.model!r})",
        f"tokens = encode(loaded, {request.text!r}{second}{frame})",
        "inputs = tokens.inputs",
    ]
    if run.target is not None:
        lines += [
            f"target = encode_target(loaded, {request.second!r})",
            'inputs = inputs | {"decoder_input_ids": target.inputs["input_ids"]}',
        ]
        if stack == "decoder":
            lines.append("tokens = target")
    return [*lines, "trace = capture(loaded.model, **inputs)", f"layers = {_layers_of('trace', run, stack)}", ""]


def _layers_of(trace: str, run: ModelRun, stack: StackId) -> str:
    """The stack's layers in a trace of that name, as an expression."""
    own = f'[each for each in {trace}.layers if (each.stack, each.kind) == ("{stack}", "self")]'
    return f"{trace}.layers" if run.target is None else own
