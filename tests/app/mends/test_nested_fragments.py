"""Messages of a fragment inside one that runs again do not arrive without their place."""

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.fragment import MemoryFragmentStorage

from attnviz.app.mends import nested_fragments

OUTER, INNER, BESIDE = "outer", "inner", "beside"


def message(path: tuple[int, ...], fragment: str, *, block: bool = False) -> ForwardMsg:
    made = ForwardMsg()
    made.metadata.delta_path[:] = path
    made.delta.fragment_id = fragment
    if block:
        made.delta.add_block.allow_empty = True
    else:
        made.delta.new_element.text.body = fragment
    return made


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What a mended session clears its queue with: an outer fragment with one inside it, and one beside both."""
    monkeypatch.setattr(AppSession, nested_fragments.NAME, AppSession._clear_queue)  # both are put back afterwards
    monkeypatch.setattr(MemoryFragmentStorage, nested_fragments.REGISTERS, MemoryFragmentStorage.register)
    nested_fragments.mend_nested_fragments()
    nested_fragments.mend_nested_fragments()
    storage = MemoryFragmentStorage()
    storage.register(OUTER, lambda: None, parent_fragment_id=None)
    storage.register(INNER, lambda: None, parent_fragment_id=OUTER)
    storage.register(BESIDE, lambda: None, parent_fragment_id=None)
    queue = ForwardMsgQueue()
    queue.enqueue(message((0, 1, 0), OUTER, block=True))
    queue.enqueue(message((0, 1, 0, 0), INNER))
    queue.enqueue(message((0, 2, 0), BESIDE))
    queue.enqueue(message((0, 3), ""))
    return SimpleNamespace(_browser_queue=queue, _fragment_storage=storage)


def kept(session: Any) -> list[str]:
    return [each.delta.fragment_id for each in session._browser_queue._queue]


def test_streamlit_alone_keeps_what_lies_inside_the_dropped(session: Any) -> None:
    """As long as this passes the mend is needed; the day it fails, take the mend out."""
    session._browser_queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=[OUTER])
    assert kept(session) == [INNER, BESIDE, ""]


def test_the_inner_goes_with_the_outer_and_nothing_else_does(session: Any) -> None:
    AppSession._clear_queue(session, [OUTER])
    assert kept(session) == [BESIDE, ""]


def test_the_inner_goes_also_when_the_run_without_it_has_ended_before_its_beginning_was_heard(session: Any) -> None:
    assert session._fragment_storage.clear_stale_descendants(OUTER, frozenset()) == [INNER]
    AppSession._clear_queue(session, [OUTER])
    assert kept(session) == [BESIDE, ""]


def test_of_very_many_fragments_the_last_are_remembered(session: Any) -> None:
    for number in range(nested_fragments.MOST):
        session._fragment_storage.register(f"other-{number}", lambda: None, parent_fragment_id=None)
    assert len(nested_fragments._PARENTS[session._fragment_storage]) == nested_fragments.MOST
    session._fragment_storage.register(INNER, lambda: None, parent_fragment_id=OUTER)
    AppSession._clear_queue(session, [OUTER])
    assert kept(session) == [BESIDE, ""]


def test_the_inner_alone_leaves_the_outer_and_a_whole_run_leaves_nothing(session: Any) -> None:
    AppSession._clear_queue(session, [INNER])
    assert kept(session) == [OUTER, BESIDE, ""]
    AppSession._clear_queue(session)
    assert kept(session) == []


def test_the_app_mends_every_session(monkeypatch: pytest.MonkeyPatch) -> None:
    from attnviz.serve import server

    assert server.ROUTES
    assert AppSession._clear_queue.__module__ == nested_fragments.__name__
    assert nested_fragments.has_what_it_needs()
