"""Where a fragment stands is remembered as Streamlit would remember it, without taking the page apart."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import streamlit as st
from streamlit.cursor import Cursor, LockedCursor, RunningCursor
from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.Element_pb2 import Element
from streamlit.runtime import fragment
from streamlit.testing.v1 import AppTest

from attnviz.app.mends import fragment_places


def nested() -> tuple[DeltaGenerator, ...]:
    """A page, a block on it, and a column in that, as they stand in Streamlit's stack; something passes by in it."""
    page = DeltaGenerator(root_container=0, cursor=RunningCursor(root_container=0))
    block = DeltaGenerator(0, RunningCursor(0, (2,)), page, "vertical")
    column = DeltaGenerator(0, LockedCursor(0, (2, 1), 4), block, "column")
    column._creating_fragment_id = "outer"
    block._cursor._index = 3  # type: ignore[union-attr, attr-defined]
    block._cursor._transient_elements[1] = Element()  # type: ignore[union-attr]
    return page, block, column


def of_cursor(cursor: Cursor | None) -> Any:
    if cursor is None:
        return None
    return type(cursor), cursor.delta_path, cursor._transient_index, list(cursor._transient_elements.items())


def told(container: DeltaGenerator | None) -> Any:
    """All that a container is, with all that it lies in."""
    if container is None:
        return None
    held = (container._root_container, container._block_type, container._creating_fragment_id, container._form_data)
    return type(container), held, of_cursor(container._provided_cursor), told(container._parent)


def test_containers_are_copied_as_streamlit_copies_them() -> None:
    stack = nested()
    theirs, ours = copy.deepcopy(stack), fragment_places.copied(stack)
    assert [told(each) for each in ours] == [told(each) for each in theirs]
    assert [told(each) for each in ours] == [told(each) for each in stack]


def test_what_is_written_through_a_copy_moves_no_other() -> None:
    stack = nested()
    before = [told(each) for each in stack]
    first, second = fragment_places.copied(stack), fragment_places.copied(stack)
    first[1]._cursor.lock_element()
    first[1]._cursor.open_block()
    assert [told(each) for each in stack] == before
    assert [told(each) for each in second] == before
    assert first[1]._cursor.index == 5
    assert not {id(each) for each in first} & {id(each) for each in stack}


def test_the_cursors_of_a_run_are_copied_too() -> None:
    cursors = {0: RunningCursor(0), 1: RunningCursor(1, (3,))}
    cursors[1].lock_element()
    ours = fragment_places.copied(cursors)
    cursors[1].lock_element()
    assert {name: of_cursor(each) for name, each in ours.items()} == {
        0: (RunningCursor, [0, 0], None, []),
        1: (RunningCursor, [1, 3, 1], None, []),
    }


def test_what_is_not_known_is_copied_by_streamlit() -> None:
    class Other(DeltaGenerator):
        def __deepcopy__(self, _memo: Any) -> Any:
            return "copied its own way"

    page, block, _column = nested()
    assert fragment_places.copied((page, Other(0, RunningCursor(0), page)))[1] == "copied its own way"
    odd = RunningCursor(0)
    odd.more = [1]  # type: ignore[attr-defined]
    kept = fragment_places.copied({0: odd})[0]
    assert kept.more == [1]
    assert kept.more is not odd.more  # type: ignore[attr-defined]
    assert fragment_places.copied([block])[0] is not block


def page_of_fragments() -> None:
    import streamlit as st

    @st.fragment
    def inner(name: str) -> None:
        with st.container(border=True):
            st.text(f"{name} {st.toggle('more', key=name)}")

    @st.fragment
    def outer() -> None:
        for column, name in zip(st.columns(2), ("left", "right"), strict=True):
            with column, st.expander("box"):
                inner(name)
                st.caption(f"below {name}")

    st.title("Page")
    outer()
    with st.sidebar:
        inner("beside")
    st.text("end")


def drawn(app: AppTest) -> list[tuple[str, str]]:
    return [(each.type, each.value) for each in app.main if each.type in ("title", "text", "caption")]


def test_fragments_inside_fragments_draw_what_they_drew(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = []
    for how in (copy.deepcopy, fragment_places.copied):
        monkeypatch.setattr(fragment, fragment_places.NAME, how)
        app = AppTest.from_function(page_of_fragments).run()
        app.toggle("right").set_value(True).run()
        app.toggle("beside").set_value(True).run()
        assert not app.exception
        pages.append((drawn(app), [each.value for each in app.sidebar.text]))
    assert pages[0] == pages[1]
    assert ("text", "right True") in pages[0][0]
    assert pages[0][1] == ["beside True"]


def test_the_app_remembers_places_so() -> None:
    from attnviz.serve import server

    assert server.ROUTES
    assert getattr(fragment, fragment_places.NAME) is fragment_places.copied
    assert fragment_places.has_what_it_needs()
    assert st.fragment
