"""Word boundaries in any text, to merge a model's tokens into words.

In scripts that write no spaces each character is a word; an emoji with its joiners and skin tone is one
word; a run of one punctuation mark is one word.
"""

import unicodedata
from itertools import pairwise
from typing import Final

_JOINER: Final = "\u200d"
_UNSPACED: Final = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # kana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


def word_numbers(text: str) -> list[int]:
    """For each character the number of its word, from 0 in reading order; -1 for white space."""
    if not text:
        return []
    kinds = [_kind(c) for c in text]
    numbers, word = [-1] * len(text), -1
    flags = 0  # regional indicators seen in the current word: flags are pairs of them
    for i, kind in enumerate(kinds):
        if kind == "space":
            continue
        joins = i > 0 and numbers[i - 1] >= 0 and _continues(text, kinds, i, flags)
        word += not joins
        flags = flags + 1 if kind == "flag" and joins else int(kind == "flag")
        numbers[i] = word
    return numbers


def split(text: str) -> tuple[str, ...]:
    """Words separated by spaces, punctuation included; in scripts that write no spaces, each character on its own."""
    words: list[str] = []
    for chunk in text.split():
        kinds = [_kind(character) for character in chunk]
        alone = [_base(kinds, i) == "sign" for i in range(len(chunk))]  # a combining mark belongs to its base
        for i, character in enumerate(chunk):
            if i == 0 or (kinds[i] != "mark" and (alone[i] or alone[i - 1])):
                words.append(character)
            else:
                words[-1] += character
    return tuple(words)


def join_by_pieces(numbers: list[int], spans: list[tuple[int, int]]) -> list[int]:
    """`numbers` with words merged where one of `spans` (start, end in characters) covers both, without gaps."""
    last = max(numbers, default=-1)
    one_with_next = [False] * (last + 2)
    for start, end in spans:
        inside = sorted({numbers[i] for i in range(start, end) if numbers[i] >= 0})
        for first, second in pairwise(inside):
            for word in range(first, second):
                one_with_next[word] = True
    renamed, current = [], 0
    for word in range(last + 1):
        renamed.append(current)
        current += not one_with_next[word]
    return [renamed[word] if word >= 0 else -1 for word in numbers]


def _kind(character: str) -> str:
    if character.isspace():
        return "space"
    code = ord(character)
    if any(low <= code <= high for low, high in _UNSPACED):
        return "mark" if unicodedata.category(character).startswith("M") else "sign"
    category = unicodedata.category(character)
    if category.startswith("M") or category == "Cf" or 0x1F3FB <= code <= 0x1F3FF:
        return "mark"
    if 0x1F1E6 <= code <= 0x1F1FF:
        return "flag"
    if category[0] in "LN" or character == "_":
        return "letter"
    return "mark_of_punctuation" if category.startswith("P") else "symbol"


def _continues(text: str, kinds: list[str], i: int, flags: int) -> bool:
    """Whether character i belongs to the word of the character before it."""
    kind, before = kinds[i], kinds[i - 1]
    if kind == "mark" or text[i - 1] == _JOINER:
        return True
    base = _base(kinds, i - 1)
    if kind == "letter":
        inner = before == "mark_of_punctuation" and text[i - 1] in "'’" and i > 1 and kinds[i - 2] == "letter"
        return base == "letter" or inner
    if kind == "mark_of_punctuation":
        followed = i + 1 < len(text) and kinds[i + 1] == "letter"
        return text[i] == text[i - 1] or (text[i] in "'’" and base == "letter" and followed)
    return kind == "flag" and before == "flag" and flags % 2 == 1


def _base(kinds: list[str], i: int) -> str:
    """The kind of the character that the marks before position i sit on."""
    while i > 0 and kinds[i] == "mark":
        i -= 1
    return kinds[i]
