"""Small tensors with readable numbers: all of a computation, small, and one operation of it, large.

A step that is chosen among all brings its tensors out of their small pictures. Pointing at a number of the large result
lights what it was computed from and writes the sum out; arrow keys, mouse and touch alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from attnviz.base.words import _
from attnviz.canvas.shared.component import count, last_sent, mount_component
from attnviz.canvas.shared.packing import fingerprint
from attnviz.figures.theme import K_VERMILION, MASKED, Q_BLUE, TENSORS, V_GREEN, WEIGHTS


@dataclass(frozen=True)
class Thumb:
    """A small picture: `fill` row by row, None where hidden."""

    rows: int
    cols: int
    fill: list[float | None]
    role: str
    roles: tuple[str, ...] = ()


@dataclass(frozen=True)
class MapStep:
    """One step; `boards`: the tensors of each of its operations, by number, the last one is made by it."""

    id: str
    label: str
    shape: str
    boards: Sequence[Sequence[int]]


@dataclass(frozen=True)
class BoardMap:
    """All tensors of a computation, each once, and the steps that make them."""

    steps: Sequence[MapStep]
    tensors: Sequence[Thumb]


@dataclass(frozen=True)
class StripSheet:
    """A matrix as text and colour. `fill` is -1 to 1 (weights: 0 to 1), None where hidden."""

    name: str
    shape: str
    label: str
    role: str
    roles: tuple[str, ...]
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    lines: tuple[int, ...]
    text: list[list[str]]
    fill: list[list[float | None]]


@dataclass(frozen=True)
class StripBoard:
    """One operation. Each cell of the last sheet: `a` areas (sheet, r0, r1, c0, c1), `t` tokens, `e` sign, `v` value.

    A token is one letter and a text: a digit names the sheet that the number is from, "n" a number
    of no sheet, "o" a sign.
    """

    sheets: Sequence[StripSheet]
    signs: tuple[str, ...]
    cells: list[list[dict[str, Any]]]


@dataclass(frozen=True)
class BoardFigure:
    """The board for a file, with one number of its result lit: that at `row` and `col`, or the nearest to it."""

    scene: ClassVar[str] = "board"
    payload: ClassVar[bytes] = b""
    board: StripBoard
    row: int
    col: int
    title: str = ""
    map: BoardMap | None = None  #: all tensors, above it
    place: tuple[int, int] = (0, 0)  #: which step and operation of them this is

    @property
    def header(self) -> dict[str, Any]:
        cells = self.board.cells
        row, col = min(self.row, len(cells) - 1), min(self.col, len(cells[0]) - 1)
        return {
            "sheets": [vars(sheet) for sheet in self.board.sheets],
            "signs": self.board.signs,
            "cell": cells[row][col],
            "at": [row, col],
            "map": self.map,
            "place": self.place,
            "title": self.title,
            "colours": _colours(),
        }


@dataclass(frozen=True)
class Tabs:
    """A choice above the board: name, words, (label, role) of each option, and the one chosen."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    current: int


@dataclass(frozen=True)
class Pick:
    """The number that a visitor chose."""

    part: int
    row: int
    col: int


def board(
    key: str,
    step: str,
    boards: Sequence[StripBoard],
    tabs: Sequence[Tabs],
    pick: Pick,
    on_pick: Callable[[Pick], None],
    on_tab: Callable[[str, int], None],
    editable: Sequence[str] = (),
    largest: float = 0.0,
    on_edit: Callable[[dict[str, Any]], None] = lambda _edit: None,
    map: BoardMap | None = None,
    on_step: Callable[[str, int], None] = lambda _step, _part: None,
) -> None:
    """One step's operations; `on_pick`, `on_tab`, `on_edit` and `on_step` hear of choices before the rerun.

    Numbers of the `editable` matrices are changed by hand, to at most `largest`; `on_edit` receives "name", "row",
    "col" and "value" of one, as the browser sent them. `on_step` receives the chosen step of `map`, and the operation.
    """

    def read_pick(report: dict[str, Any]) -> Pick | None:
        component, row, col = (count(report.get(name)) for name in ("part", "row", "col"))
        if report.get("step") != step or component is None or row is None or col is None:
            return None
        return Pick(component, row, col)

    def handle_tab(name: str) -> None:
        wanted = last_sent(int, key, name)
        if wanted is not None:
            on_tab(name, wanted)

    def handle_edit() -> None:
        on_edit(last_sent(dict, key, "edit") or {})

    def handle_step() -> None:
        sent = last_sent(dict, key, "step") or {}
        if (part := count(sent.get("part"))) is not None and map and sent.get("id") in {one.id for one in map.steps}:
            on_step(sent["id"], part)

    header: dict[str, Any] = {
        "step": step,
        "boards": boards,
        "map": map,
        "tabs": tabs,
        "editable": editable,
        "largest": largest,
        "words": {
            "edit": _("{name}: drag a number sideways, press + and −, or type another"),
            "drag": _("← drag →"),
            "steps": _("Steps from the words to the output"),
            "back": _("Step back"),
            "next": _("Next step"),
        },
        "colours": _colours(),
    }
    header |= {"name": fingerprint(str(header))} | vars(pick)
    listeners: dict[str, Callable[[], None]] = {
        f"on_{t.name}_change": partial(handle_tab, t.name) for t in tabs if t.name != "part"
    }
    listeners |= {"on_edit_change": handle_edit, "on_step_change": handle_step}
    mount_component("tensor_board", key, "pick", header, read_pick, on_pick, b"", **listeners)


def _colours() -> dict[str, Any]:
    return {"roles": TENSORS, "weights": WEIGHTS, "masked": MASKED, "q": Q_BLUE, "k": K_VERMILION, "v": V_GREEN}
