"""What is changed in Streamlit's script of Plotly before it is sent, by the app itself or by what stands before it.

Of Plotly's script, the largest of all, only the parts are sent that our charts are drawn with: `plotly_parts.py`. And
it begins with a comment that browsers know: each of its functions is going to be called, so that Chromium compiles them
while the script arrives, beside the page's own thread. Without it that thread reads the script again, function by
function, before the first chart: 200 ms.

And each of its charts asks `before_streamlit.js` for its turn to be drawn, so that the first is seen before the others.
"""

from __future__ import annotations

from attnviz.app.mends.streamlit_adapter import CHART_DRAWN
from attnviz.serve.plotly_parts import drawn_with

COMPILED_AT_ONCE = "PlotlyChart."  #: how the names of these scripts begin
COMPILE_AT_ONCE = b"//# allFunctionsCalledOnLoad\n"
#: The same step of a chart, after another one. Without the script that comes before Streamlit's it does not wait.
IN_TURN = b"then(()=>globalThis.attnvizChartsTurn?.(_.current))."


def as_sent(name: str, content: bytes) -> bytes:
    """What is sent of the front end's file of this name: all but the charts' script as it is."""
    if not (name.startswith(COMPILED_AT_ONCE) and name.endswith(".js")):
        return content
    return COMPILE_AT_ONCE + with_turns(drawn_with(content))


def with_turns(script: bytes) -> bytes:
    """The script in which a chart waits for its turn; as it is, where that place is not to be found."""
    if script.count(CHART_DRAWN) != 1:
        return script
    return script.replace(CHART_DRAWN, CHART_DRAWN.replace(b"then(", IN_TURN + b"then(", 1))
