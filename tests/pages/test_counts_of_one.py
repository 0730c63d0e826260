"""What a page counts may be one: then the word beside the number is in the singular."""

import re
from html import unescape

import pytest

#: a number 1 before a word in the plural; not the end of a larger number, a range, or "layer 1 heads"
PLURAL = re.compile(
    r"(?<![\d.,×–-])(?<!layer )(?<!head )(?<!of )1 (tokens|keys|heads|layers|sentences|texts|steps|rows)\b"
)
LINKS = {
    "sharing see": ("sharing", {"h_text": "word", "h_kept": "3"}),
    "sharing latent": ("sharing", {"h_view": "latent", "h_context": "1"}),
    "sharing count": ("sharing", {"h_view": "count", "h_context": "1"}),
    "sharing size": ("sharing", {"h_view": "size", "h_context": "1"}),
    "heads": ("heads", {"hd_model": "minilm-l6", "hd_text": "own", "hd_own": "the cat and the cat"}),
    "explore": ("explore", {"text": "word", "open_stages": "1", "open_average": "1", "average": "0.0"}),
    "compare": ("compare", {"c_n": "1", "c_heads": "1"}),
    "decoding": ("decoding", {"d_model": "core", "d_prompt": "a", "d_steps": "1"}),
}


@pytest.mark.parametrize("name", LINKS)
def test_one_of_a_thing_is_in_the_singular(visit, name):
    page, link = LINKS[name]
    at = visit(page, **link)
    assert not at.exception
    shown = [*at.markdown, *at.caption, *at.info, *at.warning, *at.success, *at.error]
    said = [unescape(each.value).replace("**", "") for each in shown] + [box.label for box in at.expander]
    assert said
    assert not [each for each in said if PLURAL.search(each)]
