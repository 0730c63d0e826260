"""Where the parts of a canvas lie on the screen, what it draws by its own word, and how a hand moves over it."""

import json
from typing import Any

import numpy as np

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


def cell(page: Any, query: int, key: int, n: int, part: str = "heatmap") -> Point:
    """The middle of a cell of the first matrix on the page."""
    return cell_on(page.get_by_test_id(part).first, query, key, n)


def tile(page: Any, number: int) -> Point:
    """The middle of a head's small picture on the screen."""
    return tile_on(page.get_by_test_id("overview"), number)


def tokens(page: Any) -> list[str]:
    """The names of the rows of the large head, [] where none is drawn yet."""
    heads = page.get_by_test_id("heatmap")
    return [name.strip() for name in heads.first.evaluate("stage => stage.tokens()[0]")] if heads.count() else []


def mask_door(page: Any) -> Any:
    """The door of the large head's masks, opened."""
    door = page.get_by_test_id("mask-door").first
    if door.get_attribute("open") is None:
        door.locator("summary").click()
    return door


def name_on(stage: Any, query: int, n: int) -> Point:
    """The middle of the name of one of n rows."""
    return spot_on(stage, -0.02, (query + 0.5) / n)


def pinned(page: Any) -> list[str]:
    """What is pinned in the large head, such as "q8"."""
    return sorted((page.locator("[data-pins]").first.get_attribute("data-pins") or "").split())


def numbers(rows: list[list[float | None]]) -> np.ndarray:
    """What a canvas draws, 0 where masked."""
    return np.array([[0.0 if cell is None else cell for cell in row] for row in rows])


def weights(page: Any) -> np.ndarray:
    """The numbers that the large head draws, 0 where masked."""
    return numbers(page.get_by_test_id("heatmap").first.evaluate("stage => stage.matrix()"))


def shown(page: Any, title: str) -> None:
    """Wait until the head of this title is on show."""
    page.locator(".av-title", has_text=title).first.wait_for()


def drag(page: Any, *points: Point) -> None:
    """With the mouse, from one point over the others."""
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point, steps=4)
    page.mouse.up()


def finger(page: Any, *points: Point) -> None:
    """The same with a finger."""
    touch = page.context.new_cdp_session(page)
    for kind, (x, y) in zip(["touchStart", *["touchMove"] * (len(points) - 1)], points, strict=True):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
