"""Attention over more and more keys."""

import math

import numpy as np
import pytest

from attnviz.pages.scaling.maths import length
from attnviz.pages.scaling.maths.length import Config
from attnviz.pages.scaling.maths.released_models import FAMILIES


def test_scaled_attention_dilutes_as_normal_scores_predict():
    result = length.run(Config(alternative="sqrt", d_k=256))
    assert (result.n_keys[0], result.n_keys[-1]) == (1, 4096)
    assert result.effective[0] == pytest.approx(1)
    assert result.effective[-1] == pytest.approx(4096 / math.sqrt(math.e), rel=0.1)


def test_length_aware_scaling_is_plain_scaling_at_its_own_length_and_sharper_beyond():
    plain = length.run(Config(alternative="sqrt"))
    aware = length.run(Config(alternative="log-n", parameter=512.0))
    at = list(plain.n_keys).index(512)
    assert aware.effective[at] == pytest.approx(plain.effective[at], rel=1e-5)
    assert aware.effective[-1] < plain.effective[-1]
    assert (np.diff(plain.largest) < 0).all()


@pytest.mark.parametrize("d_k", [1, 4096])
def test_extreme_widths_are_finite(d_k):
    result = length.run(Config(d_k=d_k, alternative="raw"))
    assert np.isfinite(result.effective).all()


def test_every_family_names_a_way_that_the_page_can_draw_and_a_source():
    from attnviz.pages.scaling.maths.alternatives import ALTERNATIVES

    for family in FAMILIES:
        assert family.alternative in ALTERNATIVES
        assert family.code_link.startswith("https://")
        assert bool(family.paper) == bool(family.paper_link)


def test_every_setting_of_a_family_stands_in_the_installed_library():
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("transformers")
    assert spec is not None
    assert spec.origin is not None
    for family in FAMILIES:
        file = Path(spec.origin).parent / "models" / family.code_link.split("/models/")[1]
        text = file.read_text(encoding="utf-8")
        for word in family.setting.replace(";", ",").split(", "):
            name = word.split("=")[0].split(":")[0].strip()
            assert name in text, f"{name} is not in {file.name}"
