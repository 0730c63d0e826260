"""What is in an SVG that was saved: its texts, the colours of its cells, its pixels."""

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
from PIL import Image

from attnviz.live.scene_figure import SceneFigure

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ["The", "<b>", "cat & dog", "猫", " ", "it", "it", "was", "$x$", "end"]


def causal(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Weights of a causal head and what is hidden."""
    rng = np.random.default_rng(seed)
    hidden = np.triu(np.ones((n, n), bool), 1)
    scores = np.where(hidden, -np.inf, rng.normal(0, 2, (n, n)))
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return (weights / weights.sum(1, keepdims=True)).astype(np.float32), hidden


def tree(figure: SceneFigure, **more: object) -> ElementTree.Element:
    return ElementTree.fromstring(figure.to_svg(**more))


def texts(root: ElementTree.Element) -> list[str]:
    """Every text in it; one with a sign that is drawn as lines is named by what is around it."""
    named = [node.get("aria-label", "") for node in root.iter(f"{SVG}g")]
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")] + [name for name in named if name]


def pixels_in(root: ElementTree.Element, number: int = 0) -> np.ndarray:
    """The pixels (rows, columns, RGBA) of the picture in it, or of the one of this number."""
    address = list(root.iter(f"{SVG}image"))[number].get("href", "")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))).convert("RGBA")).astype(int)


def interpolated(stops: list[tuple[float, str]], places: np.ndarray) -> np.ndarray:
    """The colours of a scale by NumPy's own interpolation: (..., 3)."""
    at = [place for place, _colour in stops]
    parts = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for _place, colour in stops])
    return np.stack([np.interp(places, at, channel) for channel in parts.T], -1)


def painted(root: ElementTree.Element, shape: tuple[int, int], number: int = 0) -> np.ndarray:
    """The colours (rows, columns, 3) of cells drawn as paths, -1 where none is; of the matrix of this number."""
    found = np.full((*shape, 3), -1)
    cells = [g for g in root.iter(f"{SVG}g") if g.get("shape-rendering") == "crispEdges"][number]
    for path in cells:
        colour = [int(path.get("fill", "")[i : i + 2], 16) for i in (1, 3, 5)]
        for col, row, length in re.findall(r"M(\d+) (\d+)h(\d+)v1", path.get("d", "")):
            found[int(row), int(col) : int(col) + int(length)] = colour
    return found
