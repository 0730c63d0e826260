"""Films: each frame is the still figure of its step, and files hold as many as were asked for."""

import io
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from PIL import Image

from attnviz.base.head_edit import NO_EDIT, HeadEdit
from attnviz.base.head_record import Arrangement, HeadData, HeadView, Pin, Pins, RowSentence
from attnviz.base.rasterised import render_png
from attnviz.canvas.head.attention_view import head_picture
from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.live.matrix_figures import HeadFilm
from attnviz.live.scene_figure import FrameOptions, SceneFigure
from attnviz.pages.born.maths import life
from attnviz.pages.born.panels import film as born
from attnviz.pages.decoding.maths import token_by_token
from attnviz.pages.decoding.panels import decoder_form
from attnviz.pages.fast.maths import tiles as tile_runs
from attnviz.pages.fast.panels import tiles
from attnviz.pages.scaling.maths import growing_width
from attnviz.pages.scaling.panels import scaling_form
from tests.svg_reading import SVG, texts, tree

Still = Callable[[int], SceneFigure]


def decoding() -> tuple[Still, int]:
    *_partial, run = token_by_token.run(decoder_form.core_decoder(0), token_by_token.Config("hello", 4))

    def still(at: int) -> SceneFigure:
        part = decoder_form.step_figure(run, 1, 2, at)
        return SceneFigure((part,), part.title, part)

    return still, 4


def tiled() -> tuple[Still, int]:
    run = tile_runs.run(tile_runs.Config())
    return lambda at: tiles.tile_figure(run, at), len(run.tiles)


def training() -> tuple[Still, int]:
    name = next(iter(born.available_runs()))
    run = life.read(name)
    copies = life.repeat_words("the cat saw a bird", run.config)
    return lambda at: born.step_figure(name, copies, at, (), True), len(run.steps)


def widths() -> tuple[Still, int]:
    config = growing_width.Config(n_keys=8)
    grid = growing_width.film_grid(8)
    return lambda at: scaling_form.bars_figure(replace(config, d_k=int(grid[at]))), len(grid)


@pytest.mark.parametrize("make", [decoding, tiled, training, widths])
def test_each_frame_is_the_still_figure_of_its_step(make):
    still, stops = make()
    for stop in (0, stops // 2, stops - 1):
        time = stop / (stops - 1)
        (frame,), _seconds = still(0).frames(FrameOptions(start=time, end=time))
        seen, alone = ElementTree.fromstring(frame), tree(still(stop))
        assert set(texts(alone)) <= set(texts(seen))
        for mark in ("path", "rect", "image"):
            drawn, wanted = (Counter(each.get("fill") for each in root.iter(f"{SVG}{mark}")) for root in (seen, alone))
            assert drawn == wanted


@pytest.mark.parametrize("make", [decoding, tiled, training, widths])
def test_a_square_frame_is_filled_with_what_stands_beside_each_other_on_a_wide_one(make):
    still, _stops = make()
    (frame,), _seconds = still(0).frames(FrameOptions(width=1080, height=1080, end=0))
    wanted, drawn = (" ".join(texts(root)).split() for root in (tree(still(0)), ElementTree.fromstring(frame)))
    assert set(wanted) <= set(drawn), "lines may break elsewhere"
    pixels = np.asarray(Image.open(io.BytesIO(render_png(frame, 1.0))).convert("L"))[130:]  # below the film's name
    rows, columns = ((pixels < 250).any(side).nonzero()[0] for side in (1, 0))
    assert np.ptp(rows) > 0.6 * len(pixels)
    assert np.ptp(columns) > 0.4 * pixels.shape[1]


def a_head(n_q: int, n_k: int, **more: Any) -> tuple[HeadData, list[torch.Tensor]]:
    """A causal head, with its q, k and v (1, n, 16)."""
    generator = torch.Generator().manual_seed(4)
    q, k, v = (2 * torch.randn(1, n, 16, generator=generator) for n in (n_q, n_k, n_k))
    keys = [f"key {i}" for i in range(n_k)]
    rows = {"tokens_q": keys[:n_q], "tokens_k": keys} if n_q < n_k else {"tokens_q": keys}
    scores, mask = (q @ k.mT)[0].numpy(), np.tri(n_q, n_k, n_k - n_q, dtype=bool)
    return HeadData(scores, mask, 0.25, 16, q=q[0].numpy(), k=k[0].numpy(), **rows, **more), [q, k, v]


def is_rounded(shown: str, value: float, step: float) -> bool:
    number = float(re.sub("[%<>]", "", shown.replace("−", "-")))
    return abs(number - value) <= (step if shown[0] in "<>" else 0.51 * step)


BIAS = torch.linspace(-1, 1, 49).reshape(7, 7)
#: (queries, keys), the row, what else a head has, what is changed, and the same for core.attend
ROWS: list[tuple[tuple[int, int], int, dict[str, Any], HeadEdit, dict[str, Any]]] = [
    ((5, 5), 2, {}, NO_EDIT, {"mask": masks.causal(5)}),
    ((5, 5), 2, {}, HeadEdit(mask="none", scale="factor", factor=3), {"scale": 0.75}),
    ((1, 1), 0, {}, NO_EDIT, {}),
    ((2, 40), 1, {}, HeadEdit(mask="none", hidden=(7,)), {"mask": torch.arange(40) != 7}),
    (
        (7, 7),
        4,
        {"bias": BIAS.numpy(), "softcap": 5.0, "sink": 1.5},
        NO_EDIT,
        {"mask": masks.causal(7), "bias": BIAS, "softcap": 5.0, "sinks": torch.tensor([1.5])},
    ),
]


@pytest.mark.parametrize("size", [(1280, 720), (1080, 1080)])
@pytest.mark.parametrize("shape, row, more, edit, same", ROWS)
def test_the_film_of_a_row_shows_its_numbers_stage_after_stage(shape, row, more, edit, same, size):
    data, vectors = a_head(*shape, **more)
    film = HeadFilm(data, row, edit, "a head")
    stages = attend(*vectors, **{"scale": 0.25} | same)

    def frame(time: float) -> list[str]:
        options = FrameOptions(width=size[0], height=size[1], start=time, end=time)
        (svg,), _seconds = SceneFigure((film,), film=film).frames(options)
        said = texts(ElementTree.fromstring(svg))
        return said[said.index("query") + 2 :]  # below its title and the query

    keys = data.tokens_k or data.tokens_q
    assert set(frame(0)) == set(keys), "no number before it is computed"
    for time, values, unit, step in (
        (0.39, stages.scores, 1, 0.01),
        (0.59, stages.masked, 1, 0.01),
        (0.79, stages.weights, 100, 0.1),
    ):
        said = frame(time)
        for key, value in zip(keys, values[0, row].tolist(), strict=True):
            shown = said[said.index(key) + 1]
            assert value == -np.inf if shown == "masked" else is_rounded(shown, unit * value, step)
    total, last = float(stages.weights[0, row].sum()), frame(1)
    assert f"Σ {total:.0%}" in last
    parts = [key for key in keys if last.count(key) > 1]  # of the row, and of the mixture
    largest = stages.weights[0, row].argsort(descending=True)[:4].tolist()
    assert parts == [keys[i] for i in sorted(largest) if stages.weights[0, row, i] > 0]
    for key in parts:
        at = len(last) - 1 - last[::-1].index(key)
        assert is_rounded(last[at + 1], 100 * float(stages.weights[0, row, keys.index(key)]), 1)


def test_a_row_that_may_look_nowhere_has_a_film_that_says_so():
    data, _vectors = a_head(3, 3)
    film = HeadFilm(data, 1, HeadEdit(hidden=(0, 1, 2)))
    frames, _seconds = SceneFigure((film,), film=film).frames(FrameOptions(start=0.5))
    for frame in frames:
        assert "“key 1” may look at no key: all its weights are 0." in texts(ElementTree.fromstring(frame))


def test_the_film_of_a_head_is_of_the_row_on_show_under_the_change_that_is_seen():
    data, _vectors = a_head(4, 4)
    sentence = RowSentence(("", "", "", "", ""), 3, ((), ()))
    view, edit = HeadView("a head", sentence=sentence), HeadEdit(mask="none")
    cells = HeadData.of_values(np.zeros((4, 4)), data.tokens_q)

    def film(view: HeadView, pins: Pins | None = None, seen: str = "after") -> Any:
        return head_picture(cells, view, pins, computed=data, edit=replace(edit, seen=seen)).film

    key = (Pin("q", 1), Pin("k", 2))
    assert film(view).row == 3
    assert film(view, Pins(key)).row == 1
    assert film(view, Pins(key, (2, 0))).row == 2
    assert film(replace(view, kind="diff")) is None
    assert film(replace(view, arrangement=Arrangement(norms=True))) is None
    assert head_picture(cells, view).film is None
    assert (film(view).edit, film(view, seen="before").edit) == (edit, NO_EDIT)
