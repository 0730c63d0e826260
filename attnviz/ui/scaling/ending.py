"""A section, and under it the program that prints its numbers for the state on screen."""

from __future__ import annotations

from attnviz.ui.scaling import sections
from attnviz.ui.shared import snippet
from attnviz.words import _


def section(name: str) -> None:
    """Draw a section and its program, if it has one."""
    code = sections.SECTIONS[name]()
    if code is not None:
        snippet(code, "scaling", _("This section in PyTorch"))
