"""A file of sentences, one a line."""

from pathlib import Path

from attnviz.base.message import Problem


def lines_of(file: Path) -> list[str]:
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
