"""One token as a person reads it, and the rules that make spans cover a sentence without gap or overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attnviz import word_boundaries
from attnviz.models.tokens import token_text


@dataclass(frozen=True)
class RawToken:
    """A token as the tokenizer gives it; `start` and `end` are characters of its own sentence."""

    id: int
    piece: str
    start: int
    end: int
    special: bool  #: not from the visitor's text
    segment: int = 0
    type: int = 0  #: the token type the model is told

    def shares_with(self, later: RawToken) -> bool:
        """Whether both hold bytes of one character."""
        same = self.segment == later.segment and not self.special and not later.special
        return same and self.end > self.start and later.end > later.start and later.start < self.end


@dataclass(frozen=True)
class TokenSpan:
    """One position. Spans of a segment follow each other without gap: white space belongs to what comes after it."""

    position: int
    id: int
    label: str  #: for axes: markers resolved, white space visible, never empty
    text: str  #: what the piece spells; of a character split over tokens, the whole character
    start: int
    end: int  #: of a split character, the first token has the span and the others are empty
    word: int | None  #: which word of its segment; None for specials
    special: bool
    segment: int
    part: tuple[int, int] | None = None  #: (2, 3): the second of three tokens that spell one character


def spans_of(
    tokenizer: Any, texts: tuple[str, ...], raws: list[RawToken], cut: frozenset[int]
) -> tuple[TokenSpan, ...]:
    """The tokens in order with their labels, spans, words and shares of characters; `cut` segments end early."""
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
    """What of a segment's text comes after its last span."""
    return text[max((p.end for p in spans if p.segment == segment and not p.special), default=0) :]


def _without_phantom_space(raw: RawToken, spelled: bytes, texts: tuple[str, ...]) -> RawToken:
    """A lone ▁ that the tokenizer put before the first word claims that word's first letter: it has no span."""
    here = texts[raw.segment][raw.start : raw.end]
    if raw.special or not here or here.isspace() or spelled.strip(b" "):
        return raw
    return RawToken(raw.id, raw.piece, raw.start, raw.start, raw.special, raw.segment, raw.type)


def _parts(raws: list[RawToken], spelled: list[bytes]) -> list[tuple[int, int] | None]:
    """For runs of tokens that hold bytes of the same character: which one of how many."""
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
    """Spans that follow each other: each begins where the one before ended; the last takes what is left."""
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
    """The word of each piece; a lone space goes with what follows, other white space is a word of its own."""
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
    """What names the piece's word; None: the word of the next piece."""
    word = next((numbers[c] for c in range(raw.start, raw.end) if numbers[c] >= 0), None)
    if word is not None:
        return word
    return None if text[raw.start : raw.end] in ("", " ") else ("space", position)
