"""Films: each frame is the still figure of its step, and files hold as many as were asked for."""

import io
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image, ImageSequence

from attnviz.base.message import Problem
from attnviz.base.rasterised import png
from attnviz.live.film_file import film_bytes
from attnviz.live.matrix_figures import MaskFigure
from attnviz.live.scene_figure import MOST_FRAMES, FrameOptions, SceneFigure
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
    return lambda at: tiles.picture(run, at), len(run.tiles)


def training() -> tuple[Still, int]:
    name = next(iter(born.runs()))
    run = life.read(name)
    copies = life.copies_of("the cat saw a bird", run.config)
    return lambda at: born.picture(name, copies, at, (), True), len(run.steps)


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
    assert set(texts(tree(still(0)))) <= set(texts(ElementTree.fromstring(frame)))
    pixels = np.asarray(Image.open(io.BytesIO(png(frame, 1.0))).convert("L"))[130:]  # below the film's name
    rows, columns = ((pixels < 250).any(side).nonzero()[0] for side in (1, 0))
    assert np.ptp(rows) > 0.6 * len(pixels)
    assert np.ptp(columns) > 0.4 * pixels.shape[1]


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_a_file_has_the_frames_of_its_part_and_moves(kind):
    still, stops = decoding()
    seen = []
    for options, size, count in (
        (FrameOptions(), (1280, 720), stops),
        (FrameOptions(width=1080, height=1080, background="dark", start=1 / 3), (1080, 1080), stops - 1),
    ):
        file = Image.open(io.BytesIO(film_bytes(still(0), kind, options)))
        assert (file.size, len(list(ImageSequence.Iterator(file)))) == (size, count)
        ends = []
        for at in (0, count - 1):
            file.seek(at)
            ends.append(np.asarray(file.convert("RGB"), int))
            assert file.info["duration"] >= 400
        assert (np.abs(ends[0] - ends[1]).max(-1) > 30).mean() > 0.005
        seen.append(ends[0][0, 0])
    assert seen[0].min() > 250 > 40 > seen[1].max(), "paper is white or dark"


def test_a_webp_holds_its_frames_in_every_pixel_and_is_small():
    still, _stops = decoding()
    file = film_bytes(still(0), "webp", FrameOptions())
    frames, _seconds = still(0).frames(FrameOptions())
    seen = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(Image.open(io.BytesIO(file)))]
    for svg, pixels in zip(frames, seen, strict=True):
        assert (np.asarray(Image.open(io.BytesIO(png(svg, 1.0))).convert("RGB")) == pixels).all()
    assert len(file) < 40_000 * len(frames), "each takes 13 kB, and 130 kB in libwebp's fastest way"


def test_a_long_film_leaves_frames_out_but_not_its_ends():
    still, stops = training()
    assert stops > MOST_FRAMES
    frames, _seconds = still(0).frames(FrameOptions())
    assert len(frames) == MOST_FRAMES
    for frame, stop in ((frames[0], 0), (frames[-1], stops - 1)):
        assert set(texts(tree(still(stop)))) <= set(texts(ElementTree.fromstring(frame)))


def test_what_does_not_move_is_refused_as_a_film():
    mask = SceneFigure((MaskFigure(np.ones((2, 2), bool), ["a", "b"], ["a", "b"]),))
    with pytest.raises(Problem, match="does not move"):
        film_bytes(mask, "gif", FrameOptions())
