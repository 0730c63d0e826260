"""docs/add_a_page.md: the app with the page built from that text, opened, moved, and held to the import rules."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "developing" / "add_a_page.md").read_text("utf-8")
FILES = dict(re.findall(r"`(attnviz/pages/keys/[\w/]+\.py)`\n\n```python\n(.*?)```", TEXT, re.DOTALL))
OPENED = """
from streamlit.testing.v1 import AppTest

app = AppTest.from_file("attnviz/serve/main.py", default_timeout=100)
app.switch_page("../pages/keys/keys.py")
app.query_params["keys_count"] = "100"
app.run()
assert not app.exception, app.exception[0].value
assert [each.value for each in app.title] == ["How large is the largest score?"]
assert app.slider(key="keys_count").value == 100
assert len(app.get("plotly_chart")) == 1
before = app.markdown[-1].value
app.slider(key="keys_count").set_value(2).run()
assert not app.exception
assert "The best of 2 keys scores" in " ".join(each.value for each in app.markdown), [m.value for m in app.markdown]
"""


@pytest.mark.slow
def test_the_page_of_the_document_is_one_folder_and_one_line(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "attnviz", tmp_path / "attnviz", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert len(FILES) == 6
    for name, program in FILES.items():
        file = tmp_path / name
        for folder in (file.parent, file.parents[1]):
            folder.mkdir(exist_ok=True)
            if folder.name != "pages":
                (folder / "__init__.py").write_text('"""Scores by chance."""\n', "utf-8")
        file.write_text(program, "utf-8")
    table = tmp_path / "attnviz/serve/page_table.py"
    (line,) = re.findall(r"^    (\"keys\",)$", TEXT, re.MULTILINE)
    table.write_text(table.read_text("utf-8").replace('    "glossary",\n', f'    "glossary",\n    {line}\n'), "utf-8")
    opened = subprocess.run([sys.executable, "-c", OPENED], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert opened.returncode == 0, opened.stderr[-3000:]
    rules = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    linted = subprocess.run([sys.executable, "-c", rules], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "unmatched" not in linted.stdout.lower()
    broken = re.findall(r"^(.+) BROKEN$", linted.stdout, re.MULTILINE)
    assert broken == [], linted.stdout[-3000:]
