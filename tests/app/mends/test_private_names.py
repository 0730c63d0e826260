"""A Streamlit in which a private name is another one: the app starts, and Explore opens and answers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import streamlit

PRIVATE = (
    "_call_callbacks", "_maybe_handle_execution_control_request", "_widget_changed", "_new_widget_state",
    "_clear_queue", "_populate_theme_msg", "SparseList", "SafeSessionState", "get_script_run_ctx", "is_manually_set",
    "setup_formatter", "update_formatter", "file_id", "is_history_navigation", "context_info",
)  # fmt: skip
ROOT = Path(__file__).parents[3]
OPENS = """
import os
from pathlib import Path
import attnviz.serve.server
from attnviz.serve import log_lines
from streamlit.testing.v1 import AppTest
import streamlit
assert "renamed" in streamlit.__file__, streamlit.__file__
log_lines.begin()
page = AppTest.from_file(str(Path(attnviz.serve.server.MAIN)), default_timeout=120).run()
page.switch_page("../pages/explore/explore.py").run()
assert not page.exception and not page.error, (page.exception, page.error)
assert [title.value for title in page.title] == ["Explore attention"], page.title
os._exit(0)  # threads that load models need not come to their end
"""


@pytest.fixture(scope="module")
def streamlit_with(tmp_path_factory: pytest.TempPathFactory):
    """`streamlit_with("_name")`: a folder with a whole Streamlit in which every `_name` is called otherwise."""

    def copied(name: str) -> Path:
        folder = tmp_path_factory.mktemp("renamed")
        own = Path(streamlit.__file__).parent
        shutil.copytree(own, folder / "streamlit", ignore=shutil.ignore_patterns("static"))
        (folder / "streamlit" / "static").symlink_to(own / "static")
        changed = 0
        for path in (folder / "streamlit").rglob("*.py"):
            if name in (text := path.read_text("utf-8")) and "proto" not in path.parts:
                path.write_text(text.replace(name, f"{name}_as_it_is_now"), "utf-8")
                changed += 1
        assert changed, f"Streamlit has no {name} any more: take it off this list"
        return folder

    return copied


@pytest.mark.slow
@pytest.mark.parametrize("name", PRIVATE)
def test_the_app_opens_explore_where_streamlit_has_renamed_it(name: str, streamlit_with) -> None:
    folders = os.pathsep.join(map(str, (streamlit_with(name), ROOT)))
    env = os.environ | {"PYTHONPATH": folders, "HF_HUB_OFFLINE": "1"}
    answer = subprocess.run(
        [sys.executable, "-c", OPENS], env=env, cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert answer.returncode == 0, answer.stderr[-3000:]
