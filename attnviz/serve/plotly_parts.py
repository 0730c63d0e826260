"""The parts of Plotly that this app's charts draw with, cut out of the script that Streamlit sends with all of Plotly.

All of it is 4.7 MB: maps with an engine and a worker of their own, plots in space, tables of dates. A browser reads and
compiles every byte of them, runs the beginning of each, and only then draws the first chart. Ours have lines, bars and
heatmaps, which need less than a quarter of it.

Plotly's parts stand in that script one after the other, each as `name=wrapper({"its/path.js"(...){...}})`, and one
calls another by its name. What stays is Plotly's core, the kinds of charts that we draw, and all that these call.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from attnviz.app.mends.streamlit_adapter import PLOTLYS_TRIED

#: The kinds of charts that stay, by the names of their parts; lines and points belong to Plotly's core.
KINDS = ("lib/bar.js", "lib/heatmap.js")
ELSEWHERE = (b"node_modules/maplibre-gl/",)  #: maps: a name of theirs means something else where we need it
_PART = re.compile(rb'(?<=[,\s])([\w$]+)=([\w$])\(\{"([^"]+\.(?:[cm]?js|css))"\([\w$,]*\)\{')
_ALL = re.compile(rb';return \w\(\{"lib/index\.js"\(\w,\w\)\{var (\w)=([\w$]+)\(\);\1\.register\(\[([\w$(),]+)\]\)')
_CALL = re.compile(rb"(?<![\w$.])([\w$]+)\(\)")


@dataclass(frozen=True)
class _Part:
    path: bytes
    start: int
    end: int  #: where the next part starts


def drawn_with(script: bytes) -> bytes:
    """The script with these parts alone. One that was not tried, of another Streamlit, is as it is: only slower."""
    name = hashlib.sha256(script).hexdigest()
    if name not in PLOTLYS_TRIED:
        return script
    if name not in _LESS:
        _LESS[name] = less(script)
    return _LESS[name]


def less(script: bytes) -> bytes:
    """The script without the parts that no chart of ours calls; as it is, where its parts are not to be found."""
    whole = _ALL.search(script)
    if whole is None:
        return script
    parts = _parts(script, whole.start())
    core, listed = whole[2], [name for name in _CALL.findall(whole[3]) if name in parts]
    kinds = [name for name in listed if parts[name].path.decode() in KINDS]
    if core not in parts or len(kinds) != len(KINDS):
        return script
    needed = _called_from([core, *kinds], parts, script)
    kept, place = [], 0
    for name, part in parts.items():
        if name not in needed:
            kept.append(script[place : part.start])
            place = part.end
    kept.append(script[place : whole.start()])
    called = b",".join(name + b"()" for name in kinds)
    return b"".join(kept).removesuffix(b",") + script[whole.start() : whole.start(3)] + called + script[whole.end(3) :]


def _parts(script: bytes, end: int) -> dict[bytes, _Part]:
    """All parts before `end`, by what they are called, in the order in which they stand."""
    found = list(_PART.finditer(script, 0, end))
    ends = [after.start() for after in found[1:]] + [end]
    return {each[1]: _Part(each[3], each.start(), after) for each, after in zip(found, ends, strict=True)}


def _called_from(names: list[bytes], parts: dict[bytes, _Part], script: bytes) -> set[bytes]:
    """These parts and all that they call."""
    seen: set[bytes] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        part = parts[name]
        if name in seen or part.path.startswith(ELSEWHERE):
            continue
        seen.add(name)
        todo += {called for called in _CALL.findall(script, part.start, part.end) if called in parts}
    return seen


_LESS: dict[str, bytes] = {}  #: by the hash of the whole: to take it apart takes a quarter of a second
