"""The twenty questions of the benchmark have one answer with both tools, in the lines that docs names."""

from pathlib import Path

import pytest
import torch

from benchmarks import attribution
from benchmarks.attribution import LENS, OURS
from tests.notebook.transformer_lens_side import transformer_lens

DOCS = Path(__file__).parents[2] / "docs" / "developing" / "benchmarks.md"


@pytest.mark.slow
def test_both_tools_find_the_same(tmp_path):
    model, prompts = attribution.gpt2(), attribution.prompts()
    held = attribution.bridge(model, tmp_path)
    for question in attribution.questions():
        ours, theirs = (
            attribution.program_of(name, question)(holder, *prompts).detach().nan_to_num(neginf=0.0)
            for name, holder in ((OURS, model), (LENS, held))
        )
        torch.testing.assert_close(theirs, ours, atol=2e-4, rtol=1e-4, check_dtype=False, msg=question)
        assert float(ours.abs().max()) > 0.01, question


def test_the_lines_are_those_of_the_docs():
    transformer_lens()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in DOCS.read_text("utf-8").splitlines()]
    said = {row[0]: row[1:3] for row in rows if len(row) > 4}
    assert len(attribution.questions()) == 20
    for question in attribution.questions():
        lines = [str(attribution.lines(attribution.program_of(tool, question))) for tool in (OURS, LENS)]
        assert said[question.replace("_s_", "'s ").replace("_", " ")] == lines, question
