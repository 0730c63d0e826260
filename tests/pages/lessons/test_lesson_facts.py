"""Numbers that lessons say, against what another hand computes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from attnviz.models.architecture import Architecture
from attnviz.models.capture import capture
from attnviz.pages.lessons.maths import heads_facts, order_facts
from tests.models.tiny import llama, tokens

ANY: Any = None  #: a subject that the facts do not look at


def test_what_alibi_takes_off_is_positive_and_the_published_slope_times_the_distance() -> None:
    found = order_facts.taken_off(ANY)
    slope = 2 ** (-8 / 4)  # of the first of four heads, as in the paper
    for place in ("near", "far"):
        assert found.values[place] == pytest.approx(slope * found.values[f"{place}_at"])
        assert found.values[place] > 0
    assert found.right == "far"


def test_heads_that_share_keys_are_said_to() -> None:
    subject: Any = SimpleNamespace(stack=SimpleNamespace(layers=capture(llama(), input_ids=tokens()).layers))
    assert heads_facts.all_heads(subject).values == {"layers": 2, "heads": 6, "all": 12, "kv_heads": 2}
    small = Architecture.preset("smollm2-135m").layers[0]
    assert small.n_kv_heads < small.n_heads, "so the lesson may not say that each head has a W_K of its own"
