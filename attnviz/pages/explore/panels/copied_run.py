"""The first lines of the explorer's programs: the model, the sentence, the recorded pass, and the stack on show."""

from __future__ import annotations

from attnviz.runs.model_run import ModelRun, StackId


def opening(run: ModelRun, stack: StackId) -> list[str]:
    """Lines that define `loaded`, `tokens` (those of the stack's rows), `inputs`, `trace` and `layers`."""
    request = run.request
    second = f", {request.second!r}" if request.second and run.target is None else ""
    frame = f", frame={run.source.frame!r}" if run.source.frame != "usual" else ""
    lines = [
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
    return [*lines, "trace = capture(loaded.model, **inputs)", *_layers(run, stack), ""]


def imports(run: ModelRun, captured: str = "capture") -> list[str]:
    """The imports that `opening` needs; `captured` are the names from attnviz.models.capture."""
    return [
        "import torch",
        f"from attnviz.models.capture import {captured}",
        "from attnviz.models.loading import load",
        f"from attnviz.models.tokens import encode{', encode_target' if run.target is not None else ''}",
        "",
    ]


def layers_of(trace: str, run: ModelRun, stack: StackId) -> str:
    """The stack's layers in a trace of that name, as an expression."""
    if run.target is None:
        return f"{trace}.layers"
    return f'[each for each in {trace}.layers if (each.stack, each.kind) == ("{stack}", "self")]'


def _layers(run: ModelRun, stack: StackId) -> list[str]:
    return [f"layers = {layers_of('trace', run, stack)}"]
