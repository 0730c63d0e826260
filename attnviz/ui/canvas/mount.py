"""Registers each component once a process, from the small files beside this one."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

HERE = Path(__file__).parent

#: Which files make up a component: JavaScript in reading order, then style sheets.
PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "overview": (("blob", "colour", "bus", "stage", "axis", "overview_picture", "overview"), ("base", "overview")),
    "head": (
        ("blob", "colour", "bus", "stage", "axis", "window", "heatmap_picture", "heatmap", "lines", "chips", "head"),
        ("base", "head"),
    ),
    "mask": (("blob", "colour", "bus", "stage", "axis", "mask_picture", "mask"), ("base", "mask")),
}


@cache
def source(name: str, suffix: str) -> str:
    """The component's JavaScript or CSS as one string: files joined, comments and indents left out."""
    scripts, sheets = PARTS[name]
    files = scripts if suffix == "js" else sheets
    text = "\n".join((HERE / f"{file}.{suffix}").read_text(encoding="utf-8") for file in files)
    text = re.sub(r"^\s*(//.*|/\*[^\n]*\*/\s*)$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n\s*", "\n", text).strip() + "\n"


#: Streamlit sends a component's script anew with every message: packed it is a third as long, and unpacked once.
LOADER = """
const packed = "%s";
const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
const address = URL.createObjectURL(new Blob([await new Response(stream).text()], { type: "text/javascript" }));
const script = await import(address);
export default (component) => script.default(component);
"""


def packed(name: str) -> str:
    """A script that unpacks and runs the component's own."""
    code = source(name, "js") + f"//# sourceURL=attnviz-{name}.js\n"
    return LOADER % base64.b64encode(zlib.compress(code.encode(), 9)).decode()


@cache
def component(name: str) -> Callable[..., Any]:
    """What mounts the component `name`: "overview", "head" or "mask"."""
    return st.components.v2.component(
        f"attnviz_{name}",
        html='<div class="av-root"></div>',
        css=source(name, "css"),
        js=packed(name),
        isolate_styles=True,
    )
