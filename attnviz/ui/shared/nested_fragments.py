"""What a fragment has not sent yet is dropped when it runs again, with that of the fragments inside it.

Streamlit 1.67 drops the fragment's own messages only. Those of the fragments inside it stay in the queue, and where
they should go no longer comes: the browser stops at "Cannot set a node at a delta path", and nothing more arrives. It
takes two gestures within the time that a busy server needs to send: many visitors, or a slow machine.
"""

from __future__ import annotations

import inspect
from typing import Any

from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.fragment import MemoryFragmentStorage

NAME = "_clear_queue"


def with_nested(queue: Any, storage: Any, running: list[str]) -> list[str]:
    """These fragments and, of those that have messages in the queue, all that lie inside them."""
    waiting = {message.delta.fragment_id for message in queue._queue if message.HasField("delta")}
    inside = {each for each in waiting - {"", *running} if storage.has_ancestor_in(each, running)}
    return [*running, *sorted(inside)]


def mend_nested_fragments() -> None:
    """Let every session of this process drop both; a second call changes nothing."""
    clear = getattr(AppSession, NAME)
    if getattr(clear, "__module__", "") == __name__:
        return

    def clear_queue(session: Any, fragment_ids_this_run: list[str] | None = None) -> None:
        """What stands in for Streamlit's own, which it calls with the fragments that run, if not all does."""
        if fragment_ids_this_run:
            fragment_ids_this_run = with_nested(
                session._browser_queue, session._fragment_storage, fragment_ids_this_run
            )
        clear(session, fragment_ids_this_run)

    setattr(AppSession, NAME, clear_queue)


def has_what_it_needs() -> bool:
    """Whether Streamlit's session still has the parts that this reaches into."""
    made = inspect.getsource(AppSession.__init__)
    return (
        callable(getattr(AppSession, NAME, None))
        and "self._browser_queue = " in made
        and "self._fragment_storage" in made
        and hasattr(MemoryFragmentStorage, "has_ancestor_in")
        and isinstance(ForwardMsgQueue()._queue, list)
    )
