"""With torch and NumPy only: attention, any torch model and its live picture; the rest says what it needs."""

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import attnviz as av, torch
from torch import nn
q, k, v = (torch.randn(1, 2, 5, 4, generator=torch.Generator().manual_seed(seed)) for seed in range(3))
weights = av.attend(q, k, v).weights
assert torch.allclose(weights, torch.softmax(q @ k.mT / 2, -1), atol=1e-6)
model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 3).eval()
x = torch.randn(1, 6, 8, generator=torch.Generator().manual_seed(4))
trace = av.capture(model, x)
assert len(trace.layers) == 3
inner = model.layers[0].self_attn
_, theirs = inner(x, x, x, average_attn_weights=False)
print("off by", (trace[0].weights() - theirs).abs().max().item())
assert torch.allclose(trace[0].weights(), theirs, atol=1e-6)
view = av.show(trace, list("abcdef"), layer=1, head=0)
assert "<iframe" in view._repr_html_()
view.save("x.html"), view.save("x.csv")
assert '<html lang="zh"' in av.show(trace, list("abcdef"), language="zh").html, "its sentences are in the wheel"
import sys
print(sorted({"transformers", "streamlit", "plotly", "pandas", "safetensors"} & sys.modules.keys()))
"""


def test_attend_capture_and_show_need_torch_and_numpy_only(core):
    done = core.run(core.python, "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
    assert {file.name for file in core.away.iterdir()} >= {"x.html", "x.csv"}
    assert core.run(core.python, "-c", "import transformers").returncode != 0, "the environment is empty"


#: what is tried without an extra, and the extra that it asks for; all in one process, which imports torch once
LACKING = {
    "av.load('gpt2')": "models",
    "av.capture(model, x).save('trace')": "models",
    "av.capture(model, x).to_dataframe()": "notebook",
    "from attnviz.base.rasterised import render_png; render_png('<svg/>')": "notebook",
    "av.show(av.capture(model, x), list('abcd')).save('x.svg')": "notebook",
}
TRIES = """
import sys, traceback
import attnviz as av, torch
model, x = torch.nn.TransformerEncoderLayer(8, 2, batch_first=True).eval(), torch.randn(1, 4, 8)
for line in sys.argv[1:]:
    try:
        exec(line)
        print("it went well")
    except Exception as error:
        print(traceback.format_exception_only(error)[-1].strip())
"""


def test_what_is_missing_is_said_in_one_sentence_that_names_the_extra(core):
    done = core.run(core.python, "-c", TRIES, *LACKING)
    assert done.returncode == 0, done.stderr
    for said, extra in zip(done.stdout.strip().splitlines(), LACKING.values(), strict=True):
        assert said.startswith("attnviz.base.extras.ExtraMissing: ")
        assert said.endswith(f"is not installed: pip install 'attnviz[{extra}]' brings it")


def test_a_command_without_its_extra_says_so_and_fails(core):
    (core.away / "t.txt").write_text("A line.\n")
    lacking = {
        "app": [["serve"], [], ["figure", "masks", "-o", "x.svg"]],
        "models": [["heads", "gpt2", "t.txt"]],
    }
    for extra, lines in lacking.items():
        for done in core.commands(*lines):
            assert done.returncode == 1
            assert done.stderr.startswith("attnviz: ")
            assert len(done.stderr.strip().splitlines()) == 1
            assert f"'attnviz[{extra}]'" in done.stderr


def test_help_and_version_need_nothing(core):
    assert core.run(core.attnviz, "--version").stdout == core.run(core.python, "-m", "attnviz", "--version").stdout
    parts = ("serve", "figure", "heads", "models")
    whole, *each = core.commands(["--help"], *([part, "--help"] for part in parts))
    for part, told in zip(parts, each, strict=True):
        assert part in whole.stdout
        assert told.returncode == 0, told.stderr
        assert f"attnviz {part}" in told.stdout
