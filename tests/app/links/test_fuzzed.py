"""Hundreds of uploads and sentences that nobody thought of: each is read, or refused in a sentence."""

import io
import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image

from attnviz.app.text import translate_markdown
from attnviz.base.message import Problem
from attnviz.models.pictures import read_photo
from attnviz.pages.lessons.panels import lesson_file
from attnviz.pages.pictures.panels import picture_input
from tests.pages.lessons.test_own_lesson import GOOD

pytestmark = pytest.mark.slow

#: the same ones each time, so that what fails fails for everybody
MANY = settings(
    max_examples=400, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck), database=None
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def _or_a_sentence(work: Any, *given_: Any) -> Any:
    """What the work gives; a Problem that can be said is an answer, too."""
    try:
        return work(*given_)
    except Problem as problem:
        refused = problem.message
    assert translate_markdown(refused)
    return None


def _pictures() -> list[bytes]:
    """A small picture in each format that is taken."""
    pixels = np.random.default_rng(0).integers(0, 255, (9, 7, 3), dtype=np.uint8)
    made = []
    for kind in ("PNG", "JPEG", "WEBP"):
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, kind)
        made.append(file.getvalue())
    return made


@MANY
@given(st.sampled_from(_pictures()), st.integers(0, 2**32), st.integers(0, 40), st.binary(max_size=40))
def test_a_damaged_picture_is_read_or_refused_in_a_sentence(picture: bytes, seed: int, hits: int, more: bytes) -> None:
    lot, damaged = random.Random(seed), bytearray(picture)
    for _ in range(hits):
        damaged[lot.randrange(len(damaged))] = lot.randrange(256)
    for data in (bytes(damaged), bytes(damaged[: lot.randrange(len(damaged))]) + more, more):
        _or_a_sentence(read_photo, data, "picture.png")


@MANY
@given(st.binary(max_size=60) | JSON.map(lambda held: json.dumps(held).encode()))
@example(b"[" * 100_000)
@example(b'{"format": {}, "view": 1}')
@example(json.dumps({"format": picture_input.FORMAT, "view": 1, "picture": "%%%"}).encode())
def test_a_saved_picture_is_read_or_refused_in_a_sentence(data: bytes) -> None:
    _or_a_sentence(picture_input._read_saved_view, data, "view.json")


@MANY
@given(st.integers(0, 2**32), st.integers(1, 12), st.text(max_size=12))
@example(5, 4, "")  # a number of five thousand digits
def test_a_damaged_lesson_is_read_or_refused_in_a_sentence(seed: int, hits: int, more: str) -> None:
    lot, text = random.Random(seed), GOOD
    for _ in range(hits):
        at = lot.randrange(len(text))
        text = (
            text[:at]
            + lot.choice((more, "", '"', "[", "]", "=", "\n", "9" * 5000, "0x" + "f" * 5000, "[" * 3000, "1e999"))
            + text[at + 1 :]
        )
    _or_a_sentence(lesson_file.read, text)
    _or_a_sentence(lesson_file.read, more)
