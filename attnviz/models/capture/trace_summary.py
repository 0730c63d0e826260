"""What a trace holds, in a few lines: for whoever looks at one in a notebook or a debugger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from attnviz.byte_units import decimal
from attnviz.models.capture.recorded_layer import RecordedLayer


def summary(
    layers: Sequence[RecordedLayer], tensors: Mapping[str, Tensor | None], streams: int, nbytes: int, device: str
) -> str:
    """A line on the whole, one for each kind of layer with the numbers that find them, and the shapes of the rest."""
    kinds: dict[tuple[str, str], list[int]] = {}
    for number, layer in enumerate(layers):
        kinds.setdefault((layer.tower, _kind(layer)), []).append(number)
    place = "" if device == "cpu" else f", on {device}"
    lines = [f"<Trace: {_count(len(layers), 'layer')}, {decimal(nbytes)}{place}"]
    lines += [f"  [{_ranges(numbers)}] {kind}{_names(layers, numbers)}" for (_, kind), numbers in kinds.items()]
    told = [f"{name} {tuple(value.shape)}" for name, value in tensors.items() if value is not None]
    told += [f"residual stream at {streams} places"] if streams else []
    lines += [f"  {', '.join(told)}"] if told else []
    return "\n".join(lines) + ">"


def _kind(layer: RecordedLayer) -> str:
    batch, heads, q_len, k_len = layer.shape
    on = "" if layer.n_kv_heads == heads else f" on {layer.n_kv_heads}"
    edits = (layer.scales, layer.set_weights, layer.set_output, layer.silenced or None)
    changed = any(each is not None for each in edits)
    notes = ("" if layer.exact else ", weights only") + (", changed" if changed else "")
    return f"{layer.stack} {layer.kind}: {_count(heads, 'head')}{on}, {batch} x {q_len} x {k_len}{notes}"


def _names(layers: Sequence[RecordedLayer], numbers: Sequence[int]) -> str:
    first, last = layers[numbers[0]].name, layers[numbers[-1]].name
    return f', "{first}"' + (f' to "{last}"' if last != first else "")


def _ranges(numbers: Sequence[int]) -> str:
    """0, 1, 2, 5 as "0-2, 5"; every other layer as "0, 2, 4"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
