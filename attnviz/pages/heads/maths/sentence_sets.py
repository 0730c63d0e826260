"""Sentences to measure heads on: passages of novels, random words twice in a row, or a visitor's own text."""

import random
import re
from typing import Any, Literal

from attnviz.analysis.heads.batches import passages
from attnviz.base.message import Problem
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens import encode

TextKind = Literal["books", "repeated", "own"]
_WORD = re.compile(r"[a-z]{3,9}")
ENOUGH_WORDS = 2000  #: to draw from


def make_sentences(
    loaded: LoadedModel, kind: TextKind, own_text: str = "", count: int = 64, length: int = 64, seed: int = 0
) -> tuple[str, ...]:
    """At most `count` sentences of at most `length` tokens each, special tokens included."""
    if loaded.tokenizer is None:
        raise Problem("{name} looks at pictures, not at sentences", name=loaded.entry.name)
    if kind == "books":
        return tuple(cut_tokens(loaded, passage, length) for passage in passages()[:count])
    if kind == "repeated":
        return repeated_words(loaded, count, length, seed)
    return split_text(loaded, own_text, count, length)


def cut_tokens(loaded: LoadedModel, text: str, length: int) -> str:
    """Cut a text after `length` tokens, special tokens included."""
    spans = encode(loaded, text).spans
    around = sum(span.special for span in spans)
    inside = [span for span in spans if not span.special]
    if len(inside) + around <= length:
        return text
    fitting = inside[: max(1, length - around)]
    end = max(span.end for span in fitting)
    while fitting and inside[len(fitting) :] and inside[len(fitting)].start < end:  # a character that was cut in two
        fitting = fitting[:-1]
        end = max((span.end for span in fitting), default=0)
    return text[: end or 1]


def split_text(loaded: LoadedModel, text: str, count: int, length: int) -> tuple[str, ...]:
    """Split a visitor's text at line ends, and long lines after `length` tokens. Problem if it is empty."""
    texts: list[str] = []
    for line in text.splitlines():
        rest = line.strip()
        while rest and len(texts) < count:
            segment = cut_tokens(loaded, rest, length)
            rest = rest[len(segment) :].strip()
            texts.append(segment)
    readable = [segment for segment in texts if sum(not span.special for span in encode(loaded, segment).spans) > 1]
    if not readable:
        raise Problem("The text is empty: give at least one line of two words")
    return tuple(readable)


def repeated_words(loaded: LoadedModel, count: int, length: int, seed: int) -> tuple[str, ...]:
    """Texts of random words twice in a row, one token a word: only the first copy predicts the second."""
    vocabulary, rng = single_token_words(loaded), random.Random(seed)
    around = len(encode(loaded, vocabulary[0])) - 1
    half = (length - around) // 2
    texts: list[str] = []
    while len(texts) < count:
        sampled = rng.sample(vocabulary, half)
        text = " ".join([*sampled, *sampled])
        if len(encode(loaded, text)) == 2 * half + around:
            texts.append(text)
    return tuple(texts)


def single_token_words(loaded: LoadedModel) -> list[str]:
    """Words that are one token after a space and at the beginning of a text. Problem if there are too few."""
    tokenizer: Any = loaded.tokenizer
    pieces = tokenizer.get_vocab()
    spaced = {piece[1:] for piece in pieces if piece[:1] in ("Ġ", "▁")}
    plain = {piece for piece in pieces if _WORD.fullmatch(piece)}
    vocabulary = sorted(spaced & plain if spaced else plain)
    if len(vocabulary) < 100:
        raise Problem("{name} has too few words that are one token: choose another text", name=loaded.name)
    return random.Random(0).sample(vocabulary, min(len(vocabulary), ENOUGH_WORDS))
