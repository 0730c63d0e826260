"""Store a trace as one safetensors file: tensors under numbered names, the rest as JSON in its metadata.

This module knows layers and tensors but not `Trace`, which imports it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from torch import Tensor

from attnviz.base.extras import explain_missing_extra
from attnviz.base.message import Message, Problem
from attnviz.base.units import decimal
from attnviz.base.words import N_
from attnviz.models.capture.recorded_layer import RecordedLayer

FORMAT = "attnviz-trace-1"
_PLAIN = ("stack", "kind", "index", "name", "scale", "causal", "softcap", "scales", "tower", "run")


def write_trace_file(
    path: Path | str, layers: Sequence[RecordedLayer], others: Mapping[str, Tensor], extra: Mapping[str, Any]
) -> None:
    """Write layers, other tensors by name, and JSON data; a reader never sees half a file."""
    tensors, header = _to_parts(layers, others, extra)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with explain_missing_extra(N_("Saving a trace")):
        from safetensors.torch import save_file  # here because a capture does not need it
    save_file(tensors, path, header)  # under a temporary name first


def trace_to_bytes(layers: Sequence[RecordedLayer], others: Mapping[str, Tensor], extra: Mapping[str, Any]) -> bytes:
    """Bytes of the file that `write_trace_file` writes, to send to another process."""
    with explain_missing_extra(N_("Sending a trace")):
        from safetensors.torch import save
    return save(*_to_parts(layers, others, extra))


def _to_parts(
    layers: Sequence[RecordedLayer], others: Mapping[str, Tensor], extra: Mapping[str, Any]
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors of a file by name, and its metadata.

    The output projection is saved only where the layer holds it; the value norms (B, H, K) computed from it always are.
    """
    tensors: dict[str, Tensor] = {}
    described = []
    names: dict[tuple[Any, ...], str] = {}
    with_norms = [
        layer if layer.w_o is None or layer.v is None else replace(layer, norms=layer.value_norms()) for layer in layers
    ]
    for number, layer in enumerate(with_norms):  # all stay alive, so that no two share an address
        fields: dict[str, Any] = {name: getattr(layer, name) for name in _PLAIN} | {"silenced": sorted(layer.silenced)}
        if layer.why is not None:
            fields["why"] = [layer.why.template, layer.why.params]
        described.append(
            fields
            | {
                "tensors": {
                    name: _store_tensor(value, f"{number}.{name}", tensors, names)
                    for name, value in layer.tensors().items()
                }
            }
        )
    tensors |= {name: value.detach().cpu().contiguous().clone() for name, value in others.items()}
    return tensors, {"format": FORMAT, "layers": json.dumps(described), "extra": json.dumps(dict(extra))}


def read_trace_file(path: Path | str) -> tuple[tuple[RecordedLayer, ...], dict[str, Tensor], dict[str, Any]]:
    """Layers, other tensors and JSON data of a file, on the CPU; raises a Problem if it cannot be read."""
    path = Path(path)
    with explain_missing_extra(N_("Opening a trace")):
        from safetensors import safe_open  # here because a capture does not need it
    try:
        # read and not mapped into memory: a mapped file that gets shorter kills the process
        with safe_open(path, framework="pt", backend="pread") as file:
            meta = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return _from_parts(tensors, meta, path.name)
    except FileNotFoundError as error:
        raise Problem("{path} does not exist", path=path.name) from error
    except Exception as error:
        raise Problem("{path} is not a saved trace, or is damaged", path=path.name) from error


def trace_from_bytes(sent: bytes) -> tuple[tuple[RecordedLayer, ...], dict[str, Tensor], dict[str, Any]]:
    """Layers, other tensors and JSON data from the bytes of `trace_to_bytes`, on the CPU."""
    with explain_missing_extra(N_("Reading a trace")):
        from safetensors.torch import load
    header = json.loads(sent[8 : 8 + int.from_bytes(sent[:8], "little")])  # safetensors' own, which `load` leaves out
    return _from_parts(load(sent), header.get("__metadata__", {}), "bytes")


def _from_parts(
    tensors: dict[str, Tensor], meta: Mapping[str, str], name: str
) -> tuple[tuple[RecordedLayer, ...], dict[str, Tensor], dict[str, Any]]:
    if meta.get("format") != FORMAT:
        raise Problem("{path} is not a saved trace, or is damaged", path=name)
    layers = tuple(_build_layer(fields, tensors) for fields in json.loads(meta["layers"]))
    others = {name: value for name, value in tensors.items() if not name[:1].isdigit()}
    return layers, others, json.loads(meta["extra"])


def _build_layer(fields: dict[str, Any], tensors: dict[str, Tensor]) -> RecordedLayer:
    plain = {name: fields[name] for name in _PLAIN}
    plain["scales"] = None if plain["scales"] is None else tuple(plain["scales"])
    why = Message(*fields["why"]) if "why" in fields else None
    layer_tensors: dict[str, Any] = {name: tensors[key] for name, key in fields["tensors"].items()}
    return RecordedLayer(**plain, **layer_tensors, silenced=frozenset(fields["silenced"]), why=why)


def _store_tensor(value: Tensor, name: str, tensors: dict[str, Tensor], names: dict[tuple[Any, ...], str]) -> str:
    """Name under which a tensor is saved; a tensor that several layers share, such as a mask, is saved once."""
    key = (value.data_ptr(), tuple(value.shape), value.stride(), value.dtype)
    if key not in names:
        names[key] = name
        tensors[name] = value.detach().cpu().contiguous().clone()
    return names[key]


def summarise_layers(
    layers: Sequence[RecordedLayer], tensors: Mapping[str, Tensor | None], streams: int, nbytes: int, device: str
) -> str:
    """Summary of a trace: one line in all, one for each kind of layer with its indices, and the other shapes."""
    kinds: dict[tuple[str, str], list[int]] = {}
    for number, layer in enumerate(layers):
        kinds.setdefault((layer.tower, _describe_layer(layer)), []).append(number)
    lines = [
        f"<Trace: {_count_noun(len(layers), 'layer')}, {decimal(nbytes)}"
        + ("" if device == "cpu" else f", on {device}")
    ]
    lines += [
        f"  [{_format_ranges(numbers)}] {kind}{_describe_names(layers, numbers)}"
        for (_, kind), numbers in kinds.items()
    ]
    shapes = [f"{name} {tuple(value.shape)}" for name, value in tensors.items() if value is not None]
    shapes += [f"residual stream at {streams} places"] if streams else []
    lines += [f"  {', '.join(shapes)}"] if shapes else []
    return "\n".join(lines) + ">"


def _describe_layer(layer: RecordedLayer) -> str:
    batch, heads, q_len, k_len = layer.shape
    on = "" if layer.n_kv_heads == heads else f" on {layer.n_kv_heads}"
    edits = (layer.scales, layer.blocked, layer.set_weights, layer.set_output, layer.silenced or None)
    notes = ("" if layer.exact else ", weights only") + (", changed" if any(e is not None for e in edits) else "")
    return f"{layer.stack} {layer.kind}: {_count_noun(heads, 'head')}{on}, {batch} x {q_len} x {k_len}{notes}"


def _describe_names(layers: Sequence[RecordedLayer], numbers: Sequence[int]) -> str:
    first, last = layers[numbers[0]].name, layers[numbers[-1]].name
    return f', "{first}"' + (f' to "{last}"' if last != first else "")


def _format_ranges(numbers: Sequence[int]) -> str:
    """0, 1, 2, 5 as "0-2, 5"; every other layer as "0, 2, 4"."""
    neighbours = groupby(enumerate(numbers), lambda placed: placed[1] - placed[0])
    runs = [[number for _, number in run] for _, run in neighbours]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _count_noun(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
