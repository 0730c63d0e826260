"""Links that people have saved still open the view that they opened when they were made."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.links import amplified
from tests.links.differences import differences, printed_alike
from tests.links.opening import opened, translator
from tests.links.printed import numbers
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


def changes(visit: Callable[..., Any], version: str, kept: dict[str, Any], folder: str) -> list[str]:
    """How a kept link differs from what it showed."""
    page = with_code(opened(visit, kept, folder))
    shows = what_it_shows(page, frozenset(VERSIONS[version]["parameters"]), {folder: TRANSLATOR})
    computed = kept["page"] in ("home", "explore", "pictures")
    if "drawn" not in kept:
        return differences(kept["shows"], shows, computed)
    coarse = [amplified.without_digests(facts) for facts in (kept["shows"], shows)]
    return [*differences(*coarse, computed), *amplified.differences(kept["drawn"], amplified.drawn(page))]


def test_every_page_has_kept_links() -> None:
    pages = {kept["page"] for kept in VERSIONS["version_1"]["links"]}
    assert pages == {"home", "explore", "build", "masks", "scaling", "sharing"}
    later = {kept["page"] for kept in VERSIONS["version_2"]["links"]}
    assert later == {"pictures", "build"}
    assert len(LINKS) >= 68


@pytest.mark.slow
@pytest.mark.numbers
@pytest.mark.parametrize("version, kept", LINKS)
def test_a_link_shows_what_it_showed(
    visit: Callable[..., Any], folder: str, version: str, kept: dict[str, Any]
) -> None:
    found = changes(visit, version, kept, folder)
    assert not found, f"{kept['page']} {kept['link']}\n" + "\n".join(found)


@pytest.mark.parametrize(
    "name, changed, difference",
    [
        ("home: another sentence, no mask", {"sentence": "A dog sat on the mat."}, "dog"),
        ("explore: sentence, head, order", {"at": "3.2"}, "layer and head"),
        ("explore: pins", {"c": None}, "pins"),
        ("explore: everything on the canvas", {"scale": "factor", "factor": "1.01"}, "values cells"),
        ("explore: a window and a factor", {"factor": "0.3535"}, "values cells"),
        ("explore: a window and a factor", {"window": "4"}, "values finite"),
        ("explore: no mask, no scale, all layers", {"scale": "factor", "factor": "8.08"}, "drawn 2, cell"),
        ("explore: no mask, no scale, all layers", {"where": "layer"}, "drawn: "),
        ("build: edited weights", {"b_at": None}, "was 5"),
        ("masks: paint", {"m_paint": None}, "allowed in each row"),
        ("scaling: temperature", {"s_temperature": "0.6"}, "parameter"),
        ("sharing: a quantised deployment", {"h_hybrid": "true"}, "h_hybrid"),
        ("pictures: pinned, hidden, silenced, scaled", {"pic_view": None}, "pins"),
        ("build: without the norm of the picture's keys", {"b_norms": "both"}, "charts"),
    ],
)
def test_a_view_that_is_restored_wrongly_is_noticed(
    visit: Callable[..., Any], folder: str, name: str, changed: dict[str, str | None], difference: str
) -> None:
    version, kept = next(
        (version, each) for version, held in VERSIONS.items() for each in held["links"] if each["name"] == name
    )
    link = {key: text for key, text in (kept["link"] | changed).items() if text is not None}
    assert difference in "\n".join(changes(visit, version, kept | {"link": link}, folder))


@pytest.mark.parametrize(
    "kept, text, same",
    [
        (10.7991, "10.80", True),
        (10.7991, "10.79", False),
        (1.3499, "1.363", False),  # a scale that is off by 1%
        (0.75, "0.76", True),
        (0.75, "0.77", False),
        (75.0, "76%", True),
        (75.0, "77%", False),
        (7.0, "8", False),
    ],
)
def test_the_last_bits_may_decide_the_last_place_of_a_printed_number_and_no_other(
    kept: float, text: str, same: bool
) -> None:
    [now] = numbers(text)
    assert printed_alike(kept, now) is same
