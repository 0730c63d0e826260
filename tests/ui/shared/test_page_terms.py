"""The terms that a page names under its heading are in the glossary."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from attnviz.ui import pages
from attnviz.ui.shared.glossary_terms import TERMS


@pytest.mark.parametrize("file", sorted(Path(pages.__file__).parent.glob("[!_]*.py")), ids=lambda file: file.stem)
def test_a_page_names_terms_that_are_explained(file):
    calls = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)]
    for call in calls:
        if getattr(call.func, "id", "") == "page_heading" and len(call.args) > 2:
            assert set(ast.literal_eval(call.args[2])) <= set(TERMS)
