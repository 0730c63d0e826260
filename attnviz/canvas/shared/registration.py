"""The one way to register a component: a bundle made from src/ by scripts/bundle.mjs, and a style sheet beside it.

Installed, Streamlit serves the script by its address (`attnviz/pyproject.toml` declares the folder). A clone that was
never installed sends the same bundle as text with every message; the page's content security policy is then wider.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from streamlit.errors import StreamlitAPIException

BUNDLES = Path(__file__).parents[1] / "bundles"
NAMES = tuple(sorted(script.stem for script in BUNDLES.glob("*.js")))


def component(name: str) -> Callable[..., Any]:
    """What mounts the component `name`, one of NAMES."""
    return _registered(name)[0]


def served_by_address() -> bool:
    """Whether Streamlit serves scripts by address; asked while Streamlit runs, which looks for them as it starts."""
    return _registered(NAMES[0])[1]


@cache
def _registered(name: str) -> tuple[Callable[..., Any], bool]:
    try:
        return _register(name, f"{name}.js"), True
    except StreamlitAPIException:
        return _register(name, (BUNDLES / f"{name}.js").read_text(encoding="utf-8")), False


def _register(name: str, script: str) -> Callable[..., Any]:
    return st.components.v2.component(
        f"attnviz.{name}",
        html='<div class="av-root"></div>',
        css=(BUNDLES / f"{name}.css").read_text(encoding="utf-8"),
        js=script,
        isolate_styles=True,
    )


_PAGE = "_page_path"


def remember_page(path: str) -> None:
    """Say which page runs ("" is the start page); the main script does, before it runs it."""
    st.session_state[_PAGE] = path


def app_root() -> str:
    """The path of the app's root, with a slash at its end."""
    path = urlsplit(st.context.url or "").path.rstrip("/")
    page = st.session_state.get(_PAGE)
    return (path.removesuffix(f"/{page}") if page else path) + "/"
