"""The board of one operation as a file, read back from its SVG."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from attnviz.canvas.tensor_strip import BoardFigure, StripBoard
from attnviz.figures.theme import WEIGHTS
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.build.maths import attention_by_hand, boards
from attnviz.pages.build.maths.inputs import Config
from attnviz.pages.build.panels import numbers
from tests.svg_reading import SVG, interpolated, texts, tree


def board_of(step: str) -> StripBoard:
    view = boards.View(attention_by_hand.run(Config()))
    return numbers.board(boards.boards(view, step)[0], "")


def file_of(board: StripBoard, row: int = 1, col: int = 2) -> SceneFigure:
    return SceneFigure((BoardFigure(board, row, col),))


def frames(root: ElementTree.Element, width: str) -> int:
    return len([path for path in root.iter(f"{SVG}path") if path.get("stroke-width") == width])


@pytest.mark.parametrize("background", ["white", "dark"])
@pytest.mark.parametrize("step", ["embed", "project", "scores", "softmax", "sum", "ffn"])
def test_a_board_writes_every_number_sign_and_term_and_frames_what_one_is_made_of(step, background):
    board = board_of(step)
    root = tree(file_of(board), background=background)
    said = texts(root)
    for sheet in board.sheets:
        cells = [cell for row in sheet.text for cell in row]
        assert all(said.count(cell) >= cells.count(cell) for cell in cells)
        assert sheet.name.partition("_")[0] in said
    assert set(board.signs) <= set(said)
    row, col = 1, min(2, len(board.cells[0]) - 1)
    terms = [token.removeprefix("^")[1:] for token in board.cells[row][col]["t"]]
    rest = iter(said[said.index(f"[{board.sheets[-1].rows[row]}, {board.sheets[-1].cols[col]}]") :])
    assert all(term in rest for term in terms), "in this order"
    areas = board.cells[row][col]["a"]
    assert frames(root, "3") == 1
    assert frames(root, "2") == sum((r1 - r0) * (c1 - c0) for _sheet, r0, r1, c0, c1 in areas)


def test_a_number_has_the_colour_of_its_weight():
    board = board_of("softmax")
    fills = [path.get("fill", "") for path in tree(file_of(board)).iter(f"{SVG}path")]
    colours = [[int(part) for part in re.findall(r"\d+", fill)] for fill in fills if fill.startswith("rgb")]
    shares = np.array(board.sheets[-1].fill, float).ravel()
    assert np.abs(np.array(colours[-len(shares) :]) - interpolated(WEIGHTS, shares)).max() <= 1
