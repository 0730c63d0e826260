"""Open a folder of safetensors as a model, after checking its config. Runs no remote code and opens no pickle."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from attnviz.core.message import Problem
from attnviz.models.catalogue import Entry
from attnviz.models.loading import hardware
from attnviz.models.loading.locate import has_weights
from attnviz.models.settings import Settings

#: modules named "attention" that mix positions without queries, keys and softmax
_NO_SOFTMAX: Final = ("rwkv",)
#: transformers sets process-wide flags while it builds a model, so building two at once leaves weights unset
one_at_a_time: Final = threading.RLock()


def model(folder: Path, entry: Entry, settings: Settings) -> Any:
    """The model in evaluation mode, on the device that the settings choose."""
    import torch

    if not has_weights(folder):
        raise _no_weights(folder, entry)
    config = read_config(folder, entry)
    device = hardware.pick_device(settings)
    if entry.in_catalogue:
        hardware.check_memory(entry.memory_mb * 10**6, entry, settings, device)
    else:
        check_fits(config, entry, settings, device)
    with one_at_a_time, _quietly(), torch.no_grad():
        loaded = model_class(config, entry).from_pretrained(
            folder,
            config=config,
            dtype=hardware.pick_dtype(settings, device),
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
        )
        return loaded.eval().requires_grad_(False).to(device)


@contextmanager
def _quietly() -> Iterator[None]:
    """Hide transformers' own progress bars inside the block; progress is reported through `Progress`."""
    from transformers.utils import logging

    before = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if before:
            logging.enable_progress_bar()


def tokenizer(folder: Path, entry: Entry) -> Any:
    """The tokenizer beside the weights; None for models that take pictures."""
    from transformers.models.auto.tokenization_auto import AutoTokenizer

    if entry.kind == "pictures":
        return None
    try:
        found = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        if _is_for_pictures(folder):
            return None
        raise Problem("The tokenizer of {name} cannot be read: {reason}", name=entry.name, reason=error) from error
    files = {*found.vocab_files_names.values(), "tokenizer.json"} if found.vocab_files_names else set()
    if files and not any((folder / str(name)).is_file() for name in files):  # transformers would make an empty one
        raise Problem("{name} comes without a tokenizer", name=entry.name)
    if found.is_fast:  # some tokenizer files cut and pad every text; attnviz cuts to its own limit instead
        found.backend_tokenizer.no_truncation()
        found.backend_tokenizer.no_padding()
    return found


def read_config(folder: Path, entry: Entry) -> Any:
    """The config; a Problem unless transformers supports its model type without code from the model's author."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING, AutoConfig

    try:
        raw = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Problem("The config of {name} cannot be read", name=entry.name) from error
    kind = raw.get("model_type")
    if kind not in CONFIG_MAPPING:
        if "auto_map" in raw:
            raise Problem("{name} runs only with code of its own, which attnviz never runs", name=entry.name)
        raise Problem("{name} is of a kind ({kind}) that transformers does not support", name=entry.name, kind=kind)
    return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def model_class(config: Any, entry: Entry) -> Any:
    """The model class named in the config, or else transformers' choice for the kind of the entry."""
    import transformers

    for name in config.architectures or ():
        named = getattr(transformers, name, None)
        if isinstance(named, type) and issubclass(named, transformers.PreTrainedModel):
            return named
    by_kind = {"decoder": transformers.AutoModelForCausalLM, "encoder-decoder": transformers.AutoModelForSeq2SeqLM}
    return by_kind.get(entry.kind or "", transformers.AutoModel)


def check_fits(config: Any, entry: Entry, settings: Settings, device: str) -> None:
    """Refuse a model that has no attention or is too large for this machine, judged by its config alone."""
    import torch

    kind = model_class(config, entry)
    with one_at_a_time, torch.device("meta"):
        skeleton = kind(config) if hasattr(kind, "config_class") else kind.from_config(config)
    has_attention = any("attention" in type(module).__name__.lower() for module in skeleton.modules())
    if not has_attention or config.model_type in _NO_SOFTMAX:
        raise Problem("{name} has no attention layers: there is nothing to show", name=entry.name)
    dtype = hardware.pick_dtype(settings, device)
    width = 4 if dtype == "auto" else getattr(torch, dtype).itemsize
    hardware.check_memory(
        width * sum(parameter.numel() for parameter in skeleton.parameters()), entry, settings, device
    )


def _is_for_pictures(folder: Path) -> bool:
    return (folder / "preprocessor_config.json").is_file()


def _no_weights(folder: Path, entry: Entry) -> Problem:
    if any(folder.glob("*.bin")) or any(folder.glob("*.pt")) or any(folder.glob("*.ckpt")):
        return Problem(
            "{name} has its weights only as pickle files, which can run code when opened; "
            "only safetensors are read here",
            name=entry.name,
        )
    return Problem("{name} has no config.json with safetensors beside it", name=entry.name)
