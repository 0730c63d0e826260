"""Links that people have saved still open the view that they opened when they were made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.links.differences import differences
from tests.links.opening import opened, translator
from tests.links.views import TRANSLATOR
from tests.links.what_a_link_shows import what_it_shows
from tests.pages.conftest import with_code

KEPT = sorted((Path(__file__).parents[1] / "links").glob("version_*.json"))
VERSIONS = {file.stem: json.loads(file.read_text("utf-8")) for file in KEPT}
LINKS = [
    pytest.param(version, kept, id=f"{version}: {kept['name']}")
    for version, held in VERSIONS.items()
    for kept in held["links"]
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a tiny encoder-decoder model."""
    return translator(tmp_path_factory.mktemp("attnviz_links"))


def shown(visit: Callable[..., Any], version: str, kept: dict[str, Any], folder: str) -> dict[str, Any]:
    """What a kept link shows with the present code."""
    names = frozenset(VERSIONS[version]["parameters"])
    return what_it_shows(with_code(opened(visit, kept, folder)), names, {folder: TRANSLATOR})


def test_every_page_has_kept_links() -> None:
    pages = {kept["page"] for kept in VERSIONS["version_1"]["links"]}
    assert pages == {"home", "explore", "build", "masks", "scaling", "sharing"}
    later = {kept["page"] for kept in VERSIONS["version_2"]["links"]}
    assert later == {"pictures", "build"}
    assert len(LINKS) >= 68


@pytest.mark.slow
@pytest.mark.parametrize("version, kept", LINKS)
def test_a_link_shows_what_it_showed(
    visit: Callable[..., Any], folder: str, version: str, kept: dict[str, Any]
) -> None:
    found = differences(kept["shows"], shown(visit, version, kept, folder))
    assert not found, f"{kept['page']} {kept['link']}\n" + "\n".join(found)


@pytest.mark.parametrize(
    "name, parameter, text, difference",
    [
        ("home: another sentence, no mask", "sentence", "A dog sat on the mat.", "dog"),
        ("explore: sentence, head, order", "at", "3.2", "layer and head"),
        ("explore: pins", "c", None, "pins"),
        ("build: edited weights", "b_at", None, "was 5"),
        ("masks: paint", "m_paint", None, "allowed in each row"),
        ("scaling: temperature", "s_temperature", "0.6", "parameter"),
        ("sharing: a quantised deployment", "h_hybrid", "true", "h_hybrid"),
        ("pictures: pinned, hidden, silenced, scaled", "pic_view", None, "pins"),
        ("build: without the norm of the picture's keys", "b_norms", "both", "charts"),
    ],
)
def test_a_view_that_is_restored_wrongly_is_noticed(
    visit: Callable[..., Any], folder: str, name: str, parameter: str, text: str | None, difference: str
) -> None:
    version, kept = next(
        (version, each) for version, held in VERSIONS.items() for each in held["links"] if each["name"] == name
    )
    link = {key: value for key, value in kept["link"].items() if key != parameter}
    changed = kept | {"link": link | ({} if text is None else {parameter: text})}
    assert difference in "\n".join(differences(kept["shows"], shown(visit, version, changed, folder)))
