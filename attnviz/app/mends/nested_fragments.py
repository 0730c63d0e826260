"""What a fragment has not sent yet is dropped when it runs again, with that of the fragments inside it.

Streamlit 1.67 drops the fragment's own messages only. Those of the fragments inside it stay in the queue, and where
they should go no longer comes: the browser stops at "Cannot set a node at a delta path", and nothing more arrives. It
takes two gestures within the time that a busy server needs to send: many visitors, or a slow machine.

What lies inside what is remembered here as well as in Streamlit's own storage. That forgets a fragment at the end of
the first run without it, and a script may be at the end of a run whose beginning the session has not heard of yet.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from streamlit.runtime import fragment as fragments
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.fragment import MemoryFragmentStorage

NAME = "_clear_queue"
REGISTERS = "register"
MOST = 500  #: fragments that are remembered for a session; a page has a few dozen

Parents = dict[str, str | None]
_PARENTS: WeakKeyDictionary[Any, Parents] = WeakKeyDictionary()  #: by storage, those registered last at the end


def remember(storage: Any, fragment: str, parent: str | None) -> None:
    """Note in which fragment another one lies. Of very many, those registered longest ago are forgotten."""
    parents = _PARENTS.setdefault(storage, {})
    parents.pop(fragment, None)
    parents[fragment] = parent
    if len(parents) > MOST:
        del parents[next(iter(parents))]


def around(fragment: str, parents: Parents) -> Iterator[str]:
    """The fragments that a fragment lies in, from the nearest outward."""
    seen = {fragment}
    while (parent := parents.get(fragment)) is not None and parent not in seen:
        yield parent
        seen.add(parent)
        fragment = parent


def with_nested(queue: Any, storage: Any, running: list[str]) -> list[str]:
    """These fragments and, of those that have messages in the queue, all that lie inside them."""
    waiting = {message.delta.fragment_id for message in queue._queue if message.HasField("delta")}
    parents = _PARENTS.get(storage, {})
    inside = {each for each in waiting - {"", *running} if not {*running}.isdisjoint(around(each, parents))}
    return [*running, *sorted(inside)]


def mend_nested_fragments() -> None:
    """Let every session of this process drop both; a second call changes nothing."""
    clear, register = getattr(AppSession, NAME), getattr(MemoryFragmentStorage, REGISTERS)
    if getattr(clear, "__module__", "") == __name__:
        return

    def clear_queue(session: Any, fragment_ids_this_run: list[str] | None = None) -> None:
        """What stands in for Streamlit's own, which it calls with the fragments that run, if not all does."""
        if fragment_ids_this_run:
            fragment_ids_this_run = with_nested(
                session._browser_queue, session._fragment_storage, fragment_ids_this_run
            )
        clear(session, fragment_ids_this_run)

    def registered(storage: Any, key: str, *args: Any, **named: Any) -> None:
        """What stands in for Streamlit's own."""
        remember(storage, key, named.get("parent_fragment_id"))
        register(storage, key, *args, **named)

    setattr(AppSession, NAME, clear_queue)
    setattr(MemoryFragmentStorage, REGISTERS, registered)


def has_what_it_needs() -> bool:
    """Whether Streamlit's session still has the parts that this reaches into."""
    made = inspect.getsource(AppSession.__init__)
    return (
        callable(getattr(AppSession, NAME, None))
        and "self._browser_queue = " in made
        and "self._fragment_storage" in made
        and hasattr(MemoryFragmentStorage, REGISTERS)
        and "parent_fragment_id=" in inspect.getsource(fragments)
        and isinstance(ForwardMsgQueue()._queue, list)
    )
