"""Turn a sentence into the inputs of a model, with a readable label for each token.

>>> tokens = encode(loaded, "The cat sat.")
>>> [span.label for span in tokens.spans]
['The', 'cat', 'sat', '.']
>>> trace = capture(loaded.model, **tokens.inputs)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from attnviz.base.message import Message, Problem, Several
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens.token_spans import RawToken, TokenSpan, rest_of, spans_of
from attnviz.models.tokens.tokenize import read, read_target

if TYPE_CHECKING:
    from torch import Tensor


#: What surrounds the sentence. usual: the tokenizer's special tokens. none: nothing.
#: start: a beginning-of-text token. chat: the chat template, with the sentence as the user's turn.
Frame = Literal["usual", "none", "start", "chat"]

_MOST_CHARACTERS: Final = 64  # per token of the limit; a longer text is shortened before it is tokenized, to save time
_TAIL_SHOWN: Final = 24


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


def frames(loaded: LoadedModel) -> tuple[Frame, ...]:
    """The frames that this model's tokenizer supports, "usual" first."""
    tokenizer: Any = loaded.tokenizer
    usual = tokenizer("a")["input_ids"]
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    offered: list[Frame] = ["usual"]
    if usual != bare:
        offered.append("none")
    starts = tokenizer.bos_token_id is not None and loaded.entry.kind != "encoder-decoder"
    if starts and usual[:1] != [tokenizer.bos_token_id]:
        offered.append("start")
    if tokenizer.chat_template:
        offered.append("chat")
    return tuple(offered)


def encode(loaded: LoadedModel, text: str, pair: str | None = None, frame: Frame = "usual") -> Tokens:
    """A sentence, or a pair of sentences for an encoder, as tokens; cut at the token limit with a notice."""
    if loaded.tokenizer is None:
        raise Problem("{name} looks at pictures, not at sentences", name=loaded.entry.name)
    if frame not in frames(loaded):
        raise Problem(
            "frame={frame} is not available for {name}; available are: {allowed}",
            frame=frame,
            name=loaded.entry.name,
            allowed=Several(frames(loaded)),
        )
    if pair is not None and frame in ("start", "chat"):
        raise Problem("frame={frame} takes one sentence; a pair of sentences needs frame=usual or none", frame=frame)
    texts = tuple(_clean(each) for each in (text, pair) if each is not None)
    raws, spans, rests, notices = _read(loaded, texts, lambda heads: read(loaded.tokenizer, heads, frame))
    return Tokens(texts, spans, rests, _inputs(loaded, raws), frame, notices)


def encode_target(loaded: LoadedModel, text: str) -> Tokens:
    """The decoder's input of an encoder-decoder: its start token, then the sentence, without an end token."""
    tokenizer: Any = loaded.tokenizer
    config = loaded.model.config
    start = getattr(config, "decoder_start_token_id", None)
    if start is None:
        start = getattr(config.get_text_config(decoder=True), "bos_token_id", None)
    if start is None:
        raise Problem("{name} does not say which token its decoder starts with", name=loaded.entry.name)
    first = RawToken(int(start), str(tokenizer.convert_ids_to_tokens(start)), 0, 0, special=True)
    texts = (_clean(text),)
    raws, spans, rests, notices = _read(loaded, texts, lambda heads: [first, *read_target(tokenizer, heads[0])])
    return Tokens(texts, spans, rests, _ids(loaded, raws), notices=notices)


def _read(
    loaded: LoadedModel, texts: tuple[str, ...], tokenize: Callable[[tuple[str, ...]], list[RawToken]]
) -> tuple[list[RawToken], tuple[TokenSpan, ...], tuple[str, ...], tuple[Message, ...]]:
    """Tokens within the limit, their spans, the uncovered rest of each text, and notices about what was cut."""
    limit = loaded.max_tokens
    heads = tuple(each[: limit * _MOST_CHARACTERS] for each in texts)
    raws = tokenize(heads)
    kept, shortened = _cut(raws, limit)
    if not kept:
        raise Problem("The sentence is empty: type at least one character")
    spans = spans_of(loaded.tokenizer, heads, kept, shortened)
    rests = tuple(rest_of(spans, whole, segment) for segment, whole in enumerate(texts))
    told = [s for s, (whole, head) in enumerate(zip(texts, heads, strict=True)) if s in shortened or head != whole]
    return kept, spans, rests, tuple(_notice(texts[s], rests[s], limit) for s in told if rests[s])


def _clean(text: str) -> str:
    """The text with unpaired surrogates, which no tokenizer accepts, replaced by the replacement character."""
    return "".join("\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c for c in text) if not _encodes(text) else text


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


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
    kept = [raw for i, raw in enumerate(raws) if i not in dropped]
    return kept, frozenset(raws[i].segment for i in dropped)


def _notice(text: str, rest: str, limit: int) -> Message:
    place = len(text) - len(rest)
    return Message(
        "Cut at {limit} tokens, after “{where}”: {left} more characters are left out",
        {"limit": limit, "where": text[max(place - _TAIL_SHOWN, 0) : place].strip(), "left": len(rest)},
    )


def _inputs(loaded: LoadedModel, raws: list[RawToken]) -> dict[str, Tensor]:
    import torch

    tokenizer: Any = loaded.tokenizer
    inputs = _ids(loaded, raws)
    if "token_type_ids" in tokenizer.model_input_names and loaded.entry.kind != "decoder":
        inputs["token_type_ids"] = torch.tensor([[raw.type for raw in raws]], device=loaded.model.device)
    return inputs


def _ids(loaded: LoadedModel, raws: list[RawToken]) -> dict[str, Tensor]:
    import torch

    ids = torch.tensor([[raw.id for raw in raws]], device=loaded.model.device)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
