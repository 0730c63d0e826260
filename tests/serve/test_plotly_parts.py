"""Of Plotly's script only what our charts call is sent, nothing of that is missing, and no chart of ours is another."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from attnviz.app.mends.streamlit_adapter import FRONTEND
from attnviz.serve import plotly_parts
from attnviz.serve.plotly_parts import KINDS, drawn_with, less

ROOT = Path(__file__).parents[2]
WHOLE = next((FRONTEND / "static" / "js").glob("PlotlyChart.*.js")).read_bytes()
ESLINT = ROOT / "node_modules/eslint/lib/api.js"
NODE = shutil.which("node", path=str(Path(sys.executable).parent)) or shutil.which("node")
#: Prints each name that a script uses and nobody declares.
UNDECLARED = """
const { Linter } = require(process.argv[1]);
const rules = [{ languageOptions: { ecmaVersion: "latest", sourceType: "module" }, rules: { "no-undef": "error" },
    linterOptions: { noInlineConfig: true } }];
const found = new Linter().verify(require("fs").readFileSync(0, "utf8"), rules, { filename: "script.js" });
for (const { fatal, message } of found) {
    if (fatal) throw new Error(message);
    console.log(message.split("'")[1]);
}
"""
FAKE = (
    b'import"./x.js";var a=0,b=_({"src/core.js"(e,t){t.exports=c()}}),c=_({"src/axes.js"(e){e.ticks=function(){}}}),'
    b'd=_({"lib/bar.js"(e,t){t.exports=b()}}),e=_({"lib/pie.js"(e,t){t.exports=f()}}),f=_({"src/pie.js"(e){}}),'
    b'g=_({"lib/heatmap.js"(e,t){h()}}),h=_({"src/heatmap.js"(e){}}),i=_({"lib/calendars.js"(e){}});'
    b'return _({"lib/index.js"(e,t){var n=b();n.register([d(),e(),g(),i()]),t.exports=n}})()'
)


def undeclared(script: bytes) -> set[str]:
    done = subprocess.run([str(NODE), "-e", UNDECLARED, str(ESLINT)], input=script, capture_output=True, check=True)
    return set(done.stdout.decode().split())


def test_what_is_called_from_the_kinds_that_we_draw_stays_and_nothing_else():
    assert less(FAKE) == (
        b'import"./x.js";var a=0,'
        b'b=_({"src/core.js"(e,t){t.exports=c()}}),c=_({"src/axes.js"(e){e.ticks=function(){}}}),'
        b'd=_({"lib/bar.js"(e,t){t.exports=b()}}),g=_({"lib/heatmap.js"(e,t){h()}}),h=_({"src/heatmap.js"(e){}});'
        b'return _({"lib/index.js"(e,t){var n=b();n.register([d(),g()]),t.exports=n}})()'
    )


def test_a_script_that_is_made_otherwise_stays_as_it_is():
    for script in (b"", b"nothing of Plotly", FAKE.replace(b"lib/heatmap", b"lib/hot"), FAKE.replace(b"b=_(", b"z=_(")):
        assert less(script) == script


def test_a_script_that_nobody_tried_stays_as_it_is():
    assert drawn_with(FAKE) == FAKE
    assert drawn_with(WHOLE + b"\n") == WHOLE + b"\n"


def test_less_than_a_quarter_is_sent_and_it_is_found_once(monkeypatch):
    small = drawn_with(WHOLE)
    assert len(small) < len(WHOLE) / 4
    monkeypatch.setattr(plotly_parts, "less", lambda _: pytest.fail("taken apart once more"))
    assert drawn_with(WHOLE) is small


@pytest.mark.skipif(
    NODE is None or not ESLINT.exists(), reason="no Node or no ESLint: `make install-dev js` fetches both"
)
def test_nothing_that_is_sent_calls_what_is_not():
    missing = undeclared(drawn_with(WHOLE)) - undeclared(WHOLE)
    whole = plotly_parts._ALL.search(WHOLE)
    assert whole is not None
    parts = plotly_parts._parts(WHOLE, whole.start())
    assert all(parts[name.encode()].path.startswith(plotly_parts.ELSEWHERE) for name in missing), missing


def test_every_chart_of_ours_is_of_a_kind_that_is_sent():
    drawn = {"lib/scatter.js"}  # in Plotly's core
    for file in (ROOT / "attnviz").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "go":
                drawn.add(f"lib/{node.attr.lower()}.js")
    assert drawn - {"lib/figure.js"} == {"lib/scatter.js", *KINDS}
