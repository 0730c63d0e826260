"""Colours that figures and pictures share: nought is quiet, heads can be told apart."""

import numpy as np

from attnviz.figures.theme import HEADS


def test_colours_of_heads_can_be_told_apart_with_any_colour_vision():
    """Distances in OKLab between any two of the eight, as Viénot's simulation has them for two kinds of dichromats."""
    kinds = {
        "all": np.eye(3),
        "protan": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
        "deutan": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
    }
    for name, seen in kinds.items():
        for page in (0, 1):
            points = np.array([oklab(seen @ linear(pair[page])) for pair in HEADS])
            apart = np.linalg.norm(points[:, None] - points[None], axis=-1) + np.eye(8)
            assert apart.min() > 0.09, (name, page, np.unravel_index(apart.argmin(), apart.shape))


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def oklab(rgb: np.ndarray) -> np.ndarray:
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return lab @ np.cbrt(np.maximum(cones @ rgb, 0))
