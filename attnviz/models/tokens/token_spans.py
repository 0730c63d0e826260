"""Tokens with readable labels, and the rules that make their spans cover a sentence without gap or overlap."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import torch

from attnviz.base import word_boundaries
from attnviz.base.message import MessageList, Problem


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

    def shares_with(self, later: "RawToken") -> bool:
        """Whether both tokens contain bytes of the same character."""
        same = self.segment == later.segment and not self.special and not later.special
        return same and self.end > self.start and later.end > later.start and later.start < self.end


@dataclass(frozen=True)
class TokenSpan:
    """One token. Spans of a segment follow each other without gaps; white space belongs to the token after it."""

    position: int
    id: int
    label: str  #: text for axes: markers resolved, white space visible, never empty; a part of a character: 🍕 1/3
    text: str  #: the text that the token spells; for a part of a character, the whole character
    start: int
    end: int  #: if a character is split over tokens, the first has its span and the others are empty
    word: int | None  #: index of its word in the segment; None for special tokens
    special: bool
    segment: int
    part: tuple[int, int] | None = None  #: (2, 3): the second of three tokens that spell one character


def make_spans(
    tokenizer: Any, texts: tuple[str, ...], raws: list[RawToken], cut: frozenset[int]
) -> tuple[TokenSpan, ...]:
    """The tokens in order, with labels, spans, words and parts of characters; segments in `cut` were cut off early."""
    spell = make_speller(tokenizer)
    spelled = [spell(raw.piece) for raw in raws]
    raws = [_strip_phantom_space(raw, text, texts) for raw, text in zip(raws, spelled, strict=True)]
    parts = _character_fractions(raws, spelled)
    spans = _contiguous_spans(raws, texts, cut)
    word_indices = _word_indices(raws, texts)
    token_spans = []
    for i, (raw, fraction) in enumerate(zip(raws, parts, strict=True)):
        text = texts[raw.segment][raw.start : raw.end] if fraction else spelled[i].decode("utf-8", "replace")
        label = token_label(text) + (f" {fraction[0]}/{fraction[1]}" if fraction else "")
        token_spans.append(
            TokenSpan(i, raw.id, label, text, *spans[i], word_indices[i], raw.special, raw.segment, fraction)
        )
    return tuple(token_spans)


def remaining_text(spans: tuple[TokenSpan, ...], text: str, segment: int) -> str:
    """The part of a segment's text after its last span."""
    return text[max((p.end for p in spans if p.segment == segment and not p.special), default=0) :]


def _strip_phantom_space(raw: RawToken, spelled: bytes, texts: tuple[str, ...]) -> RawToken:
    """The token with an empty span if it is a lone ▁ that the tokenizer added before the first word.

    The tokenizer's offsets would give it the first letter of that word.
    """
    here = texts[raw.segment][raw.start : raw.end]
    if raw.special or not here or here.isspace() or spelled.strip(b" "):
        return raw
    return replace(raw, end=raw.start)


def _character_fractions(raws: list[RawToken], spelled: list[bytes]) -> list[tuple[int, int] | None]:
    """For each token that has some bytes of a character: (which part, of how many), counting from 1; else None."""
    parts: list[tuple[int, int] | None] = [None] * len(raws)
    start = 0
    while start < len(raws):
        end = start + 1
        while end < len(raws) and raws[end - 1].shares_with(raws[end]):
            end += 1
        if end - start > 1 and any(
            spelling.decode("utf-8", "ignore").encode() != spelling for spelling in spelled[start:end]
        ):
            parts[start:end] = [(n + 1, end - start) for n in range(end - start)]
        start = end
    return parts


def _contiguous_spans(raws: list[RawToken], texts: tuple[str, ...], cut: frozenset[int]) -> list[tuple[int, int]]:
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


def _word_indices(raws: list[RawToken], texts: tuple[str, ...]) -> list[int | None]:
    """The word of each token. A single space belongs to the word after it; other white space is a word of its own."""
    indices: list[int | None] = [None] * len(raws)
    for segment, text in enumerate(texts):
        members = [(i, raw) for i, raw in enumerate(raws) if raw.segment == segment and not raw.special]
        pieces = [(raw.start, raw.end) for _, raw in members]
        numbers = word_boundaries.join_by_pieces(word_boundaries.word_numbers(text), pieces)
        order: dict[object, int] = {}
        key: object = None  # what tokens of the same word share
        keys = []
        for i, raw in reversed(members):
            word = next((numbers[c] for c in range(raw.start, raw.end) if numbers[c] >= 0), None)
            if word is not None:
                key = word
            elif text[raw.start : raw.end] not in ("", " "):
                key = ("space", i)
            keys.append((i, key))  # else it belongs to the word of the token after it
        for i, key in reversed(keys):
            indices[i] = order.setdefault(key, len(order))
    return indices


# The text that a token spells: vocabulary markers (Ġ, ##, ▁, </w>, <0xE4>) are turned back into bytes.
#: visible symbols for white space
_SEEN: Final = {" ": "␣", "\t": "⇥", "\n": "⏎", "\r": "␍", "\u00a0": "⍽", "\u3000": "□"}
#: kinds of characters that change the writing direction, which would also affect neighbouring labels
_DIRECTIONS: Final = ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI")
_BYTE: Final = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_METASPACE: Final = "▁"
_A_UMLAUT: Final = "Ã¤"  # the two bytes of ä as byte-level vocabularies write them


def is_word_piece(tokenizer: Any) -> bool:
    """Whether pieces that begin with ## go on with a word, and all others begin one."""
    return _join_pieces(tokenizer, ["a", "##b"]) == "ab"


def make_speller(tokenizer: Any) -> Callable[[str], bytes]:
    """A function that turns an entry of the vocabulary into the bytes of text that it stands for."""
    added = {str(token) for token in tokenizer.get_added_vocab()}
    byte_level = _join_pieces(tokenizer, [_A_UMLAUT]) == "ä" or _splits_into_bytes(tokenizer)
    word_piece = is_word_piece(tokenizer)
    letters = _byte_letters()
    suffix = "</w>" if _join_pieces(tokenizer, ["a</w>", "b</w>"]).strip() == "a b" else ""

    def spell(piece: str) -> bytes:
        if piece in added and not _BYTE.fullmatch(piece):
            return piece.encode("utf-8", "replace")
        if byte_level and all(letter in letters for letter in piece):
            return bytes(letters[letter] for letter in piece)
        if byte_level:
            return piece.encode("utf-8", "replace")
        if byte := _BYTE.fullmatch(piece):
            return bytes([int(byte[1], 16)])
        if word_piece and piece.startswith("##") and len(piece) > 2:
            piece = piece[2:]
        if suffix and piece.endswith(suffix):
            piece = piece[: -len(suffix)]
        return piece.replace(_METASPACE, " ").encode("utf-8", "replace")

    return spell


def token_label(spelled: str) -> str:
    """A token's text as an axis label: without outer spaces, with invisible characters shown, never empty."""
    bare = spelled if spelled.isspace() else spelled.strip(" ")
    return "".join(_visible(c, alone=i == 0) for i, c in enumerate(bare)) or "∅"


def _visible(character: str, alone: bool) -> str:
    if character in _SEEN:
        return _SEEN[character]
    kind = unicodedata.category(character)
    bends = unicodedata.bidirectional(character) in _DIRECTIONS
    if kind in ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp", "Zs") and (alone or kind != "Cf" or bends):
        return f"U+{ord(character):04X}"
    return "◌" + character if alone and kind.startswith("M") else character


def _join_pieces(tokenizer: Any, pieces: list[str]) -> str:
    """Text of these vocabulary entries; empty if the tokenizer does not know them."""
    try:
        return str(tokenizer.convert_tokens_to_string(pieces))
    except Exception:  # tokenizers in Python look pieces up in tables of their own
        return ""


def _splits_into_bytes(tokenizer: Any) -> bool:
    """Whether a fast tokenizer writes bytes as letters before it splits: some do whose decoder does not say so."""
    before = tokenizer.backend_tokenizer.pre_tokenizer if getattr(tokenizer, "is_fast", False) else None
    return before is not None and any(_A_UMLAUT in piece for piece, _ in before.pre_tokenize_str("ä"))


@lru_cache(maxsize=1)
def _byte_letters() -> dict[str, int]:
    """The byte for each letter of byte-level vocabularies: printable bytes are themselves, others start at U+0100."""
    prints = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    table = {chr(byte): byte for byte in prints}
    others = (byte for byte in range(256) if byte not in prints)
    return table | {chr(256 + n): byte for n, byte in enumerate(others)}


def token_id(tokenizer: Any, text: Any) -> Any:
    """The id of the one token that spells `text`, preferably with a space before it; a Problem if none does.

    An id is answered as a number; several, one for each row of a batch, as a tensor.
    """
    if isinstance(text, list | tuple):
        return torch.tensor([token_id(tokenizer, one) for one in text])
    if not isinstance(text, str):
        ids = torch.as_tensor(text) if hasattr(text, "__index__") or hasattr(text, "__array__") else None
        if ids is None or ids.is_floating_point() or ids.dtype == torch.bool:
            raise Problem("token={token} must be a token id or the text of a token", token=repr(text)[:60])
        return ids if ids.dim() else int(ids)
    if tokenizer is None:
        raise Problem("token={text} needs a tokenizer: give tokenizer=, or a token id", text=text)
    spaced = [f" {text}"] if text[:1].isalnum() else []
    encodings = [tokenizer(spelling, add_special_tokens=False)["input_ids"] for spelling in (*spaced, text)]
    for ids in encodings:
        if len(ids) == 1 and ids[0] != tokenizer.unk_token_id:
            return int(ids[0])
    pieces = tokenizer.convert_ids_to_tokens(encodings[0])
    spell = make_speller(tokenizer)
    raise Problem(
        "token={text} is not one token: the vocabulary spells it {pieces}; give one of them, or a token id",
        text=text,
        pieces=MessageList([token_label(spell(each).decode("utf-8", "replace")) for each in pieces]),
    )
