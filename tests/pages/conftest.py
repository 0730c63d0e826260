"""Pages are driven through the app's own main script, as a visitor reaches them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]


def open_page(name: str = "home", **link: str) -> Any:
    """Open a page with what its link holds, and run it."""
    app = AppTest.from_file(str(ROOT / "attnviz/ui/web/main.py"), default_timeout=120)
    if name != "home":
        app.switch_page(f"../../../pages/{name}.py")
    for key, value in link.items():
        app.query_params[key] = value
    return app.run()


@pytest.fixture
def visit() -> Callable[..., Any]:
    """`visit("explore", text="...")` opens a page with what its link holds, and runs it."""
    return open_page
