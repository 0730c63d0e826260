"""Texts that are longer than a sentence: those that come with the app, and files that visitors open."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from attnviz.base.message import Message, Problem

LONGEST = 100_000  #: characters
_DATA = Path(__file__).with_name("data")
FILES = {"alice": "alice.txt", "boat": "boat_chat.json"}
Chat = tuple[tuple[str, str], ...]  #: (role, content) of each turn


@cache
def shipped_text(name: str) -> str | Chat:
    """A text that comes with the app, by its name among FILES."""
    return read_file((_DATA / FILES[name]).read_bytes())[0]


def read_file(data: bytes) -> tuple[str | Chat, Message | None]:
    """The content of a file, a chat where it is JSON of one; and where it was cut, if it was."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Problem("This file is not text in UTF-8") from None
    if "\x00" in text:
        raise Problem("This file is not text: it holds bytes that no text contains")
    return parse_text(text)


def parse_text(text: str) -> tuple[str | Chat, Message | None]:
    """The content of a text, a chat where it is JSON of one; and where it was cut, if it was."""
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise Problem("The text is empty")
    chat = _parse_chat(text) if text[0] in "[{" else None
    if chat is not None:
        return chat, None
    return cut_text(text)


def cut_text(text: str) -> tuple[str, Message | None]:
    """The first LONGEST characters of a text, and where it was cut, if it was."""
    if len(text) <= LONGEST:
        return text, None
    where = text[LONGEST - 24 : LONGEST].strip()
    counts: dict[str, Any] = {"n": f"{len(text):,}", "most": f"{LONGEST:,}", "where": where}
    cut = Message("Of {n} characters those after the first {most} are left out, after “{where}”.", counts)
    return text[:LONGEST], cut


def _parse_chat(text: str) -> Chat | None:
    """The turns of a chat: a list of objects with "role" and "content", or an object with it as "messages"."""
    try:
        value = json.loads(text)
        turns = value["messages"] if isinstance(value, dict) else value
        return tuple((str(turn["role"]), _join_content(turn["content"])) for turn in turns)[:2000] or None
    except (ValueError, TypeError, LookupError, RecursionError):
        return None  # a text that only looks like one


def _join_content(content: Any) -> str:
    """The text of a turn: a string, a list of parts of which some are text, or null where a turn says nothing."""
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if "text" in part)
    return str(content or "")


def render_chat(chat: Chat, tokenizer: Any) -> str:
    """A chat as the tokenizer's template writes it, which may put a system turn before it; else a paragraph a turn."""
    turns = [{"role": role, "content": content} for role, content in chat]
    if not getattr(tokenizer, "chat_template", None):
        return "\n\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)
    try:
        return str(tokenizer.apply_chat_template(turns, tokenize=False))
    except Exception as refusal:  # a template refuses roles and orders in its own ways
        raise Problem("The model’s chat template refuses this chat: {why}", why=str(refusal)[:200]) from refusal
