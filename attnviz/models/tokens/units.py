"""Tokens joined to words, sentences, paragraphs or the turns of a chat."""

import re
from codecs import getincrementaldecoder
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

from attnviz.base.message import MessageList, Problem
from attnviz.models.tokens.token_spans import is_word_piece, make_speller, token_label

UnitName = Literal["word", "sentence", "paragraph", "turn"]
UNIT_NAMES: Final = ("word", "sentence", "paragraph", "turn")

_WORD_INSIDE: Final = re.compile(r"[\w'’‘ʼ-]")  #: a token that begins so continues the word before it
_SENTENCE_END: Final = re.compile(r"[.!?…。！？][\"'”’)\]»」』]*\s*$")
_TITLES: Final = re.compile(r"(?:^|\W)(?:Mr|Mrs|Ms|Dr|St|Prof|vs|e\.g|i\.e|[A-Z])\.\s*$")  #: after which none ends
_WIDE: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")  #: scripts that are written without blanks


@dataclass(frozen=True)
class Unit:
    """Neighbouring tokens that count as one, from `start` up to but not including `stop`."""

    label: str
    start: int
    stop: int


def spell_tokens(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """The text of each token with its blanks; joined, they are the text as the model reads it."""
    if not hasattr(tokenizer, "get_added_vocab"):
        return [str(tokenizer.decode([token])) for token in ids]
    spell, pieces = make_speller(tokenizer), tokenizer.convert_ids_to_tokens(list(ids))
    texts = _decode_pieces([spell(piece) for piece in pieces])
    if is_word_piece(tokenizer):  # its vocabulary writes no blanks
        texts = [text if piece.startswith("##") else f" {text}" for text, piece in zip(texts, pieces, strict=True)]
    return texts


def _decode_pieces(pieces: list[bytes]) -> list[str]:
    """The text of each piece; a character that several pieces share belongs to the first of them."""
    decoder, texts, first = getincrementaldecoder("utf-8")("replace"), [""] * len(pieces), None
    for at, piece in enumerate(pieces):
        text = decoder.decode(piece, final=at == len(pieces) - 1)
        if first is not None and text:
            texts[first], text, first = texts[first] + text[0], text[1:], None
        texts[at] = text
        if first is None and decoder.getstate()[0]:
            first = at
    return texts


def split_units(tokenizer: Any, ids: Sequence[int], kind: UnitName) -> tuple[Unit, ...]:
    """The tokens as units of one kind, in order; every token is in one of them."""
    if kind not in UNIT_NAMES:
        raise Problem(
            "units={kind} must be one of {allowed}, or spans", kind=repr(kind), allowed=MessageList(UNIT_NAMES)
        )
    spelled = texts = spell_tokens(tokenizer, ids)
    if kind == "turn":
        openings = _turn_openings(tokenizer)
        starts = [at for at, token in enumerate(ids) if token in openings]
    else:
        if not any(text.strip() != text.strip().lower() for text in texts if text.strip()[:1] not in ("[", "<")):
            texts = [text.upper() for text in texts]  # without capitals, a small letter says nothing about a sentence
        begins = {"word": _begins_word, "sentence": _begins_sentence, "paragraph": _begins_paragraph}[kind]
        starts = [at for at in range(1, len(texts)) if begins("".join(texts[max(0, at - 16) : at]), texts[at])]
        if kind != "word" and getattr(tokenizer, "chat_template", None):
            with suppress(Problem):  # its turns have no tokens of their own
                openings = _turn_openings(tokenizer)
                starts += [at for at, token in enumerate(ids) if token in openings]
        if kind == "word":  # a blank token belongs to the word after it
            starts = [at for at in starts if texts[at - 1].strip() or not texts[at - 1] or at - 1 not in starts]
    edges = [*sorted({0, *starts}), len(texts)]
    joined = ["".join(spelled[start:stop]) for start, stop in pairwise(edges)]
    labels = [" ".join(text.split()) or token_label(text) for text in joined]
    return tuple(Unit(label, start, stop) for label, (start, stop) in zip(labels, pairwise(edges), strict=True))


def find_unit_starts(tokenizer: Any, ids: Sequence[int]) -> dict[str, list[int]]:
    """First tokens of the words, sentences, paragraphs and, where it is a chat, turns of a text."""
    starts: dict[str, list[int]] = {}
    for kind in UNIT_NAMES:
        with suppress(Problem):  # a tokenizer that knows no turns
            starts[kind] = [unit.start for unit in split_units(tokenizer, ids, kind)]
    if len(starts.get("turn", ())) < 2:
        starts.pop("turn", None)
    return starts


def _begins_word(before: str, text: str) -> bool:
    """A word begins after a blank, at punctuation, after it, and at each character of a script without blanks."""
    if not text:
        return False
    if text[0].isspace() or not before or before[-1].isspace():
        return True
    if _WIDE.match(text) or _WIDE.match(before[-1]):
        return True
    return bool(_WORD_INSIDE.match(text)) != bool(_WORD_INSIDE.match(before[-1]))


def _begins_sentence(before: str, text: str) -> bool:
    if _begins_paragraph(before, text):
        return True
    if not text.strip() or _TITLES.search(before) or not _SENTENCE_END.search(before):
        return False
    start = text.lstrip()[:1]
    blank = text[0].isspace() or before[-1].isspace() or bool(re.search(r"[。！？][”’」』]*$", before))
    return blank and not start.islower() and start not in "\"'”’)]»」』,;:"


def _begins_paragraph(before: str, text: str) -> bool:
    """Whether a blank line has just ended: "text" is the first token that is not blank after it."""
    gap = before[len(before.rstrip()) :] + text[: len(text) - len(text.lstrip())]
    return bool(text.strip()) and gap.count("\n") > 1


def _turn_openings(tokenizer: Any) -> set[int]:
    """Ids of the special tokens with which the chat template opens a turn."""
    if not getattr(tokenizer, "chat_template", None):
        raise Problem("units=turn needs a tokenizer with a chat template")
    talk = [{"role": role, "content": f"§{n}§"} for n, role in enumerate(("user", "assistant", "user"))]
    written = tokenizer.apply_chat_template(talk, tokenize=False)
    special = set(tokenizer.all_special_ids) | set(tokenizer.get_added_vocab().values())
    openings: set[int] = set()
    for last in ("§0§", "§1§"):
        gap = written.split(last)[1].split("§")[0]
        inside = [i for i in tokenizer(gap, add_special_tokens=False)["input_ids"] if i in special]
        openings |= set(inside[1:2] or inside[:1])
    if not openings:
        raise Problem("units=turn: the chat template of this tokenizer marks no turns with tokens of their own")
    return openings
