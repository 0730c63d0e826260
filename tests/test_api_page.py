"""docs/library/api.md says what the docstrings say, of every name that `import attnviz as av` offers."""

import builtins
import re

import attnviz
from scripts import api_page

PAGE = api_page.PAGE.read_text(encoding="utf-8")


def test_the_page_is_current():
    assert api_page.page() == PAGE, "python -m scripts.api_page writes it anew"


#: of Python, torch, NumPy, pandas and xarray, which a reader knows
OTHERS = {"Any", "Callable", "Collection", "DataArray", "DataFrame", "ForwardRef", "Iterable", "Iterator", "Literal"}
OTHERS |= {"Mapping", "Module", "NoneType", "Optional", "Path", "PathLike", "Sequence", "Set", "Tensor", "Union"}


def test_every_type_in_a_signature_is_explained():
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    names = set(re.findall(r"\b[A-Z][A-Za-z]+\b", re.sub(r'"[^"]*"|\'[^\']*\'|#.*', "", code)))
    known = {*api_page.TYPES, *dir(attnviz), *dir(builtins), *OTHERS}
    assert sorted(names - known) == []
