"""The sentences that heads are looked at on: passages of novels, random words twice over, or a visitor's own text."""

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
    loaded: LoadedModel, kind: TextKind, own: str = "", count: int = 64, length: int = 64, seed: int = 0
) -> tuple[str, ...]:
    """At most `count` sentences of at most `length` tokens each, with the tokens that the model puts around them."""
    if loaded.tokenizer is None:
        raise Problem("{name} looks at pictures, not at sentences", name=loaded.entry.name)
    if kind == "books":
        return tuple(cut_tokens(loaded, passage, length) for passage in passages()[:count])
    if kind == "repeated":
        return repeated_words(loaded, count, length, seed)
    return split_text(loaded, own, count, length)


def cut_tokens(loaded: LoadedModel, text: str, length: int) -> str:
    """The first `length` tokens of a text, those counted that the model puts around it."""
    spans = encode(loaded, text).spans
    around = sum(span.special for span in spans)
    inside = [span for span in spans if not span.special]
    if len(inside) + around <= length:
        return text
    kept = inside[: max(1, length - around)]
    end = max(span.end for span in kept)
    while kept and inside[len(kept) :] and inside[len(kept)].start < end:  # a character that was cut in two
        kept = kept[:-1]
        end = max((span.end for span in kept), default=0)
    return text[: end or 1]


def split_text(loaded: LoadedModel, text: str, count: int, length: int) -> tuple[str, ...]:
    """A visitor's own text: line by line, and long lines in parts."""
    texts: list[str] = []
    for line in text.splitlines():
        rest = line.strip()
        while rest and len(texts) < count:
            part = cut_tokens(loaded, rest, length)
            rest = rest[len(part) :].strip()
            texts.append(part)
    readable = [part for part in texts if sum(not span.special for span in encode(loaded, part).spans) > 1]
    if not readable:
        raise Problem("The text is empty: give at least one line of two words")
    return tuple(readable)


def repeated_words(loaded: LoadedModel, count: int, length: int, seed: int) -> tuple[str, ...]:
    """Random words twice over, each word one token of this model, so that only what was read can tell what follows."""
    words, draw = single_token_words(loaded), random.Random(seed)
    around = len(encode(loaded, words[0])) - 1
    half = (length - around) // 2
    texts: list[str] = []
    while len(texts) < count:
        drawn = draw.sample(words, half)
        text = " ".join([*drawn, *drawn])
        if len(encode(loaded, text)) == 2 * half + around:
            texts.append(text)
    return tuple(texts)


def single_token_words(loaded: LoadedModel) -> list[str]:
    """Plain words that are one token where they stand after a space, and one at the beginning of a text too."""
    tokenizer: Any = loaded.tokenizer
    pieces = tokenizer.get_vocab()
    spaced = {piece[1:] for piece in pieces if piece[:1] in ("Ġ", "▁")}
    plain = {piece for piece in pieces if _WORD.fullmatch(piece)}
    words = sorted(spaced & plain if spaced else plain)
    if len(words) < 100:
        raise Problem("{name} has too few words that are one token: choose another text", name=loaded.name)
    return random.Random(0).sample(words, min(len(words), ENOUGH_WORDS))
