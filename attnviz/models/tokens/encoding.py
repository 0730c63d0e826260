"""Turn a sentence into the inputs of a model, with a readable label for each token.

>>> tokens = encode(loaded, "The cat sat.")
>>> [span.label for span in tokens.spans]
['The', 'cat', 'sat', '.']
>>> trace = capture(loaded.model, **tokens.inputs)
"""

import re
import sys
import threading
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import torch
from torch import Tensor

from attnviz.base.message import Message, MessageList, Problem
from attnviz.models.catalogue import LoadedModel, require_positions
from attnviz.models.tokens.token_spans import RawToken, TokenSpan, make_spans, make_speller, remaining_text, token_label

#: What surrounds the sentence. usual: the tokenizer's special tokens. none: nothing.
#: start: a beginning-of-text token. chat: the chat template, with the sentence as the user's turn.
Frame = Literal["usual", "none", "start", "chat"]

_MOST_CHARACTERS: Final = 64  # per token of the limit; a longer text is shortened before it is tokenized, to save time
_TAIL_SHOWN: Final = 24
_UNPAIRED: Final = re.compile("[\ud800-\udfff]")  #: surrogates, which no tokenizer accepts
_switching: Final = threading.Lock()  # a translator's tokenizer changes its state while it tokenizes a target


@dataclass(frozen=True)
class Tokens:
    """One sentence or two as tokens. The spans of a segment, joined, are its text up to where it was cut."""

    texts: tuple[str, ...]  #: the sentences, one per segment
    spans: tuple[TokenSpan, ...]
    rests: tuple[str, ...]  #: the end of each text that no span covers, because it was cut off or is only white space
    inputs: dict[str, Any] = field(default_factory=dict)  #: tensors for the model's forward, batch of one
    frame: Frame = "usual"
    notices: tuple[Message, ...] = ()  #: what was cut off, for the visitor

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(span.id for span in self.spans)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(span.label for span in self.spans)


def supported_frames(loaded: LoadedModel) -> tuple[Frame, ...]:
    """The frames that this model's tokenizer supports, "usual" first."""
    tokenizer: Any = loaded.tokenizer
    usual, start = tokenizer("a")["input_ids"], tokenizer.bos_token_id
    offered: dict[Frame, bool] = {
        "usual": True,
        "none": usual != tokenizer("a", add_special_tokens=False)["input_ids"],
        "start": start is not None and loaded.entry.kind != "encoder-decoder" and usual[:1] != [start],
        "chat": bool(tokenizer.chat_template),
    }
    return tuple(frame for frame, there in offered.items() if there)


def encode(
    loaded: LoadedModel, text: str, pair: str | None = None, frame: Frame = "usual", limit: int | None = None
) -> Tokens:
    """A sentence, or a pair of sentences for an encoder, as tokens; cut with a notice.

    It is cut at `limit` tokens, or where that is None at the app's token limit.
    """
    tokenizer = loaded.tokenizer
    if tokenizer is None:
        raise Problem("{name} looks at pictures, not at sentences", name=loaded.entry.name)
    if frame not in supported_frames(loaded):
        raise Problem(
            "frame={frame} is not available for {name}; available are: {allowed}",
            frame=frame,
            name=loaded.entry.name,
            allowed=MessageList(supported_frames(loaded)),
        )
    if pair is not None and frame in ("start", "chat"):
        raise Problem("frame={frame} takes one sentence; a pair of sentences needs frame=usual or none", frame=frame)
    texts = (text,) if pair is None else (text, pair)
    typed = "token_type_ids" in tokenizer.model_input_names and loaded.entry.kind != "decoder"
    return _encode_within_limit(
        loaded, texts, lambda heads: _tokenize(tokenizer, heads, frame), limit or loaded.max_tokens, frame, typed
    )


def encode_whole(loaded: LoadedModel, text: str, truncate: bool = False) -> Tokens:
    """A text up to the model's own positions; a longer one is a Problem, or is cut there with `truncate`."""
    positions = loaded.max_positions or sys.maxsize
    tokens = encode(loaded, text, limit=positions if truncate else sys.maxsize)
    require_positions(loaded.name, len(tokens), positions)
    return tokens


def read(tokenizer: Any, text: str, limit: int | None = None) -> Tokens:
    """A sentence as any tokenizer reads it; of one that is not transformers', each id with its own label."""
    is_transformers = hasattr(tokenizer, "get_added_vocab")
    if is_transformers:
        raws = _tokenize(tokenizer, (text,), "usual")
    elif hasattr(tokenizer, "encode") and hasattr(tokenizer, "decode"):
        encoded = tokenizer.encode(text)
        raws = [RawToken(i, "", 0, 0, False) for i in getattr(encoded, "ids", encoded)]
    else:
        raise Problem("tokenizer={given} reads no text: give one with encode and decode", given=repr(tokenizer)[:60])
    raws, _ = _cut(raws, limit or sys.maxsize)
    inputs = _inputs_of(raws, is_transformers and "token_type_ids" in tokenizer.model_input_names)
    if is_transformers:
        return Tokens((text,), make_spans(tokenizer, (text,), raws, frozenset()), (), inputs)
    spans = (
        TokenSpan(at, raw.id, label_of(tokenizer, raw.id), "", 0, 0, None, False, 0) for at, raw in enumerate(raws)
    )
    return Tokens((text,), tuple(spans), (), inputs)


def _inputs_of(raws: list[RawToken], typed: bool, device: torch.device | None = None) -> dict[str, Tensor]:
    """Model inputs of these tokens; a Problem if there are none."""
    if not raws:
        raise Problem("The sentence is empty: type at least one character")
    return model_inputs([raw.id for raw in raws], [raw.type for raw in raws] if typed else None, device)


def model_inputs(
    ids: list[int], types: list[int] | None = None, device: torch.device | None = None
) -> dict[str, Tensor]:
    """The inputs of a model's forward that reads these tokens, in a batch of one."""
    input_ids = torch.tensor([ids], device=device)
    inputs = {"input_ids": input_ids, "attention_mask": torch.ones_like(input_ids)}
    return inputs if types is None else inputs | {"token_type_ids": torch.tensor([types], device=device)}


def label_of(tokenizer: Any, token: int) -> str:
    """One id as an axis label."""
    more = {"clean_up_tokenization_spaces": False} if hasattr(tokenizer, "get_added_vocab") else {}
    return token_label(str(tokenizer.decode([token], **more)))


def encode_target(loaded: LoadedModel, text: str) -> Tokens:
    """The decoder's input of an encoder-decoder: its start token, then the sentence, without an end token."""
    tokenizer: Any = loaded.tokenizer
    config = loaded.model.config
    start = getattr(config, "decoder_start_token_id", None)
    if start is None:
        start = getattr(config.get_text_config(decoder=True), "bos_token_id", None)
    if start is None:
        raise Problem("{name} does not say which token its decoder starts with", name=loaded.entry.name)
    return _encode_within_limit(
        loaded,
        (text,),
        lambda heads: [_added_token(tokenizer, int(start), 0), *_target_tokens(tokenizer, heads[0])],
        loaded.max_tokens,
    )


def _encode_within_limit(
    loaded: LoadedModel,
    texts: tuple[str, ...],
    tokenize: Callable[[tuple[str, ...]], list[RawToken]],
    limit: int,
    frame: Frame = "usual",
    typed: bool = False,
) -> Tokens:
    """Tokenize texts up to the limit, with types if `typed`; notices name what was cut.

    Of each text only as much is tokenized as may fill the limit.
    """
    texts = tuple(_UNPAIRED.sub("\ufffd", text) for text in texts)
    heads = tuple(text[: limit * _MOST_CHARACTERS] for text in texts)
    within, shortened = _cut(tokenize(heads), limit)
    inputs = _inputs_of(within, typed, loaded.model.device)
    spans = make_spans(loaded.tokenizer, heads, within, shortened)
    rests = tuple(remaining_text(spans, text, segment) for segment, text in enumerate(texts))
    cut = [s for s, (text, head) in enumerate(zip(texts, heads, strict=True)) if s in shortened or head != text]
    notices = tuple(_notice(texts[s], rests[s], limit) for s in cut if rests[s])
    return Tokens(texts, spans, rests, inputs, frame, notices)


def _cut(raws: list[RawToken], limit: int) -> tuple[list[RawToken], frozenset[int]]:
    """At most `limit` tokens, and the numbers of the segments that were cut.

    Special tokens are kept, the longer sentence is cut first, and no character is split.
    """
    content = [[i for i, raw in enumerate(raws) if raw.segment == s and not raw.special] for s in (0, 1)]
    dropped: set[int] = set()
    while len(raws) - len(dropped) > limit and any(content):
        dropped.add(max(content, key=len).pop())
    for positions in content:
        while positions and positions[-1] + 1 in dropped and raws[positions[-1]].shares_with(raws[positions[-1] + 1]):
            dropped.add(positions.pop())
    return [raw for i, raw in enumerate(raws) if i not in dropped], frozenset(raws[i].segment for i in dropped)


def _notice(text: str, rest: str, limit: int) -> Message:
    cut_at = len(text) - len(rest)
    return Message(
        "Cut at {most} {limit:token|tokens}, after “{where}”: {more} more {left:character is|characters are} left out",
        {
            "limit": limit,
            "most": f"{limit:,}",
            "where": text[max(cut_at - _TAIL_SHOWN, 0) : cut_at].strip(),
            "left": len(rest),
            "more": f"{len(rest):,}",
        },
    )


# How text is tokenized, by a fast tokenizer or by one in Python, with the characters that each token comes from.
def _tokenize(tokenizer: Any, texts: tuple[str, ...], frame: Frame) -> list[RawToken]:
    """The tokens of one or two sentences inside the given frame."""
    if frame == "chat":
        return _read_chat(tokenizer, texts[0])
    raws = _read_plain(tokenizer, texts, specials=frame != "none")
    return [_added_token(tokenizer, tokenizer.bos_token_id, 0), *raws] if frame == "start" else raws


def _target_tokens(tokenizer: Any, text: str) -> list[RawToken]:
    """The tokens of a sentence in a translator's target language, without special tokens."""
    if getattr(tokenizer, "is_fast", False):
        return _read_fast(tokenizer, (text,), specials=False)
    with _switching:
        return _locate_pieces(
            tokenizer, tokenizer(text_target=text, add_special_tokens=False, verbose=False)["input_ids"], text, 0
        )


def _read_chat(tokenizer: Any, text: str) -> list[RawToken]:
    """The sentence as the user's turn of a chat, with everything that the chat template adds around it."""
    conversation = tokenizer.apply_chat_template(
        [{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True
    )
    offset, body = conversation.rfind(text), text.strip()
    if offset < 0:  # a template may strip the sentence
        at = conversation.rfind(body)
        offset = at if at < 0 else at - text.index(body)
    if offset < 0:
        raise Problem("The chat template of this model changes the sentence; choose a frame other than chat")
    raws = []
    for raw in _read_plain(tokenizer, (conversation,), specials=False):
        start, end = (min(max(at - offset, 0), len(text)) for at in (raw.start, raw.end))
        raws.append(replace(raw, start=start, end=end, special=start == end and raw.end > raw.start))
    return raws


def _read_plain(tokenizer: Any, texts: tuple[str, ...], specials: bool) -> list[RawToken]:
    if getattr(tokenizer, "is_fast", False):
        return _read_fast(tokenizer, texts, specials)
    return _read_slow(tokenizer, texts, specials)


def _read_fast(tokenizer: Any, texts: tuple[str, ...], specials: bool) -> list[RawToken]:
    encoded = tokenizer(*texts, add_special_tokens=specials, verbose=False).encodings[0]
    raws, segment = [], 0
    columns = zip(encoded.ids, encoded.tokens, encoded.offsets, encoded.sequence_ids, encoded.type_ids, strict=True)
    for i, piece, (start, end), sequence, kind in columns:
        segment = segment if sequence is None else sequence
        raws.append(RawToken(i, piece, start, end, sequence is None, segment, kind))
    return raws


def _read_slow(tokenizer: Any, texts: tuple[str, ...], specials: bool) -> list[RawToken]:
    """Tokenize without offsets: find each sentence's own tokens within the tokens of the whole input."""
    with _switching:
        bodies = [tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"] for text in texts]
        full_encoding = (
            tokenizer(*texts, verbose=False) if specials else {"input_ids": [i for body in bodies for i in body]}
        )
    ids, kinds = list(full_encoding["input_ids"]), full_encoding.get("token_type_ids")
    raws: list[RawToken] = []
    at = 0
    for segment, (text, body) in enumerate(zip(texts, bodies, strict=True)):
        begin = next((n for n in range(at, len(ids) - len(body) + 1) if ids[n : n + len(body)] == body), at)
        raws += [_added_token(tokenizer, i, segment) for i in ids[at:begin]]
        raws += _locate_pieces(tokenizer, body, text, segment)
        at = begin + len(body)
    raws += [_added_token(tokenizer, i, len(texts) - 1) for i in ids[at:]]
    return [replace(raw, type=kind) for raw, kind in zip(raws, kinds or [0] * len(raws), strict=True)]


def _locate_pieces(tokenizer: Any, ids: list[int], text: str, segment: int) -> list[RawToken]:
    """Tokens of a text without offsets, located by searching the text for what each spells, in order."""
    spell, pieces = make_speller(tokenizer), tokenizer.convert_ids_to_tokens(ids)
    spans = align([spell(piece).decode("utf-8", "replace") for piece in pieces], text)
    return [RawToken(i, piece, *span, False, segment) for i, piece, span in zip(ids, pieces, spans, strict=True)]


def align(spelled: list[str], text: str) -> list[tuple[int, int]]:
    """The span of each spelled token in the text, in order; an empty span where it is not found close by."""
    plain = [_fold(c) for c in text]
    owner = [i for i, folded in enumerate(plain) for _ in folded]
    flat = "".join(plain)
    spans, cursor = [], 0  # `cursor` is an index into `flat`
    for piece in spelled:
        wanted = "".join(_fold(c) for c in piece.strip())
        at = flat.find(wanted, cursor, cursor + len(wanted) + 64) if wanted else -1
        if at < 0:
            position = owner[cursor] if cursor < len(owner) else len(text)
            spans.append((position, position))
        else:
            cursor = at + len(wanted)
            spans.append((owner[at], owner[cursor - 1] + 1))
    return spans


def _fold(character: str) -> str:
    return unicodedata.normalize("NFKD", character).casefold()


def _added_token(tokenizer: Any, i: int, segment: int) -> RawToken:
    return RawToken(i, str(tokenizer.convert_ids_to_tokens(i)), 0, 0, special=True, segment=segment)
