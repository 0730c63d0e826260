import numpy as np

from attnviz.pages.heads.figures import LETTER, LINE, POINT, SMALLEST_PLOT, against


def test_no_name_lies_over_a_point_or_another_name_however_narrow_the_plane():
    rng = np.random.default_rng(0)
    x, y = rng.exponential(0.1, 200), rng.exponential(0.1, 200)
    places = [(n // 9, n % 9) for n in range(200)]
    named = [int(n) for n in np.argsort(-y)[:12]]
    shown = against(x, y, places, title="a", x_title="x", y_title="y", named=named).layout.annotations
    shown = [each for each in shown if each.text]
    assert 3 <= len(shown) <= 12
    scale = SMALLEST_PLOT / (np.ptp(x), np.ptp(y))
    points = np.stack([x, y], 1) * scale
    middles = [np.array([each.x, each.y]) * scale + (each.xshift, each.yshift) for each in shown]
    for each, middle in zip(shown, middles, strict=True):
        half = np.array([LETTER * len(each.text), LINE]) / 2
        assert not (np.abs(points - middle) < half + POINT).all(1).any(), f"{each.text} lies over a point"
    gaps = [np.abs(a - b) for n, a in enumerate(middles) for b in middles[:n]]
    assert not any((gap < (3 * LETTER, LINE)).all() for gap in gaps)
