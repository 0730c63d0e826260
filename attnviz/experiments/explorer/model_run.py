"""A sentence as a model reads it: its tokens and the recorded attention, ready to be asked about any head."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor

from attnviz.core.message import Message, Problem
from attnviz.models.capture import Logits, RecordedLayer, Trace, capture
from attnviz.models.catalogue import EXAMPLES, LoadedModel, Source, find
from attnviz.models.loading import prepared_example
from attnviz.models.tokens import Frame, Tokens, encode, encode_target, frames

T = TypeVar("T")
LATELY = 4  # passes with changes that a reading remembers
StackId = Literal["encoder", "decoder", "cross"]


@dataclass(frozen=True)
class Request:
    """What a visitor asks to be read. Equal requests give the same reading."""

    model: str
    text: str
    second: str = ""  #: the other sentence of a pair, or what an encoder-decoder's decoder has written
    frame: Frame = "usual"


@dataclass(frozen=True, eq=False)
class Stack:
    """The layers of one kind, and the tokens that look and are looked at."""

    id: StackId
    layers: tuple[RecordedLayer, ...]
    queries: Tokens
    keys: Tokens

    @property
    def same_tokens(self) -> bool:
        """Whether a sentence looks at itself."""
        return self.queries is self.keys

    @cached_property
    def key_ids(self) -> Tensor:
        """(1, K) token ids of the keys."""
        return torch.tensor([self.keys.ids])

    def has(self, layer: int, head: int) -> bool:
        """Whether there is such a head."""
        return 0 <= layer < len(self.layers) and 0 <= head < self.layers[layer].n_heads


@dataclass(frozen=True, eq=False)
class Reading:
    """One sentence read by one model."""

    request: Request
    name: str  #: the model's, for people
    trace: Trace
    source: Tokens
    target: Tokens | None  #: what the decoder of an encoder-decoder has written
    origin: Source | None  #: where the weights came from; None: a trace kept from earlier
    load: Callable[[], LoadedModel]  #: the model itself, for what the trace cannot answer
    _kept: dict[Hashable, Any] = field(default_factory=dict)
    _lately: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @cached_property
    def stacks(self) -> tuple[Stack, ...]:
        """In the order in which a model runs them."""
        return stacks_of(self.trace, self.source, self.target)

    @property
    def notices(self) -> tuple[Message, ...]:
        """What a visitor should know: where the sentence was cut."""
        return self.source.notices + (self.target.notices if self.target else ())

    @property
    def nbytes(self) -> int:
        """What this reading keeps in memory now: its own pass and the last few with changes."""
        return self.trace.nbytes * (1 + len(self._lately))

    @cached_property
    def loaded(self) -> LoadedModel:
        """The model; loading it may take a while when the trace was kept from earlier."""
        return self.load()

    @property
    def inputs(self) -> dict[str, Tensor]:
        """For the model's forward, on its device."""
        given = inputs_of(self.source, self.target)
        return {name: tensor.to(self.loaded.model.device) for name, tensor in given.items()}

    def again(self, trace: Trace) -> tuple[Stack, ...]:
        """The stacks of another pass over the same tokens."""
        return stacks_of(trace, self.source, self.target)

    def kept_lately(self, key: Hashable, make: Callable[[], T]) -> T:
        """As `kept`, but only the last few: traces of other passes are as large as this one."""
        with self._lock:
            if key not in self._lately:
                self._lately[key] = make()
            self._lately.move_to_end(key)
            while len(self._lately) > LATELY:
                self._lately.popitem(last=False)
            value: T = self._lately[key]
            return value

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """Something computed from this reading, made once for all visitors."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
            value: T = self._kept[key]
            return value


def stacks_of(trace: Trace, source: Tokens, target: Tokens | None) -> tuple[Stack, ...]:
    """The layers of a trace by what they are for."""
    decoder = target or source
    wanted: list[tuple[StackId, Callable[[RecordedLayer], bool], Tokens, Tokens]] = [
        ("encoder", lambda la: la.stack == "encoder", source, source),
        ("decoder", lambda la: la.stack == "decoder" and la.kind == "self", decoder, decoder),
        ("cross", lambda la: la.kind == "cross", decoder, source),
    ]
    found = ((name, tuple(filter(belongs, trace.layers)), q, k) for name, belongs, q, k in wanted)
    return tuple(Stack(name, layers, q, k) for name, layers, q, k in found if layers)


def logits_wanted(loaded: LoadedModel) -> Logits:
    """Encoders guess at any position, decoders at the last."""
    return "all" if loaded.entry.kind == "encoder" else "last"


def read(request: Request, loaded: LoadedModel) -> Reading:
    """One pass of the model over the sentence. Anything that cannot be read is a Problem."""
    if not request.text.strip():
        raise Problem("The sentence is empty: type at least one word")
    is_pair = loaded.model.config.is_encoder_decoder
    second = request.second or None
    frame = request.frame if request.frame in frames(loaded) else "usual"
    if second is not None and not is_pair and frame in ("start", "chat"):
        frame = "usual"
    source = encode(loaded, request.text, None if is_pair else second, frame)
    target = encode_target(loaded, request.second) if is_pair else None
    trace = capture(loaded.model, logits=logits_wanted(loaded), **inputs_of(source, target))
    return Reading(request, loaded.entry.name, trace, source, target, loaded.source, lambda: loaded)


def read_earlier(request: Request, load: Callable[[], LoadedModel]) -> Reading | None:
    """The same from a trace that was kept when the model was prepared; None where there is none.

    Needs no model in memory: `load` is only called for what the trace cannot answer.
    """
    if request.frame != "usual":
        return None
    asked = (request.model, request.text, request.second)
    example = next((e for e in EXAMPLES if (e.model, e.text, e.second) == asked), None)
    kept = prepared_example(request.model, example.id) if example else None
    if kept is None:
        return None
    return Reading(request, find(request.model).name, kept.trace, kept.tokens, None, None, load)


def inputs_of(source: Tokens, target: Tokens | None) -> dict[str, Tensor]:
    """What the forward takes."""
    return source.inputs | ({} if target is None else {"decoder_input_ids": target.inputs["input_ids"]})
