"""Text typed by a visitor, made safe for the page: shown as typed, never read as markup."""

from __future__ import annotations

import re

from attnviz.words import Sayable, _

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:<>&^=])")


def plain(text: str) -> str:
    """`text` for any Streamlit label or markdown: every character shows as itself."""
    one_line = text.replace("\r", " ").replace("\n", " ↵ ").replace("\t", " ⇥ ")
    return _SPECIAL.sub(lambda m: f"&#{ord(m[1])};", one_line)


def quoted(token: str) -> str:
    """A token inside a sentence: in italics; a token of spaces only is shown as a visible sign."""
    shown = token.strip() or "␣"
    return f"*{plain(shown)}*"


def spoken(message: Sayable) -> str:
    """A Message in the visitor's language, for Markdown; its values are shown as typed."""
    params = {name: plain(value) if isinstance(value, str) else value for name, value in message.params.items()}
    return _(message.template).format(**params)
