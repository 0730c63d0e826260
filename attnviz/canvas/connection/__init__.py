"""The line between browser and server: a notice while it is lost, and a run of the whole page when it is back."""

from attnviz.base.words import _
from attnviz.canvas.shared.component import get_component

KEY = "connection"


def mount_notice() -> None:
    """Mount it, outside of every fragment: a new session, as after a server's restart, knows none yet."""
    texts = {
        "lost": _("Connection lost. What you type and choose is kept, and sent when it is back."),
        "back": _("Connected again."),
    }
    get_component("connection")(key=KEY, data=texts, on_back_change=lambda: None)
