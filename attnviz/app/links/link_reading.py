"""Read the choices of a link or a saved view, and explain each value that cannot be used.

A sentence names the parameter, the value and what is shown instead. What is on a canvas is JSON, which a link holds
as one short text, compressed and versioned.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attnviz.app.links.choices import Choice, PartialValue, page_choices, page_parameters
from attnviz.base.message import NONSENSE, Message, MessageList, Problem
from attnviz.base.words import N_

VERSION = "1"
MOST_NAMED = 12  #: allowed values that a sentence lists
LONGEST = 6 * 1024  # characters; beyond it, proxies and chat programs cut links
LARGEST_UNPACKED = 256 * 1024  # bytes; a link can come from anyone, and a small one can be made to unpack to gigabytes


class UnreadableParameter(Problem):
    """A parameter of canvases, and so all that it holds, was cut or changed on the way."""


def read(page: str, parameters: Mapping[str, Any]) -> Iterator[tuple[Choice[Any], Any, Any]]:
    """Yield each named choice, its raw content, and its value or the error of reading it.

    A canvas is packed text in a link, and JSON already in a saved view; `c=` says that nothing is on it.
    """
    for choice in page_choices(page):
        raw = parameters.get(choice.inside or choice.name)
        if raw is None or (choice.inside and raw == ""):
            continue
        try:
            if choice.inside:
                raw = _read_canvas_value(choice, raw)
            if raw is not None:
                yield choice, raw, choice.read(raw)
        except NONSENSE as error:
            yield choice, raw, error


def _read_canvas_value(choice: Choice[Any], packed: Any) -> Any:
    """The JSON of one choice in a canvas's packed parameter."""
    try:
        content = unpack(packed) if isinstance(packed, str) else packed
    except Problem as problem:
        raise UnreadableParameter(problem.message.template, **problem.message.params) from problem
    if not choice.short:
        return content
    if not isinstance(content, dict):
        raise UnreadableParameter("The part of this link that holds the picture cannot be read, so it is left out.")
    return content.get(choice.short)


def parse_choices(page: str, parameters: Mapping[str, str]) -> dict[Choice[Any], Any]:
    """The values of the choices that the parameters name; a Problem names the first one that makes no sense."""
    allowed = page_parameters(page)
    for name in parameters:
        if name not in allowed:
            raise Problem(
                "“{name}” is not a parameter of {page}; it has: {allowed}",
                name=name,
                page=page,
                allowed=MessageList(allowed),
            )
    chosen = {}
    for choice, raw, value in read(page, parameters):
        if isinstance(value, UnreadableParameter):
            raise value
        if isinstance(value, Exception):
            raise Problem(
                "“{value}” makes no sense as {name} of {page}", value=str(raw)[:60], name=choice.name, page=page
            )
        chosen[choice] = value
    return chosen


#: By what is allowed, and by whether the choice itself knows what is shown instead.
_REASONS = {
    ("whole", True): N_(
        "The link asks for “{name}” = “{asked}”; it must be a whole number from {low} to {high}. "
        "“{shown}” is shown instead."
    ),
    ("whole", False): N_(
        "The link asks for “{name}” = “{asked}”; it must be a whole number from {low} to {high}. "
        "The usual value is shown instead."
    ),
    ("real", True): N_(
        "The link asks for “{name}” = “{asked}”; it must be a number from {low} to {high}. “{shown}” is shown instead."
    ),
    ("listed", True): N_(
        "The link asks for “{name}” = “{asked}”; it must be one of: {allowed}. “{shown}” is shown instead."
    ),
    ("listed", False): N_(
        "The link asks for “{name}” = “{asked}”; it must be one of: {allowed}. The usual choice is shown instead."
    ),
    ("unknown", True): N_(
        "The link asks for “{name}” = “{asked}”, which does not exist here. “{shown}” is shown instead."
    ),
    ("unknown", False): N_(
        "The link asks for “{name}” = “{asked}”, which does not exist here. The usual choice is shown instead."
    ),
}


def refusal_reason(choice: Choice[Any], raw: Any, error: Exception) -> Message:
    """The sentence that says why a link's value, or a part of it, is not used."""
    if isinstance(error, Problem):
        return error.message
    if not isinstance(error, PartialValue):
        return _unknown_value_reason(choice, raw)
    if error.lost:
        return omitted_items_sentence(choice, error.lost)
    params: dict[str, object] = {"name": choice.label, "n": len(raw), "most": choice.longest}
    return Message("The text of “{name}” in the link has {n} characters; only the first {most} are used.", params)


def _unknown_value_reason(choice: Choice[Any], raw: object) -> Message:
    """The sentence about an invalid value: parameter, value, allowed values, and the substitute."""
    if choice.kind == "canvas":
        return Message("The value of “{name}” in the link cannot be read, so it is left out.", {"name": choice.label})
    usual = "" if choice.default is None else choice.write(choice.default)
    allowed = ("true", "false") if choice.kind == "flag" else choice.ids
    if choice.kind not in ("whole", "real") and allowed:
        return not_listed(choice, raw, allowed, usual)
    params: dict[str, object] = {"name": choice.label, "asked": str(raw)[:40], "shown": usual}
    reason = "unknown"
    if choice.kind in ("whole", "real"):
        reason = choice.kind
        params |= {"low": f"{choice.low:,.9g}", "high": f"{choice.high:,.9g}"}
    return Message(_REASONS[reason, bool(usual)], params)


def not_listed(choice: Choice[Any], asked: object, allowed: Sequence[object], shown: object) -> Message:
    """The sentence about a value that is none of those allowed; `shown` is "" where only the page knows the usual."""
    named = [f"“{option}”" for option in allowed if option != ""]
    params: dict[str, object] = {"name": choice.label, "asked": str(asked)[:40], "shown": str(shown)}
    params["allowed"] = MessageList(named[:MOST_NAMED] + ["…"] * (len(named) > MOST_NAMED))
    reason = _REASONS["listed", shown != ""]
    return Message(reason, params)


def omitted_items_sentence(choice: Choice[Any], lost: Sequence[object]) -> Message:
    """Names at most ten of those that were left out."""
    names = [str(omitted)[:20] for omitted in lost[:10]] + (["…"] if len(lost) > 10 else [])
    return Message(
        "Left out of “{name}”, because it does not exist here: {names}.",
        {"name": choice.label, "names": MessageList(names)},
    )


def pack(value: Any) -> str:
    """A JSON value as short URL-safe text. Problem when it does not fit into a link."""
    raw = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    text = VERSION + base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")
    if len(text) > LONGEST:
        raise Problem(
            "What is on the canvas takes {size} characters, and a link holds at most {limit}: save this view "
            "as a file instead.",
            size=len(text),
            limit=LONGEST,
        )
    return text


def unpack(text: str) -> Any:
    """The value that `pack` made. Problem when the text was cut or changed on the way."""
    damaged = Problem(
        "The part of this link that holds the picture cannot be read; it was cut or changed. It starts with {start}.",
        start=repr(text[:12]),
    )
    if not text.startswith(VERSION) or len(text) > LONGEST:
        raise damaged
    body = text[len(VERSION) :]
    try:
        squeezed = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        machine = zlib.decompressobj()
        raw = machine.decompress(squeezed, LARGEST_UNPACKED)
        if not machine.eof:
            raise damaged
        value = json.loads(raw)
        refuse_half_characters(value)
    except (binascii.Error, zlib.error, ValueError, RecursionError) as cause:
        raise damaged from cause
    return value


def refuse_half_characters(value: Any) -> None:
    """ValueError where JSON's escapes hold half a character (a lone surrogate): no address and no page can hold it."""
    json.dumps(value, ensure_ascii=False).encode()
