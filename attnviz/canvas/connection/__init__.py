"""The line between browser and server: a notice while it is lost, and a run of the whole page when it is back."""

from collections.abc import Callable
from typing import Any

from attnviz.base.words import _
from attnviz.canvas.shared.component import get_component, last_report

KEY = "connection"


def mount_notice(on_room: Callable[[dict[str, Any]], None], room: str) -> None:
    """Mount the notice outside of every fragment: a new session, as after a restart, knows no fragment yet.

    `room`: whether this session shows one, "shown", or did so, "over"; else the callback `on_room` receives of the room
    that this tab showed in a session before.
    """
    data = {
        "lost": _("Connection lost. What you type and choose is kept, and sent when it is back."),
        "back": _("Connected again."),
        "room": room,
    }
    get_component("connection")(
        key=KEY, data=data, on_back_change=lambda: None, on_room_change=lambda: on_room(last_report(KEY, "room"))
    )
