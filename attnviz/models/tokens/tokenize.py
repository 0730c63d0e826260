"""Tokenize text with a fast or a Python tokenizer, with the characters that each token comes from."""

from __future__ import annotations

import threading
import unicodedata
from typing import Any, Final

from attnviz.base.message import Problem
from attnviz.models.tokens.token_spans import RawToken, speller

_switching: Final = threading.Lock()  # a translator's tokenizer changes its state while it tokenizes a target


def read(tokenizer: Any, texts: tuple[str, ...], frame: str) -> list[RawToken]:
    """The tokens of one or two sentences inside the given frame."""
    if frame == "chat":
        return _read_chat(tokenizer, texts[0])
    raws = _read_plain(tokenizer, texts, specials=frame != "none")
    if frame == "start":
        start = tokenizer.bos_token_id
        raws.insert(0, RawToken(start, tokenizer.convert_ids_to_tokens(start), 0, 0, special=True))
    return raws


def read_target(tokenizer: Any, text: str) -> list[RawToken]:
    """The tokens of a sentence in a translator's target language, without special tokens."""
    if getattr(tokenizer, "is_fast", False):
        return _read_fast(tokenizer, (text,), specials=False)
    with _switching:
        ids = tokenizer(text_target=text, add_special_tokens=False, verbose=False)["input_ids"]
        return _placed(tokenizer, ids, text, 0)


def _read_chat(tokenizer: Any, text: str) -> list[RawToken]:
    """The sentence as the user's turn of a chat, with everything that the chat template adds around it."""
    turns = [{"role": "user", "content": text}]
    said = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    body = text.strip()
    offset = said.rfind(text)
    if offset < 0:
        offset = said.rfind(body)
        offset = offset if offset < 0 else offset - text.index(body)
    if offset < 0:
        raise Problem("The chat template of this model changes the sentence; choose a frame other than chat")
    raws = []
    for raw in _read_plain(tokenizer, (said,), specials=False):
        start, end = (min(max(at - offset, 0), len(text)) for at in (raw.start, raw.end))
        added = start == end and raw.end > raw.start
        raws.append(RawToken(raw.id, raw.piece, start, end, added, 0, raw.type))
    return raws


def _read_plain(tokenizer: Any, texts: tuple[str, ...], specials: bool) -> list[RawToken]:
    if getattr(tokenizer, "is_fast", False):
        return _read_fast(tokenizer, texts, specials)
    return _read_slow(tokenizer, texts, specials)


def _read_fast(tokenizer: Any, texts: tuple[str, ...], specials: bool) -> list[RawToken]:
    found = tokenizer(*texts, add_special_tokens=specials, verbose=False).encodings[0]
    raws, segment = [], 0
    columns = zip(found.ids, found.tokens, found.offsets, found.sequence_ids, found.type_ids, strict=True)
    for i, piece, (start, end), sequence, kind in columns:
        segment = segment if sequence is None else sequence
        raws.append(RawToken(i, piece, start, end, sequence is None, segment, kind))
    return raws


def _read_slow(tokenizer: Any, texts: tuple[str, ...], specials: bool) -> list[RawToken]:
    """Tokenize without offsets: find each sentence's own tokens within the tokens of the whole input."""
    with _switching:
        bodies = [tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"] for text in texts]
        whole = tokenizer(*texts, verbose=False) if specials else {"input_ids": [i for body in bodies for i in body]}
    ids, kinds = list(whole["input_ids"]), whole.get("token_type_ids")
    raws: list[RawToken] = []
    at = 0
    for segment, (text, body) in enumerate(zip(texts, bodies, strict=True)):
        begin = _find(ids, body, at)
        raws += [_added(tokenizer, i, segment) for i in ids[at:begin]]
        raws += _placed(tokenizer, body, text, segment)
        at = begin + len(body)
    raws += [_added(tokenizer, i, len(texts) - 1) for i in ids[at:]]
    if kinds:
        raws = [
            RawToken(r.id, r.piece, r.start, r.end, r.special, r.segment, k) for r, k in zip(raws, kinds, strict=True)
        ]
    return raws


def _placed(tokenizer: Any, ids: list[int], text: str, segment: int) -> list[RawToken]:
    """Tokens of a text without offsets, located by searching the text for what each spells, in order."""
    spell = speller(tokenizer)
    pieces = tokenizer.convert_ids_to_tokens(ids)
    spans = align([spell(piece).decode("utf-8", "replace") for piece in pieces], text)
    together = zip(ids, pieces, spans, strict=True)
    return [RawToken(i, piece, *span, special=False, segment=segment) for i, piece, span in together]


def align(spelled: list[str], text: str) -> list[tuple[int, int]]:
    """The span of each spelled token in the text, in order; an empty span where it is not found close by."""
    plain = [_folded(c) for c in text]
    owner = [i for i, folded in enumerate(plain) for _ in folded]
    flat = "".join(plain)
    spans, cursor = [], 0  # `cursor` is an index into `flat`
    for piece in spelled:
        wanted = "".join(_folded(c) for c in piece.strip())
        found = flat.find(wanted, cursor, cursor + len(wanted) + 64) if wanted else -1
        if found < 0:
            place = owner[cursor] if cursor < len(owner) else len(text)
            spans.append((place, place))
            continue
        cursor = found + len(wanted)
        spans.append((owner[found], owner[cursor - 1] + 1))
    return spans


def _folded(character: str) -> str:
    return unicodedata.normalize("NFKD", character).casefold()


def _find(ids: list[int], body: list[int], start: int) -> int:
    return next((at for at in range(start, len(ids) - len(body) + 1) if ids[at : at + len(body)] == body), start)


def _added(tokenizer: Any, i: int, segment: int) -> RawToken:
    return RawToken(i, tokenizer.convert_ids_to_tokens(i), 0, 0, special=True, segment=segment)
