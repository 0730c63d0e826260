"""The site in Debian's Firefox: a sentence answered and its head drawn, with a server and without."""

import os
from urllib.parse import quote

import numpy as np
import pytest

import attnviz as av
from tests.browser import firefox
from tests.browser.canvas_places import numbers
from tests.browser.site_server import served
from tests.models.conftest import smollm2
from tests.waiting import until

__all__ = ["smollm2"]
SENTENCE = "The capital of Spain is"
SAID = "document.querySelector('.site-status [role=status]')?.textContent"
DRAWN = "document.querySelector('.live-head [data-testid=heatmap]').matrix()"
KEPT = "navigator.serviceWorker.controller !== null"


@pytest.mark.skipif(not firefox.FIREFOX and not os.environ.get("CI"), reason="no Firefox on this machine")
def test_a_sentence_is_answered_and_its_head_drawn_with_a_server_and_without(tmp_path, smollm2):
    trace = av.capture(smollm2, SENTENCE)
    likeliest = float(trace.logits[0].softmax(-1).max())
    (tmp_path / "profile").mkdir()
    with served(tmp_path / "served") as (address, server), firefox.opened(tmp_path / "profile") as tab:
        for served_now in (True, False):
            tab.goto(f"{address}#model=smollm2-135m&text={quote(SENTENCE)}&at=23.4")
            until(lambda: (tab.evaluate(SAID) or "").startswith("Tokens: 5, read in"))
            np.testing.assert_allclose(numbers(tab.evaluate(DRAWN)), trace[23].weights(4)[0, 0].numpy(), atol=1e-5)
            first = "document.querySelector('.site-next li').innerText.split(/\\s+/)"
            assert tab.evaluate(first) == ["Madrid", f"{100 * likeliest:.1f}%"]
            until(lambda: tab.evaluate(KEPT))
            if served_now:
                server.kill()
                server.wait()
