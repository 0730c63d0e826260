"""A Streamlit in which a private name is another one: the app starts, and Explore opens and answers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PRIVATE = (
    "_call_callbacks", "_maybe_handle_execution_control_request", "_widget_changed", "_new_widget_state",
    "_clear_queue", "_populate_theme_msg", "SparseList", "SafeSessionState", "get_script_run_ctx", "is_manually_set",
    "setup_formatter", "update_formatter", "file_id", "is_history_navigation", "context_info",
)  # fmt: skip
ROOT = Path(__file__).parents[3]
#: Imports what is no part of Streamlit, then opens the app in a process of its own for each name, forked from this one.
OPENS = """
import os, sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
import numpy, pandas, plotly.graph_objects, pyarrow, torch, transformers
from transformers import AutoTokenizer, LlamaForCausalLM

folder, *names = sys.argv[1:]
own = SourceFileLoader.get_code

def opened(name):
    renamed = []

    def get_code(loader, module):
        if module.startswith("streamlit") and ".proto" not in module:
            if name in (text := Path(loader.path).read_text("utf-8")):
                renamed.append(module)
                return loader.source_to_code(text.replace(name, f"{name}_as_it_is_now"), loader.path)
        return own(loader, module)

    SourceFileLoader.get_code = get_code
    import attnviz.serve.server
    from attnviz.serve import log_lines
    from streamlit.testing.v1 import AppTest
    log_lines.begin()
    page = AppTest.from_file(str(Path(attnviz.serve.server.MAIN)), default_timeout=120).run()
    page.switch_page("../pages/explore/explore.py").run()
    assert renamed, f"Streamlit has no {name} any more: take it off this list"
    assert not page.exception and not page.error, (page.exception, page.error)
    assert [title.value for title in page.title] == ["Explore attention"], page.title

assert not [name for name in sys.modules if name.startswith(("streamlit", "attnviz"))]
for name in names:
    if os.fork():
        os.wait()
        continue
    log = os.open(os.path.join(folder, name), os.O_CREAT | os.O_WRONLY)
    os.dup2(log, 1), os.dup2(log, 2)
    try:
        opened(name)
        print("opened", flush=True)
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        os._exit(0)  # threads that load models need not come to their end
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what each of the apps has said, in a file of the name that is another one there."""
    folder = tmp_path_factory.mktemp("renamed")
    env = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    subprocess.run([sys.executable, "-c", OPENS, str(folder), *PRIVATE], env=env, cwd=ROOT, timeout=600, check=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", PRIVATE)
def test_the_app_opens_explore_where_streamlit_has_renamed_it(name: str, said: Path) -> None:
    told = (said / name).read_text("utf-8")
    assert told.splitlines()[-1:] == ["opened"], told[-3000:]
