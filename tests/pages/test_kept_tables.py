"""Every page computes what it computed when `python -m scripts.keep_tables` was last run."""

from typing import Any

import pytest

from tests.links.tables import LINKS, computed, differing, kept

KEPT = kept()


def test_every_page_and_link_is_kept() -> None:
    assert [(each["page"], each["link"]) for each in KEPT] == [(page, link) for page in LINKS for link in LINKS[page]]
    assert not [each["link"] for each in KEPT if not shows(each) and each["page"] != "glossary"]


def shows(each: dict[str, Any]) -> list[Any]:
    """All that a link shows in numbers."""
    return [*each["figures"], *each["charts"], *each["frames"], *each["canvases"]]


@pytest.mark.slow
@pytest.mark.parametrize("each", KEPT, ids=lambda each: f"{each['page']}?{each['link'][:60]}")
def test_a_page_computes_what_it_computed(each: dict[str, Any]) -> None:
    found = list(differing(each, computed(each["page"], each["link"])))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "page, old, new, place",
    [
        ("home", "start_factor=0.3", "start_factor=0.301", "table value"),
        ("home", "start_window=3", "start_window=4", "table value"),
        ("build", "b_scale=false", "b_scale=true", "table"),
        ("masks", "m_rule1=padding", "m_rule1=causal", "table mask"),
        ("scaling", "s_factor=0.5", "s_factor=0.501", "figures"),
        ("pictures", "pic_factor=2.5", "pic_factor=2.51", "table weight"),
    ],
)
def test_another_scale_or_mask_is_noticed(page: str, old: str, new: str, place: str) -> None:
    each = next(each for each in KEPT if each["page"] == page and old in each["link"])
    found = list(differing(each, computed(page, each["link"].replace(old, new)) | {"link": each["link"]}))
    assert place in "\n".join(found)
