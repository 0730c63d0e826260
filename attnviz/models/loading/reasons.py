"""What another library says went wrong, short enough for the end of a sentence."""

from __future__ import annotations


def first_line(error: Exception) -> str:
    """The first line of an error, or its kind where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
