"""A Streamlit in which private names are other ones: the app starts, and Explore opens and answers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: names that are gone together: each group's are leaned on in places that know nothing of each other
PRIVATE = (
    ("get_script_run_ctx", "_call_callbacks", "setup_formatter", "SafeSessionState"),
    ("_maybe_handle_execution_control_request", "_widget_changed", "update_formatter", "is_manually_set", "file_id"),
    ("_new_widget_state", "is_history_navigation", "context_info"),
)
ROOT = Path(__file__).parents[3]
#: Imports what is no part of Streamlit, then opens the app in a process for each group, forked from this one.
OPENS = """
import os, sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
import numpy, pandas, plotly.graph_objects, pyarrow, torch, transformers
from transformers import AutoTokenizer, LlamaForCausalLM

folder, *groups = sys.argv[1:]
own = SourceFileLoader.get_code

def opened(names):
    renamed = set()

    def get_code(loader, module):
        if module.startswith("streamlit") and ".proto" not in module:
            text = Path(loader.path).read_text("utf-8")
            if found := [name for name in names if name in text]:
                renamed.update(found)
                for name in found:
                    text = text.replace(name, f"{name}_as_it_is_now")
                return loader.source_to_code(text, loader.path)
        return own(loader, module)

    SourceFileLoader.get_code = get_code
    import attnviz.serve.server
    from attnviz.serve import log_lines
    from streamlit.testing.v1 import AppTest
    log_lines.begin_logging()
    page = AppTest.from_file(str(Path(attnviz.serve.page_table.MAIN)), default_timeout=120).run()
    page.switch_page("../pages/explore/explore.py").run()
    (page.text_area or page.text_input)[0].set_value("A bird sang.").run()
    assert renamed == set(names), f"Streamlit has no {set(names) - renamed} any more: take it off this list"
    assert not page.exception and not page.error, (page.exception, page.error)
    assert [title.value for title in page.title] == ["Explore attention"], page.title

assert not [name for name in sys.modules if name.startswith(("streamlit", "attnviz"))]
for group in groups:
    if os.fork():
        os.wait()
        continue
    log = os.open(os.path.join(folder, group), os.O_CREAT | os.O_WRONLY)
    os.dup2(log, 1), os.dup2(log, 2)
    try:
        opened(group.split("+"))
        print("opened", flush=True)
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        os._exit(0)  # threads that load models need not come to their end
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what each of the apps has said, in a file of the names that are other ones there."""
    folder = tmp_path_factory.mktemp("renamed")
    env = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", OPENS, str(folder), *map("+".join, PRIVATE)]
    subprocess.run(command, env=env, cwd=ROOT, timeout=600, check=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("names", ["+".join(group) for group in PRIVATE])
def test_the_app_opens_explore_where_streamlit_has_renamed_them(names: str, said: Path) -> None:
    told = (said / names).read_text("utf-8")
    assert told.splitlines()[-1:] == ["opened"], told[-3000:]
