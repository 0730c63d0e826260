"""Example sentences that each demonstrate a behaviour, with the model and the head that show it best.

tests/models/catalogue/test_example_sentences.py checks the descriptions against the trained weights.
"""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.base.message import Message


@dataclass(frozen=True)
class Example:
    """One sentence for the explorer. `head` is the (layer, head) of `model` that shows the point, if one does."""

    id: str
    text: str
    shows: Message
    model: str = "smollm2-135m"
    head: tuple[int, int] | None = None
    second: str = ""


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
