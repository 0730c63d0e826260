"""Draw what a link shows before it is opened: `python -m scripts.preview_picture` (needs SmolLM2 and a font).

A trained head over the sentence that the start page opens with, beside the app's name.
"""

import html

import numpy as np

from attnviz.base.rasterised import png
from attnviz.figures.theme import MASKED, PRIMARY, WEIGHTS
from attnviz.models.loading import load
from attnviz.pages.home import choices, maths
from attnviz.runs import head_matrix
from attnviz.runs.head_matrix import Look, Matrix
from attnviz.runs.model_run import Request, run_model
from attnviz.serve import index_page

WIDTH, HEIGHT = index_page.WIDTH, index_page.HEIGHT
PAGE, WORDS, FAINT = "#FFFFFF", "#1F2328", "#5D6066"
LEFT, TOP, SIDE = 640, 62, 500  #: the square of cells, in pixels


def main() -> None:
    run = run_model(Request(maths.MODEL, choices.EXAMPLE), load(maths.MODEL))
    index_page.PREVIEW.write_bytes(png(drawn(head_matrix.head_matrix(run.stacks[0], *maths.HEAD, Look())), scale=1.0))
    print(f"{index_page.PREVIEW.name}: {index_page.PREVIEW.stat().st_size // 1024} KB")


def drawn(matrix: Matrix) -> str:
    """The whole picture."""
    cell = SIDE / len(matrix.rows)
    parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAGE}"/>', *_name()]
    for row, label in enumerate(matrix.rows):
        y = TOP + row * cell
        parts.append(_text(LEFT - 14, y + 0.68 * cell, label, 22, FAINT, anchor="end"))
        for column in range(len(matrix.cols)):
            hidden = bool(matrix.hidden[row, column])
            fill = MASKED if hidden else _colour(float(matrix.values[row, column]))
            opacity = ' opacity="0.18"' if hidden else ""
            place = f'x="{LEFT + column * cell + 1:.1f}" y="{y + 1:.1f}" width="{cell - 2:.1f}" height="{cell - 2:.1f}"'
            parts.append(f'<rect {place} rx="3" fill="{fill}"{opacity}/>')
    body = "".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}">{body}</svg>'


def _name() -> list[str]:
    return [
        _text(64, 250, "attnviz", 84, PRIMARY[0], weight=700),
        _text(68, 318, "Where does each head look,", 29, WORDS),
        _text(68, 360, "and why is attention", 29, WORDS),
        _text(68, 402, "made as it is?", 29, WORDS),
    ]


def _text(x: float, y: float, words: str, size: int, colour: str, weight: int = 400, anchor: str = "start") -> str:
    style = f'font-family="system-ui, sans-serif" font-size="{size}" font-weight="{weight}" fill="{colour}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {style}>{html.escape(words)}</text>'


def _colour(weight: float) -> str:
    """On the app's scale of weights, between its stops."""
    stops = [stop for stop, _ in WEIGHTS]
    channels = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for _, colour in WEIGHTS])
    mixed = [round(float(np.interp(weight, stops, channels[:, channel]))) for channel in range(3)]
    return "#" + "".join(f"{value:02X}" for value in mixed)


if __name__ == "__main__":
    main()
