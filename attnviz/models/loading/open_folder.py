"""Open a folder of safetensors as a model, after checking its config and whether this machine can hold it.

Runs no remote code and opens no pickle.
"""

import inspect
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from attnviz.base.message import Message, Problem
from attnviz.models import model_files
from attnviz.models.catalogue import ModelEntry
from attnviz.models.file_faults import first_line
from attnviz.models.loading.locate import has_weights
from attnviz.models.settings import Settings

#: transformers sets process-wide flags while it builds a model, so building two at once leaves weights unset
one_at_a_time: Final = threading.RLock()


class OpenedModel(NamedTuple):
    """A loaded model, its tokenizer, and notices about changes to its weights."""

    model: Any
    notices: tuple[Message, ...]
    tokenizer: Any


def open_model(folder: Path, entry: ModelEntry, settings: Settings) -> tuple[Any, tuple[Message, ...]]:
    """Load a model in evaluation mode on the chosen device, with notices about changes to its weights.

    Every weight of it comes from the files.
    """
    import torch

    from attnviz.models.loading import timm_folder  # here because it loads torch

    if not has_weights(folder):
        raise _no_weights(folder, entry)
    device = pick_device(settings)
    if timm_folder.is_timm(folder):
        with one_at_a_time, model_files.open_weights(model_files.weight_files(folder), entry, mapped=False) as weights:
            check_memory(4 * timm_folder.count_parameters(folder, entry), entry, settings, device)
            filled = timm_folder.fill_weights(folder, weights.slices, entry)
            return filled.eval().requires_grad_(False).to(device), weights.notices
    config = read_config(folder, entry)
    if entry.in_catalogue:
        check_memory(entry.memory_mb * 10**6, entry, settings, device)
    else:
        check_fits(config, entry, settings, device)
    mapped = folder.resolve().is_relative_to(settings.cache.resolve())
    with (
        one_at_a_time,
        _quietly(),
        torch.no_grad(),
        model_files.open_weights(model_files.weight_files(folder), entry, mapped) as weights,
    ):
        filled, info = _fill(config, weights, entry, pick_dtype(settings, device))
        wrong = [
            f"{key} {list(file_shape)} ≠ {list(model_shape)}"
            for key, file_shape, model_shape in sorted(info["mismatched_keys"])
        ]
        model_files.check_weights(sorted(info["missing_keys"]), wrong, entry)
        _take_generation_config(filled, folder)
        return filled.eval().requires_grad_(False).to(device), weights.notices + _left_over(info, entry)


def _fill(
    config: Any, weights: model_files.StoredWeights, entry: ModelEntry, dtype: str
) -> tuple[Any, Mapping[str, Any]]:
    """Load the weights into the model; also transformers' report of missing and mismatched keys."""
    if dtype == "auto" and getattr(config, "dtype", None) is None:
        dtype = weights.first_dtype() or "float32"
    kind = model_class(config, entry)
    # published towers (DINO among them) come without the layer that pools what they give; it can be left out
    pools = "add_pooling_layer" in inspect.signature(kind).parameters
    left_out = {"add_pooling_layer": False} if pools and not any("pooler." in name for name in weights.slices) else {}
    try:
        filled: tuple[Any, Mapping[str, Any]] = kind.from_pretrained(
            None,
            config=config,
            state_dict=weights.slices,
            dtype=dtype,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
            trust_remote_code=False,
            **left_out,
        )
    except Exception as error:
        raise Problem("{name} cannot be opened: {reason}", name=entry.name, reason=first_line(error)) from error
    return filled


def _left_over(info: Mapping[str, Any], entry: ModelEntry) -> tuple[Message, ...]:
    """A notice of tensors that the model has no place for; for catalogue models none are missed."""
    extra = sorted(info["unexpected_keys"])
    if not extra or entry.in_catalogue:
        return ()
    return (
        Message(
            "{count} weights in the files of {name} have no place in the model of its config: {names}",
            {"count": len(extra), "name": entry.name, "names": model_files.list_first(extra)},
        ),
    )


def _take_generation_config(filled: Any, folder: Path) -> None:
    """Set the generation config, as `from_pretrained` does for a folder."""
    from transformers.generation.configuration_utils import GenerationConfig

    filled.name_or_path = filled.config.name_or_path = str(folder)
    if filled.can_generate() and (folder / "generation_config.json").is_file():
        with suppress(Exception):  # optional, and of somebody else's making: without it the model has its defaults
            filled.generation_config = GenerationConfig.from_pretrained(folder, local_files_only=True)


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


def open_tokenizer(folder: Path, entry: ModelEntry, for_model: Any) -> Any:
    """The tokenizer beside the weights; None for models that take pictures and no words beside them."""
    from transformers.models.auto.tokenization_auto import AutoTokenizer

    reads_words = getattr(for_model.config, "text_config", None) is not None  # a model of pictures, too, as CLIP
    if entry.kind == "pictures" or (for_model.main_input_name == "pixel_values" and not reads_words):
        return None
    try:
        result = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        if "auto_map" in (model_files.read_json(folder / "tokenizer_config.json") or {}):
            raise Problem(
                "{name} reads text only with code of its own, which attnviz never runs", name=entry.name
            ) from error
        raise Problem(
            "The tokenizer of {name} cannot be read: {reason}", name=entry.name, reason=first_line(error)
        ) from error
    files = {*result.vocab_files_names.values(), "tokenizer.json"} if result.vocab_files_names else set()
    if files and not any((folder / str(name)).is_file() for name in files):  # transformers would make an empty one
        raise Problem("{name} comes without a tokenizer", name=entry.name)
    if not isinstance(result.model_max_length, int | float):
        raise Problem(
            "The tokenizer of {name} cannot be read: {reason}",
            name=entry.name,
            reason=f"model_max_length={result.model_max_length}",
        )
    if result.is_fast:  # some tokenizer files cut and pad every text; attnviz cuts to its own limit instead
        result.backend_tokenizer.no_truncation()
        result.backend_tokenizer.no_padding()
    return result


def read_config(folder: Path, entry: ModelEntry) -> Any:
    """The config; a Problem unless transformers supports its model type without code from the model's author."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING, AutoConfig

    from attnviz.models.capture import reset_implementation  # here because it loads torch and transformers

    raw = model_files.read_json(folder / "config.json")
    named = [] if raw is None else raw.get("architectures") or []
    if raw is None or not isinstance(named, list) or not all(isinstance(class_name, str) for class_name in named):
        raise Problem("The config of {name} cannot be read", name=entry.name)
    kind = raw.get("model_type")
    if not isinstance(kind, str) or kind not in CONFIG_MAPPING:
        if "auto_map" in raw:
            raise Problem("{name} runs only with code of its own, which attnviz never runs", name=entry.name)
        raise Problem("{name} is of a kind ({kind}) that transformers does not support", name=entry.name, kind=kind)
    if kernel := model_files.hub_kernel(raw):
        raise Problem(
            "The config of {name} names a kernel to download ({kernel}); attnviz runs no code from the hub",
            name=entry.name,
            kernel=kernel[:80],
        )
    model_files.check_layers(raw, entry)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        reset_implementation(config)
    except Exception as error:
        raise model_files.config_problem(entry, error) from error
    return config


def model_class(config: Any, entry: ModelEntry) -> Any:
    """The model class named in the config, or else transformers' choice for the kind of the entry."""
    import transformers

    for name in config.architectures or ():
        named = getattr(transformers, name, None)
        if isinstance(named, type) and issubclass(named, transformers.PreTrainedModel):
            return named
    by_kind = {"decoder": transformers.AutoModelForCausalLM, "encoder-decoder": transformers.AutoModelForSeq2SeqLM}
    return by_kind.get(entry.kind or "", transformers.AutoModel)


def check_fits(config: Any, entry: ModelEntry, settings: Settings, device: str) -> None:
    """Refuse a model that has no attention or is too large for this machine, judged by its config alone."""
    import torch

    kind = model_class(config, entry)
    try:
        with one_at_a_time, torch.device("meta"):
            skeleton = kind(config) if hasattr(kind, "config_class") else kind.from_config(config)
    except Exception as error:
        raise model_files.config_problem(entry, error) from error
    has_attention = any("attention" in type(module).__name__.lower() for module in skeleton.modules())
    if not has_attention or config.model_type == "rwkv":  # whose "attention" has no queries, keys and softmax
        raise Problem("{name} has no attention layers: there is nothing to show", name=entry.name)
    dtype = pick_dtype(settings, device)
    width = 4 if dtype == "auto" else getattr(torch, dtype).itemsize
    check_memory(width * sum(parameter.numel() for parameter in skeleton.parameters()), entry, settings, device)


def _no_weights(folder: Path, entry: ModelEntry) -> Problem:
    if any(any(folder.glob(pattern)) for pattern in ("*.bin", "*.pt", "*.ckpt")):
        return Problem(
            "{name} has its weights only as pickle files, which can run code when opened; "
            "only safetensors are read here",
            name=entry.name,
        )
    if (folder / model_files.INDEX).is_file():
        return Problem("Some of the safetensors files that the index of {name} names are not there", name=entry.name)
    if (folder / "config.json").is_file():
        return Problem("{name} has a config.json and no weights: no model.safetensors beside it", name=entry.name)
    return Problem("{name} has no config.json with safetensors beside it", name=entry.name)


# The hardware that a model runs on: its device, the dtype to compute in, and how much memory a model may take: what the
# machine, the container and the process itself have left.
CGROUP: Final = Path("/sys/fs/cgroup")
LIMITS: Final = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)

#: bytes that reading weights takes besides; where there were none, a library that cannot allocate ended the process
KEPT_FREE: Final = 128 * 2**20


def check_memory(needed: int, entry: ModelEntry, settings: Settings, device: str) -> None:
    """Raise a Problem if weights of `needed` bytes exceed the limit in the settings or the free memory."""
    free = settings.memory_bytes or free_memory(device)
    if free is not None and needed > free:
        raise Problem(
            "{name} is too large for this machine: its weights take {needed} MB of memory and {free} MB are free",
            name=entry.name,
            needed=needed // 10**6,
            free=free // 10**6,
        )


def pick_device(settings: Settings) -> str:
    """The device in the settings, or the first of cuda, mps and cpu that is available."""
    import torch

    if settings.device:
        try:
            return str(torch.device(settings.device))
        except RuntimeError as error:
            raise Problem("ATTNVIZ_DEVICE={device} is not a torch device", device=settings.device) from error
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def pick_dtype(settings: Settings, device: str) -> str:
    """The dtype in the settings, or the default: the checkpoint's own on a GPU, to save memory, else float32."""
    return settings.dtype or ("auto" if device.startswith("cuda") else "float32")


def free_memory(device: str) -> int | None:
    """Free memory on a device in bytes; None if the system does not report it."""
    import torch

    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    known = [free for free in (_meminfo(), _cgroup(), _address_space()) if free is not None]
    return min(known) if known else None


def _meminfo() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _cgroup() -> int | None:
    """Bytes left below the memory limit of the container (cgroup, of either version); None if there is no limit."""
    for limit, used in LIMITS:
        with suppress(OSError, ValueError):  # no such file, or "max"
            return max(int((CGROUP / limit).read_text()) - int((CGROUP / used).read_text()), 0)
    return None


def _address_space() -> int | None:
    """Bytes that this process may map besides what reading weights needs; None if nothing bounds it (RLIMIT_AS)."""
    try:
        import resource  # not on Windows

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return None
    return None if limit == resource.RLIM_INFINITY else max(limit - used - KEPT_FREE, 0)
