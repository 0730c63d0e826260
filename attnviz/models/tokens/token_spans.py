"""Tokens with readable labels, and the rules that make their spans cover a sentence without gap or overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attnviz.base import word_boundaries
from attnviz.models.tokens import token_text


@dataclass(frozen=True)
class RawToken:
    """A token as the tokenizer returns it; `start` and `end` are character offsets in its own sentence."""

    id: int
    piece: str
    start: int
    end: int
    special: bool  #: whether the token is not part of the visitor's text
    segment: int = 0
    type: int = 0  #: the token type id given to the model

    def shares_with(self, later: RawToken) -> bool:
        """Whether both tokens contain bytes of the same character."""
        same = self.segment == later.segment and not self.special and not later.special
        return same and self.end > self.start and later.end > later.start and later.start < self.end


@dataclass(frozen=True)
class TokenSpan:
    """One token. Spans of a segment follow each other without gaps; white space belongs to the token after it."""

    position: int
    id: int
    label: str  #: text for axes: markers resolved, white space visible, never empty
    text: str  #: the text that the token spells; for a part of a character, the whole character
    start: int
    end: int  #: if a character is split over tokens, the first has its span and the others are empty
    word: int | None  #: index of its word in the segment; None for special tokens
    special: bool
    segment: int
    part: tuple[int, int] | None = None  #: (2, 3): the second of three tokens that spell one character


def spans_of(
    tokenizer: Any, texts: tuple[str, ...], raws: list[RawToken], cut: frozenset[int]
) -> tuple[TokenSpan, ...]:
    """The tokens in order, with labels, spans, words and parts of characters; segments in `cut` were cut off early."""
    spell = token_text.speller(tokenizer)
    spelled = [spell(raw.piece) for raw in raws]
    raws = [_without_phantom_space(raw, text, texts) for raw, text in zip(raws, spelled, strict=True)]
    parts = _parts(raws, spelled)
    spans = _spans(raws, texts, cut)
    words = _words(raws, texts)
    made = []
    for i, raw in enumerate(raws):
        here = texts[raw.segment][raw.start : raw.end]
        part = parts[i]
        text = here if part else spelled[i].decode("utf-8", "replace")
        shown = token_text.part_label(here, part) if part else token_text.token_label(text)
        made.append(TokenSpan(i, raw.id, shown, text, *spans[i], words[i], raw.special, raw.segment, part))
    return tuple(made)


def rest_of(spans: tuple[TokenSpan, ...], text: str, segment: int) -> str:
    """The part of a segment's text after its last span."""
    return text[max((p.end for p in spans if p.segment == segment and not p.special), default=0) :]


def _without_phantom_space(raw: RawToken, spelled: bytes, texts: tuple[str, ...]) -> RawToken:
    """The token with an empty span if it is a lone ▁ that the tokenizer added before the first word.

    The tokenizer's offsets would give it the first letter of that word.
    """
    here = texts[raw.segment][raw.start : raw.end]
    if raw.special or not here or here.isspace() or spelled.strip(b" "):
        return raw
    return RawToken(raw.id, raw.piece, raw.start, raw.start, raw.special, raw.segment, raw.type)


def _parts(raws: list[RawToken], spelled: list[bytes]) -> list[tuple[int, int] | None]:
    """For each token that has some bytes of a character: (which part, of how many), counting from 1; else None."""
    parts: list[tuple[int, int] | None] = [None] * len(raws)
    start = 0
    while start < len(raws):
        end = start + 1
        while end < len(raws) and raws[end - 1].shares_with(raws[end]):
            end += 1
        if end - start > 1 and not all(_is_text(one) for one in spelled[start:end]):
            parts[start:end] = [(n + 1, end - start) for n in range(end - start)]
        start = end
    return parts


def _is_text(spelled: bytes) -> bool:
    try:
        spelled.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _spans(raws: list[RawToken], texts: tuple[str, ...], cut: frozenset[int]) -> list[tuple[int, int]]:
    """Spans without gaps: each begins where the previous one ended; the last extends to the end of the text."""
    cursor = [0] * len(texts)
    spans = []
    for raw in raws:
        at = cursor[raw.segment]
        end = at if raw.special else max(at, min(raw.end, len(texts[raw.segment])))
        spans.append((at, end))
        cursor[raw.segment] = end
    for segment, text in enumerate(texts):
        last = max((i for i, r in enumerate(raws) if r.segment == segment and not r.special), default=None)
        if last is not None and segment not in cut:
            spans[last] = (spans[last][0], len(text))
    return spans


def _words(raws: list[RawToken], texts: tuple[str, ...]) -> list[int | None]:
    """The word of each token. A single space belongs to the word after it; other white space is a word of its own."""
    words: list[int | None] = [None] * len(raws)
    for segment, text in enumerate(texts):
        mine = [i for i, raw in enumerate(raws) if raw.segment == segment and not raw.special]
        numbers = word_boundaries.join_by_pieces(
            word_boundaries.words_of(text), [(raws[i].start, raws[i].end) for i in mine]
        )
        keys = [_key(raws[i], text, numbers, i) for i in mine]
        for n in range(len(keys) - 2, -1, -1):
            keys[n] = keys[n + 1] if keys[n] is None else keys[n]
        order: dict[object, int] = {}
        for i, key in zip(mine, keys, strict=True):
            words[i] = order.setdefault(key, len(order))
    return words


def _key(raw: RawToken, text: str, numbers: list[int], position: int) -> object:
    """A key that tokens of the same word share; None if the token belongs to the word of the next token."""
    word = next((numbers[c] for c in range(raw.start, raw.end) if numbers[c] >= 0), None)
    if word is not None:
        return word
    return None if text[raw.start : raw.end] in ("", " ") else ("space", position)
