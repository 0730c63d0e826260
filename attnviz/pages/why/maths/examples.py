"""Sentences whose next token can be told from another one, each with a prompt of as many tokens that turns it round."""

from dataclasses import dataclass

from attnviz.base.message import Message


@dataclass(frozen=True)
class Contrast:
    """A sentence, the token that SmolLM2 writes next, another one, and the prompt after which it writes that one."""

    text: str
    token: str
    versus: str
    other: str
    shows: Message


CONTRASTS = (
    Contrast(
        "The capital of Spain is",
        "Madrid",
        "Rome",
        "The capital of Italy is",
        Message("A fact: the country is read where it stands, and its capital is written at the end."),
    ),
    Contrast(
        "When Mary and John went to the store, John gave a drink to",
        "Mary",
        "John",
        "When Mary and John went to the store, Mary gave a drink to",
        Message("Who else? The name that was said once comes next, not the one that was said twice."),
    ),
    Contrast(
        "The keys to the cabinet",
        "are",
        "is",
        "The key to the cabinet",
        Message("Grammar: the verb agrees with a noun that stands four tokens before."),
    ),
    Contrast(
        "The opposite of hot is",
        "cold",
        "small",
        "The opposite of big is",
        Message("A relation: the same question about another word."),
    ),
)


def contrast_of(text: str) -> Contrast | None:
    """The contrast with exactly this sentence, if there is one."""
    return next((each for each in CONTRASTS if each.text == text), None)
