"""Where the parts of a canvas lie on the screen, by what the canvas says of itself in its data attributes."""

import json
from typing import Any

Point = tuple[float, float]


def spot_on(stage: Any, across: float, down: float) -> Point:
    """A point given as shares of the plot (0 to 1), scrolled into view; negative shares lie in the labels."""
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()
    x, y, wide, high = (float(part) for part in stage.get_attribute("data-plot").split(","))
    return box["x"] + x + wide * across, box["y"] + y + high * down


def cell_on(stage: Any, query: int, key: int, n: int) -> Point:
    """The middle of a cell of a matrix of n x n."""
    return spot_on(stage, (key + 0.5) / n, (query + 0.5) / n)


def inside_tile(overview: Any, number: int) -> dict[str, float]:
    """The middle of a head's small picture, from the corner of the overview."""
    wide, high, places = json.loads(overview.get_attribute("data-tiles"))
    left, top = places[number][:2]
    return {"x": left + wide / 2, "y": top + high / 2}


def tile_on(overview: Any, number: int) -> Point:
    """The same on the screen, scrolled into view."""
    overview.scroll_into_view_if_needed()
    place = inside_tile(overview, number)
    overview.evaluate(
        """(overview, y) => {
            const box = overview.parentElement;
            if (y < box.scrollTop + 20 || y > box.scrollTop + box.clientHeight - 20) box.scrollTop = y - 60;
        }""",
        place["y"],
    )
    box = overview.bounding_box()
    return box["x"] + place["x"], box["y"] + place["y"]
