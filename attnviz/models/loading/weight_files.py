"""The tensors in a folder's safetensors files, read when asked for, under the names that the model has for them;
and whether they are all there, and trained.

Only files in the app's own cache are mapped into memory: nobody else writes there. A file that its owner
may overwrite is read, because a mapped one changes under the model, and one that gets shorter kills the process.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attnviz.base.message import Message, Problem, Several
from attnviz.models.catalogue import Entry, WeightsAre
from attnviz.models.config_limits import first_line, read_json

if TYPE_CHECKING:
    from torch import nn

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
        kinds = (names.get(each.get_dtype()) for each in self.slices.values())
        return next((kind for kind in kinds if kind), None)


def files_of(folder: Path) -> tuple[Path, ...]:
    """The files that hold a model's weights; empty where there is no whole set of them."""
    if (folder / "model.safetensors").is_file():
        return (folder / "model.safetensors",)
    named = (read_json(folder / INDEX) or {}).get("weight_map")
    if not isinstance(named, dict):
        return ()
    files = tuple(folder / name for name in sorted({Path(str(name)).name for name in named.values()}))
    return files if all(file.is_file() for file in files) else ()


@contextmanager
def opened(files: tuple[Path, ...], entry: Entry, mapped: bool) -> Iterator[StoredWeights]:
    """The tensors of the files, for as long as the files are open."""
    slices: dict[str, Any] = {}
    with ExitStack() as stack:
        for file in files:
            reader = stack.enter_context(_reader(file, entry, mapped))
            twice = slices.keys() & set(reader.offset_keys())
            if twice:
                raise Problem("{key} stands in two files of {name}", key=min(twice), name=entry.name)
            slices |= {name: reader.get_slice(name) for name in reader.offset_keys()}
        plain, taken_off = plain_names(list(slices))
        if len(set(plain.values())) < len(plain):
            raise Problem("Some weights of {name} are there twice, with a prefix and without", name=entry.name)
        notice = Message("The prefix {prefix} was taken off the names of the weights", {"prefix": Several(taken_off)})
        yield StoredWeights({plain[name]: each for name, each in slices.items()}, (notice,) if taken_off else ())


def plain_names(names: list[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Each name as the model itself has it, and which prefixes that compiling and DDP put there were taken off."""
    plain = dict.fromkeys(names, "")
    taken_off: dict[str, None] = {}
    for name in names:
        plain[name] = re.sub(rf"(^|(?<=\.)){re.escape(_COMPILED)}", "", name)
        if plain[name] != name:
            taken_off[_COMPILED] = None
    while names and all(each.startswith(_PARALLEL) for each in plain.values()):
        plain = {name: each.removeprefix(_PARALLEL) for name, each in plain.items()}
        taken_off[_PARALLEL] = None
    return plain, tuple(taken_off)


def _reader(file: Path, entry: Entry, mapped: bool) -> Any:
    from safetensors import SafetensorError, safe_open

    backend = "mmap" if mapped and sys.platform != "win32" else "pread"
    try:
        return safe_open(file, framework="pt", backend=backend)
    except (SafetensorError, OSError) as error:
        raise Problem(
            "The file {file} of {name} is damaged or incomplete: {reason}",
            file=file.name,
            name=entry.name,
            reason=first_line(error),
        ) from error


def check_weights(missing: Sequence[str], wrong: Sequence[str], entry: Entry) -> None:
    """Refuse a model of which a part would stay as it was before it learned anything; both are names of weights."""
    if missing:
        raise Problem(
            "{count} weights that the config of {name} asks for are not in its files: {names}",
            count=len(missing),
            name=entry.name,
            names=first_few(missing),
        )
    if wrong:
        raise Problem(
            "{count} weights of {name} have another shape in the files than in the config: {names}",
            count=len(wrong),
            name=entry.name,
            names=first_few(wrong),
        )


def first_few(names: Sequence[str]) -> Several:
    """The first names of many, as a sentence lists them."""
    return Several((*names[:_NAMED], *(["…"] if len(names) > _NAMED else [])))


def weights_are(model: nn.Module) -> WeightsAre:
    """Whether weights were ever trained, seen from the weights alone; "unknown" where no norm has factors to look at.

    Every norm starts with all its factors alike, and the first step of training makes them differ. A model
    whose norms are all as they start has random weights, wherever its files came from.
    """
    factors = [
        weight
        for module in model.modules()
        if "norm" in type(module).__name__.lower()
        for name, weight in module.named_parameters(recurse=False)
        if name == "weight" and weight.numel() > 1
    ]
    if not factors:
        return "unknown"
    as_they_start = all(bool((each == each.flatten()[0]).all()) for each in factors)
    return "random" if as_they_start else "trained"
