"""The text that a token spells: vocabulary markers (Ġ, ##, ▁, </w>, <0xE4>) are turned back into bytes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

#: visible symbols for white space
_SEEN: Final = {" ": "␣", "\t": "⇥", "\n": "⏎", "\r": "␍", "\u00a0": "⍽", "\u3000": "□"}
_BYTE: Final = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_METASPACE: Final = "▁"
_A_UMLAUT: Final = "Ã¤"  # the two bytes of ä as byte-level vocabularies write them


def speller(tokenizer: Any) -> Callable[[str], bytes]:
    """A function that turns an entry of the vocabulary into the bytes of text that it stands for."""
    added = {str(token) for token in tokenizer.get_added_vocab()}
    byte_level = _joined(tokenizer, [_A_UMLAUT]) == "ä" or _splits_into_bytes(tokenizer)
    word_piece = _joined(tokenizer, ["a", "##b"]) == "ab"
    suffix = "</w>" if _joined(tokenizer, ["a</w>", "b</w>"]).strip() == "a b" else ""

    def spell(piece: str) -> bytes:
        if piece in added and not _BYTE.fullmatch(piece):
            return piece.encode("utf-8", "replace")
        if byte_level:
            return _from_byte_letters(piece)
        if one := _BYTE.fullmatch(piece):
            return bytes([int(one[1], 16)])
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


def part_label(characters: str, part: tuple[int, int]) -> str:
    """The label of a token with only some bytes of a character: the character, then the part, such as 1/3."""
    return f"{token_label(characters)} {part[0]}/{part[1]}"


def _visible(character: str, alone: bool) -> str:
    if character in _SEEN:
        return _SEEN[character]
    kind = unicodedata.category(character)
    if kind in ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp", "Zs") and (alone or kind != "Cf" or _bends_text(character)):
        return f"U+{ord(character):04X}"
    return "◌" + character if alone and kind.startswith("M") else character


def _bends_text(character: str) -> bool:
    """Whether the character changes the writing direction, which would also affect neighbouring labels."""
    return unicodedata.bidirectional(character) in ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI")


def _joined(tokenizer: Any, pieces: list[str]) -> str:
    """A fast tokenizer's decoder and pre-tokenizer as JSON; empty for tokenizers written in Python."""
    try:
        return str(tokenizer.convert_tokens_to_string(pieces))
    except Exception:  # tokenizers in Python look pieces up in tables of their own
        return ""


def _splits_into_bytes(tokenizer: Any) -> bool:
    """Whether a fast tokenizer writes bytes as letters before it splits: some do whose decoder does not say so."""
    before = tokenizer.backend_tokenizer.pre_tokenizer if getattr(tokenizer, "is_fast", False) else None
    return before is not None and any(_A_UMLAUT in piece for piece, _ in before.pre_tokenize_str("ä"))


def _from_byte_letters(piece: str) -> bytes:
    table = _byte_letters()
    if all(letter in table for letter in piece):
        return bytes(table[letter] for letter in piece)
    return piece.encode("utf-8", "replace")


@lru_cache(maxsize=1)
def _byte_letters() -> dict[str, int]:
    """The byte for each letter of byte-level vocabularies: printable bytes are themselves, others start at U+0100."""
    prints = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    table = {chr(byte): byte for byte in prints}
    others = (byte for byte in range(256) if byte not in prints)
    return table | {chr(256 + n): byte for n, byte in enumerate(others)}
