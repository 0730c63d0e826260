"""Download models from the hub, with a clear message for each way that can fail."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from attnviz.base.message import Message, Problem
from attnviz.models.catalogue import Entry
from attnviz.models.file_faults import first_line
from attnviz.models.loading import cache_folder, open_folder
from attnviz.models.loading.gguf import Progress
from attnviz.models.loading.locate import hub_cache
from attnviz.models.settings import Settings

_WANTED: Final = ["*.safetensors", "*.safetensors.index.json", "*.json", "*.txt", "*.model", "*.spm", "*.jinja"]
_SLOW_SECONDS: Final = 10.0  #: after which a hub that does not answer counts as out of reach


def download(entry: Entry, settings: Settings, say: Progress) -> None:
    """Download a model's safetensors into the hub's local cache, after checking its size and its config."""
    from huggingface_hub import snapshot_download

    say(0.0, Message("Asking the hub about {name}", {"name": entry.name}))
    with _in_words(entry):
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


def bytes_on_hub(entry: Entry) -> int:
    """How much there is to download, as the hub says; nothing is downloaded."""
    with _in_words(entry):
        return _weight_bytes(entry)


def _weight_bytes(entry: Entry) -> int:
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


def _check_config(entry: Entry, settings: Settings) -> None:
    """Refuse a model that cannot be shown, before its weights are downloaded."""
    from huggingface_hub import hf_hub_download

    from attnviz.models.loading import timm_folder  # here because it loads torch

    path = Path(hf_hub_download(str(entry.hub), "config.json", revision=entry.revision))
    device = open_folder.pick_device(settings)
    if timm_folder.is_timm(path.parent):
        open_folder.check_memory(4 * timm_folder.parameters(path.parent, entry), entry, settings, device)
    else:
        open_folder.check_fits(open_folder.read_config(path.parent, entry), entry, settings, device)


@contextmanager
def _in_words(entry: Entry) -> Iterator[None]:
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


def _bar(say: Progress, entry: Entry) -> Any:
    """A tqdm class that draws nothing and reports the downloaded bytes to `say`."""
    from huggingface_hub.utils import tqdm

    class Reported(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)
            super().__init__(*args, **kwargs | {"disable": False, "file": io.StringIO()})

        def update(self, n: float | None = 1) -> bool | None:
            moved = super().update(n)
            if self.unit == "B" and self.total:
                say(min(self.n / self.total, 1.0), Message("Downloading {name}", {"name": entry.name}))
            return moved

    return Reported
