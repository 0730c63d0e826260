"""Answers on their way between processes: a trace goes as one file's bytes, a refusal as its sentence and values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from attnviz.core.message import Message, Problem
from attnviz.experiments.explorer import ModelRun
from attnviz.models.capture import Trace


@dataclass(frozen=True)
class SentRun:
    """A run without its trace, and the trace."""

    run: ModelRun
    trace: bytes


@dataclass(frozen=True)
class SentTrace:
    trace: bytes


@dataclass(frozen=True)
class Refused:
    """A Problem, which as an exception would lose its values on the way."""

    message: Message


def to_send(make: Callable[[], Any]) -> Any:
    """What `make` answers or refuses, in a form that travels."""
    try:
        answer = make()
    except Problem as problem:
        return Refused(problem.message)
    if isinstance(answer, ModelRun):
        return SentRun(replace(answer, trace=Trace(())), answer.trace.to_bytes())
    return SentTrace(answer.to_bytes()) if isinstance(answer, Trace) else answer


def received(sent: Any) -> Any:
    """The answer as it was; a refusal is raised."""
    if isinstance(sent, Refused):
        raise Problem(sent.message.template, **sent.message.params)
    if isinstance(sent, SentRun):
        return replace(sent.run, trace=Trace.from_bytes(sent.trace))
    return Trace.from_bytes(sent.trace) if isinstance(sent, SentTrace) else sent
