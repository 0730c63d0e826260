"""Save a trace as one safetensors file: tensors under numbered names, everything else as JSON in its metadata."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from attnviz.core.message import Message, Problem
from attnviz.models.capture.recorded_layer import RecordedLayer
from attnviz.models.capture.trace import Trace

FORMAT = "attnviz-trace-1"
_PLAIN = ("stack", "kind", "index", "name", "scale", "causal", "softcap", "scales")
_TENSORS = ("q", "k", "v", "allowed", "padding", "bias", "sinks", "norms", "reported")


def save_trace(trace: Trace, path: Path | str) -> None:
    """Write the trace under a temporary name, then rename it, so that a reader never sees half a file.

    The output projection is not saved; the value norms (B, H, K) computed from it are.
    """
    tensors: dict[str, Tensor] = {}
    layers = []
    names: dict[tuple[Any, ...], str] = {}
    with_norms = [_with_norms(layer) for layer in trace.layers]  # all stay alive, so that no two share an address
    for number, kept in enumerate(with_norms):
        fields: dict[str, Any] = {name: getattr(kept, name) for name in _PLAIN}
        fields["silenced"] = sorted(kept.silenced)
        if kept.why is not None:
            fields["why"] = [kept.why.template, kept.why.params]
        held = {name: value for name in _TENSORS if (value := getattr(kept, name)) is not None}
        fields["tensors"] = {name: _put(value, f"{number}.{name}", tensors, names) for name, value in held.items()}
        layers.append(fields)
    for name, value in trace.inputs.items():
        tensors[f"inputs.{name}"] = value.detach().cpu().contiguous()
    if trace.logits is not None:
        tensors["logits"] = trace.logits.detach().cpu().contiguous()
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    save_file(tensors, temporary, {"format": FORMAT, "layers": json.dumps(layers)})
    temporary.replace(path)


def load_trace(path: Path | str) -> Trace:
    """The saved trace, on the CPU; a Problem if the file is missing, damaged, or was not written by `save_trace`."""
    path = Path(path)
    try:
        with safe_open(path, framework="pt") as file:
            meta = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError as error:
        raise Problem("{path} does not exist", path=path.name) from error
    except Exception as error:
        raise Problem("{path} is not a saved trace, or is damaged", path=path.name) from error
    if meta.get("format") != FORMAT:
        raise Problem("{path} is not a saved trace, or is damaged", path=path.name)
    layers = tuple(_layer(fields, tensors) for fields in json.loads(meta["layers"]))
    inputs = {name.removeprefix("inputs."): value for name, value in tensors.items() if name.startswith("inputs.")}
    return Trace(layers, tensors.get("logits"), inputs)


def _layer(fields: dict[str, Any], tensors: dict[str, Tensor]) -> RecordedLayer:
    plain = {name: fields[name] for name in _PLAIN}
    plain["scales"] = None if plain["scales"] is None else tuple(plain["scales"])
    why = Message(*fields["why"]) if "why" in fields else None
    held: dict[str, Any] = {name: tensors[key] for name, key in fields["tensors"].items()}
    return RecordedLayer(**plain, **held, silenced=frozenset(fields["silenced"]), why=why)


def _with_norms(layer: RecordedLayer) -> RecordedLayer:
    return layer if layer.w_o is None or layer.v is None else replace(layer, norms=layer.value_norms())


def _put(value: Tensor, name: str, tensors: dict[str, Tensor], names: dict[tuple[Any, ...], str]) -> str:
    """The name under which a tensor is saved; a tensor that several layers share, such as a mask, is saved once."""
    key = (value.data_ptr(), tuple(value.shape), value.stride(), value.dtype)
    if key not in names:
        names[key] = name
        tensors[name] = value.detach().cpu().contiguous().clone()
    return names[key]
