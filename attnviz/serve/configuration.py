"""The settings of Streamlit that come with the app: theme, limits, and an address for this machine only.

Streamlit reads them where they lie beside the script that it runs, as they do for `attnviz` and in a clone. A script
that lies elsewhere sets what can still be set once the server has its address.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attnviz.app.workarounds.streamlit_adapter import set_where_default

ENTRY = Path(__file__).parent / "entry" / "app.py"
SETTINGS = ENTRY.parent / ".streamlit" / "config.toml"


def serve(options: Sequence[str]) -> None:
    """Serve the app until it is stopped, by `streamlit run` of its own script; `options` are those of that command."""
    from streamlit.web import cli  # here: only the command needs it

    cli.main(["run", str(ENTRY), *options], prog_name="attnviz", standalone_mode=False)


def apply() -> None:
    """Set each setting that nobody has set, by file, environment or flag."""
    for name, value in settings():
        if name != "server.address":  # the server has it before any script is read
            set_where_default(name, value, str(SETTINGS))


def settings() -> Iterator[tuple[str, Any]]:
    """Every setting by its whole name, such as theme.light.primaryColor."""
    return _flat(tomllib.loads(SETTINGS.read_text(encoding="utf-8")))


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield above + name, value
