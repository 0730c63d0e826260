"""Exceptions of reading and writing files, by the system and by libraries; atomic writes; files of sentences."""

import os
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Final

from attnviz.base.message import Problem

try:
    from safetensors import SafetensorError
except ImportError:  # an installation that reads no weights
    SafetensorError = OSError  # type: ignore[misc, assignment]

#: while bytes are read or written: a full disk, a forbidden folder; safetensors has an error of its own for these
FAILED: Final = (OSError, SafetensorError)
#: and while something is made of bytes that are damaged; a Problem is one of these
DAMAGED: Final = (
    *FAILED,
    *(ValueError, LookupError, TypeError, AttributeError, RecursionError, SyntaxError, EOFError, MemoryError),
    *(struct.error, zipfile.BadZipFile, zlib.error),
)

_LACKS_MEMORY: Final = re.compile(r"(not enough|allocate|out of) memory")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether there was no memory, which torch says by an error of no kind of its own."""
    return isinstance(error, MemoryError) or _LACKS_MEMORY.search(str(error)) is not None


def first_line(error: BaseException) -> str:
    """The first line of what another library says went wrong, or the kind of error where it says nothing.

    Of what the system refused, the system's own words, without the path that stands beside them.
    """
    number = re.search(r"\(os error (\d+)\)", str(error))  # as libraries written in Rust tell it
    description = os.strerror(int(number[1])) if number else getattr(error, "strerror", None) or str(error).strip()
    return (description or type(error).__name__).splitlines()[0][:200]


def write_whole(file: Path, contents: bytes, mode: int = 0o666) -> None:
    """Write a file that nobody ever sees in part, with these permissions less the umask's; its folder is made."""
    fresh = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh.touch(mode)
        fresh.write_bytes(contents)
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


def read_lines(file: Path) -> list[str]:
    """The lines of a text file that are not blank; a Problem where it cannot be read as one, or has none."""
    try:
        lines = [line for line in file.read_text("utf-8").splitlines() if line.strip()]
    except OSError as error:
        raise Problem("the file {file} cannot be read: {why}", file=str(file), why=error.strerror or "") from error
    except UnicodeDecodeError as error:
        raise Problem("the file {file} is not text in UTF-8", file=str(file)) from error
    if not lines:
        raise Problem("{file} has no line with text", file=str(file))
    return lines
