"""No fragment inside another: a part inside a part is drawn as plain lines of it."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]


def nested() -> None:
    import streamlit as st

    from attnviz.app.panel import fragment

    ids = st.session_state.setdefault("ids", {})

    def of_run() -> str | None:
        from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

        return ThreadState.get().fragment_id

    @fragment
    def inner(name: str) -> None:
        ids[name] = of_run()
        st.button(name)

    @fragment
    def outer() -> None:
        ids["outer"] = of_run()
        inner("inside")
        ids["after"] = of_run()

    outer()
    inner("alone")


def test_a_part_inside_a_part_belongs_to_it_and_one_beside_it_is_one_of_its_own() -> None:
    app = AppTest.from_function(nested).run()
    for pressed in (None, 0, 1):
        if pressed is not None:
            app.button[pressed].click().run()
        assert not app.exception
        ids = app.session_state["ids"]
        assert ids["outer"] == ids["inside"] == ids["after"]
        assert len({None, ids["outer"], ids["alone"]}) == 3
        assert [button.label for button in app.button] == ["inside", "alone"]


def test_every_part_of_the_app_is_made_so() -> None:
    own = ROOT / "attnviz/app/panel.py"
    files = [path for path in (ROOT / "attnviz").rglob("*.py") if path != own]
    assert [path.name for path in files if "st.fragment" in path.read_text("utf-8")] == []
