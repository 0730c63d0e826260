"""The sharing page in a real Chromium: choices reach the picture and the link, and the link restores them."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import opens

Open = Callable[..., Any]


open_sharing = opens("sharing", "h1")


@pytest.mark.every_commit
def test_sharing_more_heads_changes_the_picture_and_the_link(open_sharing: Open) -> None:
    page = open_sharing("?h_lm=minilm-l6")
    page.get_by_text("12 query heads on 6 K/V heads").wait_for()
    page.get_by_role("radio", name="MQA 1", exact=True).click()
    page.get_by_text("12 query heads on 1 K/V head;").wait_for()
    page.wait_for_url("**h_kept=1*")
    page.reload()
    page.get_by_text("12 query heads on 1 K/V head;").wait_for(timeout=120_000)


def test_a_model_is_proved_by_a_button(open_sharing: Open) -> None:
    page = open_sharing("?h_view=prove&h_model=smollm2-135m&h_tokens=64")
    page.get_by_role("button", name="Build it without memory").click()
    page.get_by_text("agree to the last parameter and byte").wait_for(timeout=120_000)
