"""What the server imports before anybody can come."""

import subprocess
import sys

from attnviz.serve import page_table, server
from tests.browser.conftest import ROOT

#: One visitor's thread is held in the middle of pandas, as Streamlit would import it, while another draws a chart.
DRAWN_MEANWHILE = """
import importlib, sys, threading
import numpy as np
import attnviz.serve.server
from attnviz.figures import heatmap
begun, drawn = threading.Event(), threading.Event()

class Held:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("pandas.core"):
            begun.set()
            drawn.wait(2)

def visit():
    importlib.import_module("pandas")
    begun.set()

sys.meta_path.insert(0, Held())
visitor = threading.Thread(target=visit, daemon=True)
visitor.start()
begun.wait()
heatmap.matrix(np.eye(1), ["a"], ["b"]).to_json()
drawn.set()
visitor.join()
print("drawn")
"""


def test_a_chart_is_drawn_while_another_visitor_makes_streamlit_import_pandas():
    done = subprocess.run([sys.executable, "-c", DRAWN_MEANWHILE], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "drawn\n", done.stderr


def test_a_first_visitor_imports_no_page():
    assert {page.draw for page in page_table.PAGES} < set(server.WHOLE)
    assert set(server.WHOLE) < set(sys.modules)
