"""The twenty questions of the benchmark have one answer with every tool that is here, in the lines that docs names."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from benchmarks import attribution
from benchmarks.attribution import LENS, NNSIGHT, OURS
from tests.notebook.transformer_lens_side import transformer_lens

DOCS = Path(__file__).parents[2] / "docs" / "benchmarks.md"


@pytest.fixture(scope="module")
def model():
    return attribution.gpt2()


@pytest.mark.slow
@pytest.mark.parametrize("tool, maker", [(LENS, attribution.bridge), (NNSIGHT, attribution.in_nnsight)])
def test_every_tool_finds_the_same(model, tool, maker, tmp_path):
    if not find_spec(tool):
        pytest.skip(f"{tool} is not installed here")
    held, prompts = maker(model, tmp_path), attribution.prompts()
    for question in attribution.questions():
        ours, theirs = (
            attribution.program_of(name, question)(holder, *prompts).detach().nan_to_num(neginf=0.0)
            for name, holder in ((OURS, model), (tool, held))
        )
        torch.testing.assert_close(theirs, ours, atol=2e-4, rtol=1e-4, check_dtype=False, msg=question)
        assert float(ours.abs().max()) > 0.01, question


def test_the_lines_are_those_of_the_docs():
    transformer_lens()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in DOCS.read_text("utf-8").splitlines()]
    said = {row[0]: row[1:4] for row in rows if len(row) > 4}
    assert len(attribution.questions()) == 20
    for question in attribution.questions():
        row = said[question.replace("_s_", "'s ").replace("_", " ")]
        if row[2]:
            wanted = [str(attribution.lines(attribution.program_of(tool, question))) for tool in (OURS, LENS, NNSIGHT)]
            assert row == wanted, question
