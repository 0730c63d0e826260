"""The files in the top folder's pages/ call the package's pages and add nothing."""

import ast
from pathlib import Path

from streamlit.testing.v1 import AppTest

from attnviz.serve.page_table import PAGES
from tests.pages.conftest import canvases_on

TOP = Path(__file__).parents[2] / "pages"


def test_each_page_of_the_package_has_a_file_that_only_calls_it() -> None:
    assert {path.stem for path in TOP.glob("*.py")} == {row.name for row in PAGES}
    for path in TOP.glob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        assert ast.get_docstring(tree)
        said = [ast.unparse(node) for node in tree.body[1:]]
        assert said == [f"from attnviz.pages.{path.stem}.{path.stem} import page", "page()"]


def test_such_a_file_draws_what_the_app_shows_at_that_address(visit):
    alone = AppTest.from_file(str(TOP / "explore.py"), default_timeout=120).run()
    assert not alone.exception
    in_the_app = visit("explore")
    for kind in ("title", "subheader", "caption"):
        assert [each.value for each in alone.main.get(kind)] == [each.value for each in in_the_app.main.get(kind)]
    assert len(canvases_on(alone)) == len(canvases_on(in_the_app)) > 0
