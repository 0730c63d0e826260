"""What a page shows, as facts that stay equal under new wording and order, and change when a link restores wrongly.

Kept of every page: the value of each control (by its name in the link where it has one), what each
canvas was sent, the numbers of each chart and table, the numbers and the quoted tokens in sentences,
how many red sentences there are, and which calls the code on the page makes. Not kept: words, places,
colours, internal keys; and

- rounding noise (numbers below 1e-5 in scientific notation): it differs between processors;
- help texts, menus that are closed, buttons that save something.
"""

import html
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.links import canvases
from tests.links.digest import array_of, brief, digest
from tests.links.printed import numbers

Record = dict[str, Any]
TEXTS = ("markdown", "caption", "info", "warning", "error", "success", "latex", "title", "header", "subheader")
CONTROLS = (
    "text_input", "text_area", "number_input", "slider", "select_slider", "selectbox", "multiselect", "radio",
    "toggle", "checkbox", "button_group",
)  # fmt: skip
#: The calls that the code on a page is searched for.
CALLS = (
    "scaled_dot_product_attention", "MultiheadAttention", "flex_attention", "create_block_mask", "is_causal=True",
    "attn_mask=", "from_pretrained", "DynamicCache", "softmax", "masked_fill", "enable_gqa",
)  # fmt: skip
QUOTED = re.compile(r"“([^”\s]{1,30})”|(?<!\*)\*([^*\s]{1,30})\*(?!\*)")


def what_it_shows(page: Any, parameters: frozenset[str], hidden: dict[str, str] | None = None) -> Record:
    """The facts of a page that was opened; `parameters` are the names that links know.

    `hidden`: texts, such as a temporary folder's path, and what replaces them wherever they are shown.
    """
    elements = [*_below(page.main), *_below(page.sidebar)]
    named, others = _controls(elements, parameters, hidden or {})
    texts = [_without(text, hidden or {}) for text in _texts(elements)]
    blobs = [bytes(e.proto.bytes) for e in elements if e.type == "bidi_component" and e.proto.bytes]
    texts += [text for blob in blobs for text in (canvases.title(blob), canvases.sentence(blob))]
    for blob in blobs:
        named |= canvases.controls(blob)
    shown = [facts(blob) for blob in blobs for facts in (canvases.facts, canvases.painted)]
    code = "\n".join(e.value for e in elements if e.type == "code")
    return {
        "controls": named,
        "other controls": sorted(others, key=str),
        "canvases": [facts for facts in shown if facts is not None],
        "charts": [chart(e.proto.spec) for e in elements if e.type == "plotly_chart"],
        "tables": [table(e.value) for e in elements if e.type in ("dataframe", "arrow_data_frame", "table")],
        "numbers": sorted({n for text in texts for n in numbers(text)}),
        "tokens": sorted({a or b for text in texts for a, b in QUOTED.findall(text)}),
        "red": sum(e.type == "error" for e in elements) + len(page.exception),
        "calls": [call for call in CALLS if call in code],
    }


def _below(block: Any) -> Iterator[Any]:
    """Everything on the page, in order."""
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from _below(child)


def _controls(
    elements: list[Any], parameters: frozenset[str], hidden: dict[str, str]
) -> tuple[dict[str, Any], list[Any]]:
    """Values by name in the link, and [kind, value] of each control that no link names."""
    named: dict[str, Any] = {}
    others: list[Any] = []
    for element in elements:
        name = name_in_link(element)
        if element.type == "expander" and name in parameters:
            named[name] = bool(element.proto.expanded)
        elif element.type in CONTROLS:
            value = _plain(element.value, hidden)
            if name in parameters:
                named[name] = value
            else:
                others.append([element.type, value])
    return named, others


def name_in_link(element: Any) -> str:
    """The control's name in the link: the parameter that it is bound to, or else its key."""
    bound = getattr(getattr(element, "proto", None), "query_param_key", "")
    return str(bound or getattr(element, "key", "") or "")


def _plain(value: Any, hidden: dict[str, str]) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(each, hidden) for each in value]
    if isinstance(value, float):
        return brief(value)
    return _without(value, hidden) if isinstance(value, str) else value


def _without(text: str, hidden: dict[str, str]) -> str:
    for real, name in hidden.items():
        text = text.replace(real, name)
    return text


def _texts(elements: list[Any]) -> Iterator[str]:
    """Every text on the page that a visitor reads."""
    for element in elements:
        if element.type in TEXTS:
            yield html.unescape(str(element.value))
        elif element.type == "metric":
            yield html.unescape(f"{element.value} {element.delta}")
        elif element.type in ("button", "expander"):
            yield html.unescape(str(element.label))
        elif element.type == "plotly_chart":
            layout = json.loads(element.proto.spec).get("layout", {})
            yield from (html.unescape(str(note.get("text", ""))) for note in layout.get("annotations", ()))


def chart(spec: str) -> Record:
    """The numbers of a Plotly figure: each trace's sides, the ends of colour scales, lines drawn across."""
    figure = json.loads(spec)
    layout = figure.get("layout", {})
    axes = [layout[name] for name in sorted(layout) if name.startswith("coloraxis")]
    lines = [[brief(s[end]) for end in ("x0", "x1", "y0", "y1") if _is_number(s.get(end))] for s in _shapes(layout)]
    return {
        "traces": [_trace(trace) for trace in figure.get("data", ())],
        "scales": [[brief(a[end]) for end in ("cmin", "cmax") if _is_number(a.get(end))] for a in axes],
        "lines": lines,
    }


def _shapes(layout: dict[str, Any]) -> list[dict[str, Any]]:
    return list(layout.get("shapes", ()))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _trace(trace: dict[str, Any]) -> Record:
    facts: Record = {"type": trace.get("type", "scatter")}
    for side in ("x", "y", "z", "values", "r", "base", "width"):
        if trace.get(side) is not None:
            found = array_of(trace[side])
            facts[side] = {"words": len(trace[side])} if found is None else digest(found)
    return facts | {end: brief(trace[end]) for end in ("zmin", "zmax", "cmin", "cmax") if _is_number(trace.get(end))}


def table(frame: Any) -> Record:
    """A table's shape and every number in it, including numbers inside text."""
    cells = [cell for name in frame.columns for cell in frame[name].tolist()]
    found: list[float] = []
    for cell in cells:
        if _is_number(cell):
            found.append(float(cell))
        elif isinstance(cell, str):
            found.extend(numbers(html.unescape(cell)))
    return {"shape": list(frame.shape), "numbers": digest(np.array(found))}
