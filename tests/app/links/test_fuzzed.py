"""Hundreds of links, uploads and sentences that nobody thought of: each is read, or refused in a sentence.

`test_hostile_links.py` holds what was thought of. Here hypothesis draws; what it found is kept there, or as an example
here.
"""

import io
import json
import random
from typing import Any

import numpy as np
import pytest
import streamlit
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from PIL import Image

from attnviz.analysis import head_matrix
from attnviz.analysis.head_matrix import DisplayOptions
from attnviz.analysis.model_run import Request, run_model
from attnviz.app.links import link_state
from attnviz.app.links.choices import page_choices, page_parameters
from attnviz.app.text import translate_markdown
from attnviz.app.workarounds.streamlit_adapter import SESSION
from attnviz.base.message import Problem
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load
from attnviz.models.pictures import read_photo
from attnviz.pages.lessons.panels import own_lesson
from attnviz.pages.pictures.panels import picture_input
from tests.app.links.test_hostile_links import PAGES, TEXTS, packed, packed_fits
from tests.models.tiny_tokenizers import gpt2_folder
from tests.pages.lessons.test_own_lesson import GOOD

pytestmark = pytest.mark.slow

#: the same ones each time, so that what fails fails for everybody
MANY = settings(
    max_examples=400, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck), database=None
)
FEW = settings(MANY, max_examples=200)

NUMBERS = st.integers() | st.floats() | st.just(10**5000)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def _examples(page: str) -> list[str]:
    """What the page's own choices take, as links write it."""
    return [str(each.write(each.example)) for each in page_choices(page) if not each.inside]


@st.composite
def links(draw: Any) -> tuple[str, dict[str, str]]:
    """A page, and for some of its parameters a text: of its own choices, packed data, or anything."""
    page = draw(st.sampled_from(PAGES))
    said = st.sampled_from([*_examples(page), *(text for text in TEXTS if text != "\ud800")])
    numbers = NUMBERS.map(lambda number: f"{number:.0f}"[:5000] if isinstance(number, float) else _digits(number))
    packs = JSON.filter(packed_fits).map(packed)
    values = said | numbers | packs | st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
    return page, draw(st.dictionaries(st.sampled_from(page_parameters(page)), values, max_size=12))


def _digits(number: int) -> str:
    return "1" + "0" * 5000 if number > 10**4000 else str(number)


def _follow(page: str, said: dict[str, Any]) -> None:
    """Everything that a page does with its link before it draws."""
    session: dict[str, Any] = {SESSION: {"_page_on_show": page}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamlit, "session_state", session)
        link_state._read(page, said)
        for choice in page_choices(page):
            link_state.value(choice)
            refused = link_state.refusal(choice)
            assert refused is None or translate_markdown(refused)
        written = link_state.link_parameters(page)
        json.loads(link_state.save())
        kept = {choice.name: link_state.value(choice) for choice in page_choices(page)}
        session.clear()
        session[SESSION] = {"_page_on_show": page}
        link_state._read(page, written)
        again = {choice.name: link_state.value(choice) for choice in page_choices(page)}
        assert _told(again) == _told(kept) or not _small(said), "a link that was written means what it meant"


def _told(values: dict[str, Any]) -> dict[str, Any]:
    """Without Build's step, which a link that names none takes from what else it says (tests/pages/build).

    And without the presentation: a link may ask for it, and what is copied never says it.
    """
    return {name: value for name, value in values.items() if name not in ("b_step", "present")}


def _small(said: dict[str, str]) -> bool:
    """Whether a link can hold all of it: what is longer is kept in the session, and the page says so."""
    return sum(map(len, said.values())) < 3000


@MANY
@given(links())
def test_a_link_is_read_or_refused_in_sentences(drawn: tuple[str, dict[str, str]]) -> None:
    _follow(*drawn)


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
    _or_a_sentence(own_lesson.read, text)
    _or_a_sentence(own_lesson.read, more)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A tiny model that a visitor could have."""
    return load(gpt2_folder(tmp_path_factory.mktemp("model"), layers=1, heads=2))


@FEW
@given(text=st.text(max_size=60) | st.sampled_from([text for text in TEXTS if len(text) < 3000]), joined=st.booleans())
def test_a_sentence_is_read_or_refused_in_a_sentence(loaded: LoadedModel, text: str, joined: bool) -> None:
    run = _or_a_sentence(run_model, Request(loaded.entry.id, text, version=loaded.version), loaded)
    assume(run is not None)
    look = DisplayOptions(units="words") if joined else DisplayOptions()
    matrix = _or_a_sentence(head_matrix.head_matrix, run.stacks[0], 0, 1, look)
    if matrix is not None:
        assert np.isfinite(matrix.values).all()
        assert all(translate_markdown(note) is not None for note in matrix.notes)
