"""The files of a model's folder, which may be of a stranger's making: its config and its weights.

What a config may not ask for is looked for in all of it, since configs are nested in configs, and before transformers
or timm sees it, because their classes make lists as long as the config says.

The tensors of safetensors files are read when asked for, under the names that the model has for them. Only files in the
app's own cache are mapped into memory: nobody else writes there. A file that its owner may overwrite is read, because a
mapped one changes under the model, and one that gets shorter kills the process.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attnviz.base.message import Message, MessageList, Problem
from attnviz.models.catalogue import ModelEntry, WeightsAre
from attnviz.models.file_faults import DAMAGED, FAILED, first_line

if TYPE_CHECKING:
    from torch import nn

MOST_LAYERS: Final = 1024  #: every layer is built, if only on the meta device, before its size is known

#: fields that count parts which are built one by one; families name them each in its own way
_COUNTS_PARTS: Final = re.compile(r"(?:^|_)(?:layers?|depths?|blocks?|stages?|experts)$")
#: of these, fields that may be a list with the count of each stage
_BY_STAGE: Final = re.compile(r"(?:^|_)(?:depths?|blocks?)$")
#: where a config may name a function for its attention or its experts; with a slash it is a kernel of the hub
_NAMES_CODE: Final = re.compile(r"^_?(?:attn|experts)_implementation(?:_internal)?$")


def read_json(file: Path) -> dict[str, Any] | None:
    """The object in a JSON file; None where the file cannot be read or holds something else."""
    try:
        value = json.loads(file.read_text("utf-8"))
    except DAMAGED:
        return None
    return value if isinstance(value, dict) else None


def find_excess(config: Mapping[str, Any], most: int) -> tuple[str, int] | None:
    """The first field that asks for more than `most` layers, blocks or experts, with its number."""
    for path, name, value in _fields(config):
        if not _COUNTS_PARTS.search(name):
            continue
        count = 0  # where it is no count
        if isinstance(value, list | tuple):
            counts = [count_of_stage for count_of_stage in value if isinstance(count_of_stage, int)]
            count = sum(counts) if _BY_STAGE.search(name) else max([len(value), *counts])
        elif isinstance(value, int) and not isinstance(value, bool):
            count = value
        if count > most:
            return path, count
    return None


def hub_kernel(config: Mapping[str, Any]) -> str | None:
    """The first kernel of the hub that the config names: transformers would download and run it."""
    values = (value for _path, name, value in _fields(config) if _NAMES_CODE.search(name))
    named = (str(kernel) for value in values for kernel in (value.values() if isinstance(value, Mapping) else [value]))
    return next((kernel for kernel in named if "/" in kernel), None)


def check_layers(config: Mapping[str, Any], entry: ModelEntry) -> None:
    """Refuse a config that asks for more layers, blocks or experts than are built here."""
    if excess := find_excess(config, MOST_LAYERS):
        raise Problem(
            "The config of {name} asks for {field}={count}; at most {most} are built here",
            name=entry.name,
            field=excess[0][:80],
            count=str(excess[1])[:40],
            most=MOST_LAYERS,
        )


def config_problem(entry: ModelEntry, error: Exception) -> Problem:
    """A config that its library refuses."""
    return Problem("The config of {name} describes no model: {reason}", name=entry.name, reason=first_line(error))


def _fields(config: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Every field of a config and of those inside it: dotted name, last part of the name, value."""
    waiting: list[tuple[str, Any]] = [("", config)]
    while waiting:
        above, inside = waiting.pop()
        if isinstance(inside, Mapping):
            for name, value in inside.items():
                path = f"{above}.{name}" if above else str(name)
                yield path, str(name), value
                waiting.append((path, value))
        elif isinstance(inside, list | tuple):
            waiting += [(above, value) for value in inside if isinstance(value, Mapping | list | tuple)]


# The tensors of safetensors files, whether they are all there, and whether they were ever trained.
_NAMED: Final = 3  #: weights that a sentence names
INDEX: Final = "model.safetensors.index.json"
_COMPILED: Final = "_orig_mod."  #: torch.compile's; of the whole model or of any part, so anywhere in a name
_PARALLEL: Final = "module."  #: DistributedDataParallel's; of the whole model, so at the start of every name


@dataclass(frozen=True)
class StoredWeights:
    """Slices of the open files by name, and what was done to the names."""

    slices: dict[str, Any]  #: `[...]` reads one
    notices: tuple[Message, ...]

    def first_dtype(self) -> str | None:
        """The type of the first floating point tensor, as torch names it."""
        names = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
        return next(
            (names[kind] for tensor_slice in self.slices.values() if (kind := tensor_slice.get_dtype()) in names), None
        )


def weight_files(folder: Path) -> tuple[Path, ...]:
    """The files that hold a model's weights; empty where there is no whole set of them."""
    if os.path.isfile(folder / "model.safetensors"):
        return (folder / "model.safetensors",)
    named = (read_json(folder / INDEX) or {}).get("weight_map")
    if not isinstance(named, dict):
        return ()
    files = tuple(folder / name for name in sorted({Path(str(name)).name for name in named.values()}))
    return files if all(map(os.path.isfile, files)) else ()


@contextmanager
def open_weights(files: tuple[Path, ...], entry: ModelEntry, mapped: bool) -> Iterator[StoredWeights]:
    """The tensors of the files, for as long as the files are open."""
    slices: dict[str, Any] = {}
    try:
        with ExitStack() as stack:
            for file in files:
                reader = stack.enter_context(_reader(file, entry, mapped))
                twice = slices.keys() & set(reader.offset_keys())
                if twice:
                    raise Problem("{key} stands in two files of {name}", key=min(twice), name=entry.name)
                slices |= {name: reader.get_slice(name) for name in reader.offset_keys()}
            plain, taken_off = strip_prefixes(list(slices))
            if len(set(plain.values())) < len(plain):
                raise Problem("Some weights of {name} are there twice, with a prefix and without", name=entry.name)
            notice = Message(
                "The prefix {prefix} was taken off the names of the weights", {"prefix": MessageList(taken_off)}
            )
            yield StoredWeights(
                {plain[name]: tensor_slice for name, tensor_slice in slices.items()}, (notice,) if taken_off else ()
            )
    except FAILED as error:  # cut short while it is read, or on a disk that fails
        raise Problem("{name} cannot be opened: {reason}", name=entry.name, reason=first_line(error)) from error


def strip_prefixes(names: list[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Each name as the model itself has it, and which prefixes that compiling and DDP put there were taken off."""
    plain = {name: re.sub(rf"(^|(?<=\.)){re.escape(_COMPILED)}", "", name) for name in names}
    taken_off = [_COMPILED] if any(name != short for name, short in plain.items()) else []
    while names and all(short.startswith(_PARALLEL) for short in plain.values()):
        plain = {name: short.removeprefix(_PARALLEL) for name, short in plain.items()}
        taken_off.append(_PARALLEL)
    return plain, tuple(dict.fromkeys(taken_off))


def _reader(file: Path, entry: ModelEntry, mapped: bool) -> Any:
    from safetensors import safe_open

    try:
        return safe_open(file, framework="pt", backend="mmap" if mapped and sys.platform != "win32" else "pread")
    except FAILED as error:
        raise Problem(
            "The file {file} of {name} is damaged or incomplete: {reason}",
            file=file.name,
            name=entry.name,
            reason=first_line(error),
        ) from error


def check_weights(missing: Sequence[str], wrong: Sequence[str], entry: ModelEntry) -> None:
    """Refuse a model of which a part would stay as it was before it learned anything; both are names of weights."""
    if missing:
        raise Problem(
            "{count} weights that the config of {name} asks for are not in its files: {names}",
            count=len(missing),
            name=entry.name,
            names=list_first(missing),
        )
    if wrong:
        raise Problem(
            "{count} weights of {name} have another shape in the files than in the config: {names}",
            count=len(wrong),
            name=entry.name,
            names=list_first(wrong),
        )


def list_first(names: Sequence[str]) -> MessageList:
    """The first names of many, as a sentence lists them."""
    return MessageList((*names[:_NAMED], *(["…"] if len(names) > _NAMED else [])))


def training_state(model: nn.Module) -> WeightsAre:
    """Whether weights were ever trained, seen from the weights alone; "unknown" where no norm has factors to look at.

    Every norm starts with all its factors alike, and the first step of training makes them differ. A model
    whose norms are all as they start has random weights, wherever its files came from.
    """
    as_they_start = [
        bool((weight == weight.flatten()[0]).all())
        for module in model.modules()
        if "norm" in type(module).__name__.lower()
        for name, weight in module.named_parameters(recurse=False)
        if name == "weight" and weight.numel() > 1
    ]
    if not as_they_start:
        return "unknown"
    return "random" if all(as_they_start) else "trained"
