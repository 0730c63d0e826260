"""What a canvas was sent, read without the app's own code: the heads shown, the pins, and the numbers drawn.

A canvas gets one blob: the length of its header (u32), the header as JSON, then a payload. This is
the one place that knows the names in the headers; its facts keep their own names when those change.
"""

import base64
import json
import re
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.links import raw_head
from tests.links.digest import brief, digest

Facts = dict[str, Any]
MASKED_TILE, MASKED_CELL = 255, 65535


def unblob(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The header (decoded JSON) and the payload (bytes) of a blob."""
    end = 4 + int.from_bytes(data[:3], "little")  # the fourth byte is a version, 0 in older blobs
    return json.loads(data[4:end]), data[end:]


def facts(data: bytes) -> Facts | None:
    """What this canvas shows; None for a canvas that shows no numbers of its own."""
    header, payload = unblob(data)
    if "heads" in header and "order" in header:
        return _all_heads(header, zlib.decompress(payload))
    if "signed" in header:
        return _one_head(header, head_values(header, payload))
    if "label" in header:
        return _mask(header, zlib.decompress(payload))
    if "pieces" in header:
        sent = {name: header[name] for name in ("at", "silenced", "open", "tokens", "ids", "steps")}
        curves = {name: digest(header["curves"][name]) for name in ("losses", "previous", "induction", "without")}
        return {"canvas": "training", **sent, **curves, "numbers": digest(np.frombuffer(payload, "<f2"))}
    if "steps" in header and "prompt" in header:
        return _film(header, payload)
    if "groups" in header:
        bars = [digest([bar["bytes"] for bar in group["bars"]]) for group in header["groups"]]
        return {"canvas": "growth", "tokens": digest(header["tokens"]), "bars": bars}
    if "turns" in header:
        turned = {name: digest(header[name]) for name in ("turns", "q", "k")}
        return {"canvas": "circle", "at": header["at"], **turned}
    if "steps" in header:
        return {"canvas": "steps", "steps": [step["id"] for step in header["steps"]], "current": header["current"]}
    if "boards" in header:
        return _board(header)
    if "panels" in header:
        return _softmax(header, payload)
    if "moved" in header:
        kept = digest(np.frombuffer(payload[header["tokens"] ** 2 :], "<f4"))
        return {"canvas": "tiles", "at": header["at"], "moved": digest(header["moved"]), "kept": kept}
    if "grid" in header and "special" in header:
        return _picture(header, payload)
    return None


def _film(header: dict[str, Any], payload: bytes) -> Facts:
    """A head that decodes token by token; how long each step took is left out."""
    counted = [[step["context"], *step["flops"], *step["layer_bytes"]] for step in header["steps"]]
    film = digest(np.frombuffer(payload, "<f4"))
    return {"canvas": "film", "labels": header["labels"], "counted": digest(counted), "film": film}


def _picture(header: dict[str, Any], payload: bytes) -> Facts:
    """A picture with its heads: what is chosen, and of all heads the rows that the small pictures show."""
    parts, state = header["parts"], header["state"]
    codes = np.frombuffer(zlib.decompress(payload[parts["picture"] :])[: parts["maps"]], np.uint8).astype(float)
    return {
        "canvas": "picture",
        "patches": [header["grid"]["rows"], header["grid"]["columns"], header["grid"]["first"]],
        "heads": header["heads"],
        "words": header["words"],
        "windows": header["windows"],
        "shown": [state["layer"], state["head"], state["shows"]],
        "pins": state["pins"],
        "hidden": state["hidden"],
        "silenced": state["silenced"],
        "factor": state["factor"],
        "ordered": header["ordered"],
        "maps": digest((codes / 254) ** 2),
    }


def title(data: bytes) -> str:
    """The title above a canvas, empty where it has none."""
    return str(unblob(data)[0].get("title") or "")


def _all_heads(header: dict[str, Any], payload: bytes) -> Facts:
    codes = np.frombuffer(payload, np.uint8).astype(float)
    tiles = np.where(codes == MASKED_TILE, np.nan, (codes / 254) ** 2)
    measure = header["measure"]
    return {
        "canvas": "all heads",
        "heads": header["heads"],
        "key and value heads": header["kv"],
        "order": header["order"],
        "paler": header["dim"],
        "measure": None if measure is None else digest([np.nan if v is None else v for v in measure]),
        "tokens": header["q"],
        "keys": header["k"],
        "tiles": digest(tiles.reshape(-1, *header["shape"])),
        "square root": header["scale"]["root"],
    }


def head_values(header: dict[str, Any], payload: bytes) -> NDArray[np.float64]:
    """The matrix that a large head draws, NaN where masked."""
    if header["raw"] is not None:
        return raw_head.values_on_show(header, payload)
    planes = zlib.decompress(payload)
    half = len(planes) // 2
    high, low = np.frombuffer(planes[:half], np.uint8), np.frombuffer(planes[half:], np.uint8)
    codes = (high.astype(np.uint16) << 8 | low).reshape(header["shape"])
    return _decoded(codes, header["top"], header["signed"])


def sentence(data: bytes) -> str:
    """The sentence that stands below a large head, empty where there is none."""
    header, payload = unblob(data)
    if header.get("sentence") is None:
        return ""
    return raw_head.sentence(header, head_values(header, payload))


def controls(data: bytes) -> Facts:
    """The values of controls that stand on a canvas, by the names that links have for them."""
    header, _payload = unblob(data)
    edit = header.get("edit")
    if edit is None:
        return {}
    if header.get("group") == "home":
        return {"causal": edit["mask"] != "none", "scaled": edit["scale"] != "none"}
    named = {"mask": edit["mask"], "scale": edit["scale"], "where": edit["where"], "hide": edit["hidden"]}
    window = {"window": edit["window"]} if edit["mask"] == "window" else {}
    return named | window | ({"factor": edit["factor"]} if edit["scale"] == "factor" else {})


def painted(data: bytes) -> Facts | None:
    """The mask that is painted on a large head; None where none is."""
    header, _payload = unblob(data)
    edit = header.get("edit")
    if edit is None or edit["mask"] != "painted":
        return None
    return _mask(header, base64.b64decode(edit["painted"]))


def _one_head(header: dict[str, Any], values: NDArray[np.float64]) -> Facts:
    scale = header["scale"]
    return {
        "canvas": "one head",
        "layer and head": header["tile"],
        "meaning": header["kind"],
        "tokens": header["q"],
        "keys": header["k"],
        "parted at": header["segments"],
        "pins": header["pins"],
        "scale": [brief(scale["top"]), scale["root"]],
        "lines": header["lines"],
        "values": digest(values),
    }


def _decoded(codes: NDArray[np.uint16], top: float, signed: bool) -> NDArray[np.float64]:
    """16-bit codes on a square-root scale, as the browser reads them."""
    if signed:
        root = (codes.astype(np.float64) - 32767) / 32767
        values = np.sign(root) * root**2 * top
    else:
        values = (codes.astype(np.float64) / 65534) ** 2 * top
    return np.where(codes == MASKED_CELL, np.nan, values)


def _mask(header: dict[str, Any], payload: bytes) -> Facts:
    rows, cols = header["shape"]
    bits = np.unpackbits(np.frombuffer(payload, np.uint8), count=rows * cols).reshape(rows, cols)
    return {
        "canvas": "mask",
        "tokens": header["q"],
        "keys": header["k"],
        "allowed in each row": bits.sum(1).tolist(),
        "allowed in each column": bits.sum(0).tolist(),
        "allowed": digest(bits),
    }


def _board(header: dict[str, Any]) -> Facts:
    tabs = {tab["name"]: tab["current"] for tab in header["tabs"]}
    return {
        "canvas": "board",
        "step": header["step"],
        "chosen": [header["part"], header["row"], header["col"]],
        "tabs": tabs,
        "sheets": [
            [{"rows": s["rows"], "cols": s["cols"], "numbers": digest(_sheet(s["text"]))} for s in board["sheets"]]
            for board in header["boards"]
        ],
    }


def _sheet(text: list[list[str]]) -> list[list[float]]:
    """The numbers written in the cells; a cell that holds none is not a number."""
    return [[(_numbers(cell) or [np.nan])[0] for cell in row] for row in text]


def _softmax(header: dict[str, Any], payload: bytes) -> Facts:
    parameter = header["parameter"]
    scores = np.frombuffer(payload, "<f4") if header["scores"] is None else header["scores"]
    return {
        "canvas": "softmax",
        "d_k": digest(header["d_k"]),
        "at": header["at"],
        "keys": header["n"],
        "ways": [panel["kind"] for panel in header["panels"]],
        "parameter": None if parameter is None else [parameter["name"], parameter["value"]],
        "scores": digest(scores),
    }


def _numbers(text: str) -> list[float]:
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-"))]
