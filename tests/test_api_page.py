"""docs/library/api.md says what the docstrings say, of every name that `import attnviz as av` offers."""

import inspect
import re

import pytest

import attnviz
from scripts import api_page

PAGE = api_page.PAGE.read_text(encoding="utf-8")


def test_the_page_is_current():
    assert api_page.page() == PAGE, "python -m scripts.api_page writes it anew"


def test_every_name_is_on_it_once_and_the_contents_lead_to_it():
    assert sorted(re.findall(r"^## av\.(\w+)$", PAGE, re.M)) == sorted(attnviz.__all__)
    assert sorted(re.findall(r"^- \[`av\.(\w+)`\]\(#av\w+\)", PAGE, re.M)) == sorted(attnviz.__all__)


@pytest.mark.parametrize("name", attnviz.__all__)
def test_an_entry_has_every_argument_in_valid_python(name):
    entry = PAGE.split(f"## av.{name}\n")[1]
    signature = re.search(r"```python\nav\.\w+(\(.*?)\n```", entry, re.S)[1]
    given = dict(inspect.signature(getattr(attnviz, name)).parameters)
    defined: dict[str, object] = {}
    exec(f"from __future__ import annotations\ndef f{signature}: ...", defined)
    assert list(inspect.signature(defined["f"]).parameters) == list(given)
