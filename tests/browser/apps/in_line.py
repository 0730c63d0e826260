"""A page whose work waits in a line: it goes on until the file that the link names is there.

What tests/browser/test_waiting_in_line.py drives: ?until=PATH
"""

import time
from pathlib import Path

import streamlit as st

from attnviz.app.cache.waiting_line import WaitingLine, wait_in_line
from attnviz.app.workarounds.streamlit_adapter import leave_if_gone


@st.cache_resource
def line() -> WaitingLine:
    return WaitingLine(1, 9)


end = Path(st.query_params["until"])
with wait_in_line(line()):
    st.write("at work")
    while not end.exists():
        leave_if_gone()
        time.sleep(0.05)
st.write("done")
