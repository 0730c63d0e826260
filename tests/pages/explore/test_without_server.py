"""The explorer's link to one without a server carries what is on show, as far as that one has it."""

import re
from urllib.parse import parse_qs, urlsplit

from attnviz.app.links import link_reading

SITE = "https://pages.example/attention/"


def links(page):
    said = [each.value for each in page.caption if "Open without a server" in each.value]
    return [re.search(r"\((.*)\)", each)[1] for each in said]


def test_it_carries_the_sentence_the_head_and_the_change(visit, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_SITE", SITE)
    canvas = {"hide": [1], "quiet": ["13.8"], "pins": {"t": [["q", 3, "Spain"]]}}
    change = {"mask": "window", "window": "2", "scale": "none", "where": "layer", "seen": "difference"}
    page = visit("explore", text="The capital of Spain (or not) is", at="23.4", c=link_reading.pack(canvas), **change)
    (link,) = links(page)
    address, fragment = link.split("#")
    said = {name: value for name, (value,) in parse_qs(fragment, strict_parsing=True).items()}
    assert address == SITE
    assert link_reading.unpack(said.pop("c")) == {"hide": [1], "quiet": ["13.8"]}
    assert said == {"model": "smollm2-135m", "text": "The capital of Spain (or not) is", "at": "23.4", **change}
    assert ")" not in urlsplit(link).fragment, "it would end the link early"
