"""What Streamlit tells a browser of the theme at every run is worked out once for each section of the options.

Streamlit 1.67 reads six sections anew and respells the name of every option in them, for each run of each visitor: a
third of the processor time that a chosen mask takes. Nothing sets an option of the theme while the server runs.
"""

from __future__ import annotations

import inspect
from typing import Any

from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

NAME = "_populate_theme_msg"


def keep_theme_message() -> None:
    """Let every session of this process take the theme from the first one; a second call changes nothing."""
    populate = getattr(app_session, NAME)
    if getattr(populate, "__module__", "") == __name__:
        return
    known: dict[str, tuple[bool, bytes]] = {}

    def populated(msg: Any, section: str = "theme") -> None:
        """What stands in for Streamlit's own: writes a section of the theme into a message."""
        if section not in known:
            fresh = CustomThemeConfig()
            populate(fresh, section)
            options = config.get_options_for_section(section).values()
            known[section] = any(each is not None for each in options), fresh.SerializeToString()
        said, content = known[section]
        if said:
            msg.SetInParent()  # a section can be set to what a message holds without being told
            msg.MergeFromString(content)

    setattr(app_session, NAME, populated)


def has_what_it_needs() -> bool:
    """Whether Streamlit still writes the theme by a function of this name, which takes a message and a section."""
    populate = getattr(app_session, NAME, None)
    return callable(populate) and list(inspect.signature(populate).parameters) == ["msg", "section"]
